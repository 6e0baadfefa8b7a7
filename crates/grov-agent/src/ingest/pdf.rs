//! The text of a PDF.
//!
//! A PDF is a program for a reader that trusts it, so it is checked first: what its streams unpack to ([`streams`]), then how
//! its pages refer to each other ([`pages`]). Text is extracted on a thread with a large stack, and a panic is an error.

mod pages;
mod picture;
mod streams;

use super::guard::guarded;
use super::{IngestFailed, MAX_DOCUMENT_BYTES};
use pdf_extract::{Document, PlainTextOutput, output_doc_page};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Returns the text of a PDF, pages divided by an empty line.
///
/// # Errors
///
/// Returns [`IngestFailed::TooLarge`] for what becomes too large when it is unpacked, and [`IngestFailed::Invalid`] for
/// encrypted and damaged files and for pages that are pictures.
pub(super) fn text(bytes: &[u8]) -> Result<String, IngestFailed> {
    let text = guarded("PDF", || {
        streams::check(bytes)?;
        let mut document = Document::load_mem(bytes).map_err(|error| {
            invalid(format!(
                "the PDF cannot be read: {error}; save it again and upload that"
            ))
        })?;
        picture::leave_out(&mut document);
        pages::check(&document)?;
        pages::leave_out_nested_forms(&mut document);
        let mut text = String::new();
        for number in document.get_pages().into_keys() {
            let page = page_text(&document, number)?;
            if text.len() + page.len() > MAX_DOCUMENT_BYTES {
                return Err(too_large("its text"));
            }
            if !page.trim().is_empty() {
                text.push_str(page.trim_matches('\n'));
                text.push_str("\n\n");
            }
        }
        Ok(text)
    })?;
    if text.trim().is_empty() {
        return Err(invalid(
            "the PDF has no text layer: its pages are pictures; recognise the text (OCR) first, then upload the result"
                .to_owned(),
        ));
    }
    Ok(text)
}

fn page_text(document: &Document, number: u32) -> Result<String, IngestFailed> {
    let mut bounded = Bounded(Vec::new());
    let extracted = catch_unwind(AssertUnwindSafe(|| {
        let mut writer: &mut dyn Write = &mut bounded;
        output_doc_page(
            document,
            &mut PlainTextOutput::new(&mut writer as &mut dyn Write),
            number,
        )
    }));
    let text = match extracted {
        Ok(Ok(())) => String::from_utf8_lossy(&bounded.0).into_owned(),
        _ if bounded.0.len() >= MAX_DOCUMENT_BYTES => return Err(too_large("its text")),
        // A simpler reader understands some fonts that the better one does not.
        _ => document.extract_text(&[number]).map_err(|error| {
            invalid(format!(
                "the text of page {number} of the PDF cannot be read: {error}; save it again and upload that"
            ))
        })?,
    };
    let is_text = |character: &char| !character.is_control() || matches!(character, '\n' | '\t');
    Ok(text.chars().filter(is_text).collect())
}

/// Keeps what is written, up to [`MAX_DOCUMENT_BYTES`].
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let room = MAX_DOCUMENT_BYTES - self.0.len();
        if room == 0 {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        let taken = &bytes[..bytes.len().min(room)];
        self.0.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn too_large(what: &str) -> IngestFailed {
    IngestFailed::TooLarge(format!(
        "the PDF becomes too large when it is unpacked ({what}); divide it into several documents"
    ))
}

fn invalid(message: String) -> IngestFailed {
    IngestFailed::Invalid(message)
}

#[cfg(test)]
mod tests;
