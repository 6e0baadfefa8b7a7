//! Ingestion: from an uploaded file to the chunks of a document.

mod chunks;
mod code;
mod decode;
mod format;
mod guard;
mod html;
mod markdown;
mod outline;
mod pdf;
mod text;

use crate::{
    AgentStore, AgentStoreError, Category, NewChunk, NewDocument, ProjectId, ReplayOf, StoredDocument,
};
use format::Format;
use grov_domain::Clock;
use grov_redact::{Redacted, Redactor};
use outline::Outline;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;
use time::OffsetDateTime;

pub use format::is_document_name;

/// Maximum bytes of an uploaded file, and of the text in it.
pub const MAX_DOCUMENT_BYTES: usize = 20 * 1024 * 1024;

/// Maximum bytes of a title.
pub const MAX_TITLE_BYTES: usize = 300;

/// An uploaded file. Raw: ingestion redacts before it derives anything.
#[derive(Clone, Debug)]
pub struct Upload {
    /// The project.
    pub project: ProjectId,
    /// The title; the file's name if the caller gave none.
    pub title: String,
    /// The category.
    pub category: Category,
    /// The media type that the caller named.
    pub content_type: Option<String>,
    /// The name of the file, which may tell its type. Never a path.
    pub file_name: Option<String>,
    /// The content.
    pub bytes: Vec<u8>,
}

/// A document that is ready to be stored.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The document with its chunks.
    pub document: NewDocument,
    /// What has to be kept as the document's file: free of secrets. Its SHA-256 is that of the document.
    pub content: Vec<u8>,
}

/// A stored upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ingested {
    /// The document.
    pub stored: StoredDocument,
    /// What has to be kept as the document's file: free of secrets. Its SHA-256 is that of the document.
    pub content: Vec<u8>,
}

/// Why an upload was not stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestFailed {
    /// The type is not supported.
    #[error("documents of the type {0} are not supported; give Markdown, text, HTML, source code or PDF")]
    Unsupported(String),
    /// The content is too large, or becomes too large when it is unpacked.
    #[error("{0}")]
    TooLarge(String),
    /// The content does not hold.
    #[error("{0}")]
    Invalid(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] AgentStoreError),
}

/// Stores uploads as documents.
#[derive(Clone)]
pub struct Ingestor {
    store: Arc<dyn AgentStore>,
    clock: Arc<dyn Clock>,
}

