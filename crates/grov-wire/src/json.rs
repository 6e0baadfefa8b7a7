//! A JSON scanner that finds where things are and builds nothing.
//!
//! [`validate`] checks a whole document; the scanner behind it walks one with the caller deciding what to enter
//! and what to skip. Both accept exactly the grammar of RFC 8259 and never recurse, so nesting is bounded by the
//! document's length alone.

mod block;
mod scan;
mod text;

pub(crate) use scan::{Kind, Scanner};
pub(crate) use text::{decode, raw, unescaped};

use thiserror::Error;

/// A half-open range of bytes in a document of less than 4 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    /// The same range for slicing.
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The same range where every offset is another.
    pub(crate) fn moved(self, offset: impl Fn(u32) -> u32) -> Self {
        Self {
            start: offset(self.start),
            end: offset(self.end),
        }
    }
}

/// Where and why a document is no JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("invalid JSON at byte {offset}: {problem}")]
pub struct JsonError {
    /// Offset of the byte that does not fit; the document's length where it ends too early.
    pub offset: usize,
    /// What is wrong there.
    pub problem: JsonProblem,
}

/// What is wrong with a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum JsonProblem {
    /// A value must stand here.
    #[error("expected a value")]
    ExpectedValue,
    /// An object's key must stand here.
    #[error("expected a key in double quotes")]
    ExpectedKey,
    /// The colon after a key is missing.
    #[error("expected ':' after the key")]
    ExpectedColon,
    /// After an element, the list must go on or end.
    #[error("expected ',' or the end of the object or array")]
    ExpectedCommaOrEnd,
    /// A string does not end.
    #[error("the string does not end")]
    UnterminatedString,
    /// A character below U+0020 stands in a string without an escape.
    #[error("control character in a string; it must be escaped")]
    ControlCharacter,
    /// A backslash is followed by something that is no escape.
    #[error("unknown or incomplete escape in a string")]
    BadEscape,
    /// A number has no digits where it must, or a leading zero.
    #[error("malformed number")]
    BadNumber,
    /// After the document, only white space may follow.
    #[error("something follows the end of the document")]
    TrailingCharacters,
    /// The document is not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// The document is longer than offsets can count.
    #[error("longer than 4 GiB")]
    TooLong,
}

/// Checks that `document` is one JSON value in UTF-8 with nothing but white space around it.
///
/// # Errors
/// The first fault, with its byte offset. Faults of encoding are found before faults of grammar.
pub fn validate(document: &[u8]) -> Result<(), JsonError> {
    check_utf8(document, 0)?;
    let mut scanner = Scanner::new(document)?;
    scanner.skip_value()?;
    scanner.finish()
}

/// Checks the encoding of a document, the beginning of which is known to be sound: so many bytes, and whole characters.
pub(crate) fn check_utf8(document: &[u8], sound: usize) -> Result<(), JsonError> {
    let rest = document.get(sound..).unwrap_or_default();
    // The standard library's check would cost more than the whole scan, but tells where the fault is.
    if simdutf8::basic::from_utf8(rest).is_ok() {
        return Ok(());
    }
    let offset = std::str::from_utf8(rest).map_or_else(|error| error.valid_up_to(), str::len);
    Err(JsonError {
        offset: sound + offset,
        problem: JsonProblem::NotUtf8,
    })
}