impl Ingestor {
    /// Creates an ingestor.
    pub fn new(store: Arc<dyn AgentStore>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

    /// Extracts the text, redacts it, divides it into chunks, and stores it as a document or its new version.
    ///
    /// It computes for up to some seconds with a large file. A server calls [`prepare`] where blocking is allowed, and then
    /// [`Ingestor::store`].
    ///
    /// # Errors
    ///
    /// Returns why nothing was stored.
    pub async fn ingest(&self, upload: Upload) -> Result<Ingested, IngestFailed> {
        let prepared = prepare(&upload, self.clock.now())?;
        drop(upload);
        Ok(self.store(prepared).await?)
    }

    /// Stores a prepared document.
    ///
    /// # Errors
    ///
    /// Returns the error of the store. Nothing was stored then.
    pub async fn store(&self, prepared: Prepared) -> Result<Ingested, AgentStoreError> {
        self.store_once(prepared, &|_| None).await
    }

    /// Stores a prepared document, and with it the answer to a request with an `Idempotency-Key`.
    ///
    /// # Errors
    ///
    /// Returns the error of the store. Nothing was stored then.
    pub async fn store_once(
        &self,
        prepared: Prepared,
        replay: ReplayOf<'_, StoredDocument>,
    ) -> Result<Ingested, AgentStoreError> {
        let stored = self.store.store_document_once(&prepared.document, replay).await?;
        Ok(Ingested {
            stored,
            content: prepared.content,
        })
    }
}

/// Reads the text of a PDF: [`pdf_text`], or the same elsewhere.
pub type ReadPdf = dyn Fn(&[u8]) -> Result<String, IngestFailed> + Send + Sync;

/// The text of a PDF. What its streams unpack to is bounded before; its time and memory are not, so that a server reads it in a
/// process of its own.
///
/// # Errors
///
/// Returns why it has no text that can be read.
pub fn pdf_text(bytes: &[u8]) -> Result<String, IngestFailed> {
    pdf::text(bytes)
}

/// Extracts the text of an upload, redacts it, and divides it into chunks. Takes time linear in the size.
///
/// What is kept of Markdown, text and source code is the redacted text; of HTML its text as Markdown, redacted; of a PDF the
/// file itself if its text has no secret, else its redacted text.
///
/// # Errors
///
/// Returns why the upload cannot be stored; never [`IngestFailed::Store`].
pub fn prepare(upload: &Upload, now: OffsetDateTime) -> Result<Prepared, IngestFailed> {
    prepare_with(upload, now, &pdf_text)
}

/// As [`prepare`], with another reader of PDFs.
///
/// # Errors
///
/// As [`prepare`].
pub fn prepare_with(
    upload: &Upload,
    now: OffsetDateTime,
    read_pdf: &ReadPdf,
) -> Result<Prepared, IngestFailed> {
    check_size(upload.bytes.len(), "the file")?;
    let content_type = upload.content_type.as_deref();
    let format = format::format_of(content_type, upload.file_name.as_deref(), &upload.bytes)?;
    let title = title_of(upload)?;
    let (text, is_unchanged) = text_of(format, &upload.bytes, read_pdf)?;
    check_size(text.len(), "the text of the file")?;
    let keeps_file = format == Format::Pdf && is_unchanged;
    let outline = match format {
        Format::Markdown | Format::Html => markdown::outline(&text),
        Format::Code => code::outline(&text),
        Format::Text | Format::Pdf => text::outline(&text),
    };
    let content_type = match (format, keeps_file, content_type.and_then(format::essence)) {
        (Format::Pdf, false, _) => "text/plain".to_owned(),
        (Format::Code | Format::Text, _, Some(named))
            if named.starts_with("text/") || format == Format::Code =>
        {
            named
        }
        _ => format.media_type().to_owned(),
    };
    let chunks = chunks_of(&text, &outline);
    let bytes = text.len() as u64;
    let content = if keeps_file {
        upload.bytes.clone()
    } else {
        text.into_inner().into_bytes()
    };
    Ok(Prepared {
        document: NewDocument {
            project: upload.project,
            title,
            category: upload.category,
            content_type,
            sha256: sha256(&content),
            bytes,
            chunks,
            now,
        },
        content,
    })
}

/// Extracts and redacts the text. Also returns whether redaction changed nothing.
fn text_of(format: Format, bytes: &[u8], read_pdf: &ReadPdf) -> Result<(Redacted, bool), IngestFailed> {
    let redactor = Redactor::shared();
    let text = match format {
        Format::Pdf => read_pdf(bytes)?.into(),
        Format::Html => {
            // Twice: the Markdown's own marks may hide a secret, and the marks of HTML may.
            let source = decode::decode(bytes)?;
            html::markdown(&redactor.redact(&source))?.into()
        }
        Format::Markdown | Format::Text | Format::Code => decode::decode(bytes)?,
    };
    let whole = redactor.whole(&text);
    let is_unchanged = *whole == *text;
    Ok((whole, is_unchanged))
}

fn chunks_of(text: &Redacted, outline: &Outline) -> Vec<NewChunk> {
    // Titles repeat from chunk to chunk.
    let mut titles: HashMap<usize, Redacted> = HashMap::new();
    chunks::chunks(text, outline)
        .into_iter()
        .map(|piece| {
            let heading_path = piece.path.places().filter_map(|place| {
                let heading = outline.headings.get(place)?;
                let title = titles
                    .entry(place)
                    .or_insert_with(|| Redactor::shared().text(&heading.title));
                (!title.is_empty()).then(|| title.clone())
            });
            NewChunk {
                heading_path: heading_path.collect(),
                text: text.part(piece.range.clone()),
                range: piece.range.start as u64..piece.range.end as u64,
            }
        })
        .collect()
}

/// The title on one line: what the caller gave, else the name of the file.
fn title_of(upload: &Upload) -> Result<Redacted, IngestFailed> {
    let one_line = |text: &str| {
        let visible: String = text
            .chars()
            .map(|character| if character.is_control() { ' ' } else { character })
            .collect();
        visible.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let given = one_line(&upload.title);
    let title = if given.is_empty() {
        one_line(upload.file_name.as_deref().unwrap_or_default())
    } else {
        given
    };
    if title.is_empty() {
        return Err(IngestFailed::Invalid(
            "the document has neither a title nor a file name; give a title".to_owned(),
        ));
    }
    if title.len() > MAX_TITLE_BYTES {
        return Err(IngestFailed::Invalid(format!(
            "the title has {} bytes, more than {MAX_TITLE_BYTES}; shorten it",
            title.len()
        )));
    }
    Ok(Redactor::shared().text(&title))
}

fn check_size(bytes: usize, what: &str) -> Result<(), IngestFailed> {
    if bytes > MAX_DOCUMENT_BYTES {
        return Err(IngestFailed::TooLarge(format!(
            "{what} has {bytes} bytes, more than {MAX_DOCUMENT_BYTES}; divide it into several documents"
        )));
    }
    Ok(())
}

fn sha256(content: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(content) {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

#[cfg(test)]
mod tests;
