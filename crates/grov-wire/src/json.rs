//! Validates JSON (RFC 8259) and finds the spans of its values without building a tree.
//!
//! Nothing here recurses, so any depth of nesting is accepted.

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
    /// Returns the range for slicing.
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the span with `offset` applied to both ends.
    pub(crate) fn moved(self, offset: impl Fn(u32) -> u32) -> Self {
        Self {
            start: offset(self.start),
            end: offset(self.end),
        }
    }
}

/// A syntax error in a JSON document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("invalid JSON at byte {offset}: {problem}")]
pub struct JsonError {
    /// The offset of the first invalid byte, or the document's length if it ends too early.
    pub offset: usize,
    /// The kind of error.
    pub problem: JsonProblem,
}

/// The kind of a [`JsonError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum JsonProblem {
    /// A value is missing.
    #[error("expected a value")]
    ExpectedValue,
    /// A key in double quotes is missing.
    #[error("expected a key in double quotes")]
    ExpectedKey,
    /// The colon after a key is missing.
    #[error("expected ':' after the key")]
    ExpectedColon,
    /// After an element, neither a comma nor the closing bracket follows.
    #[error("expected ',' or the end of the object or array")]
    ExpectedCommaOrEnd,
    /// A string does not end.
    #[error("the string does not end")]
    UnterminatedString,
    /// A string contains an unescaped character below U+0020.
    #[error("control character in a string; it must be escaped")]
    ControlCharacter,
    /// A backslash does not start a valid escape.
    #[error("unknown or incomplete escape in a string")]
    BadEscape,
    /// A number lacks digits or has a leading zero.
    #[error("malformed number")]
    BadNumber,
    /// Something other than white space follows the document.
    #[error("unexpected text after the document")]
    TrailingCharacters,
    /// The document is not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// The document is longer than 4 GiB.
    #[error("longer than 4 GiB")]
    TooLong,
}

/// Checks that `document` is one JSON value in UTF-8, with optional white space around it.
///
/// # Errors
/// Returns the first error with its byte offset. Encoding errors are reported before syntax errors.
///
/// ```
/// use grov_wire::json::{JsonProblem, validate};
///
/// assert!(validate(br#"{"a": [1, null]}"#).is_ok());
/// let error = validate(b"[1,]").unwrap_err();
/// assert_eq!((error.offset, error.problem), (3, JsonProblem::ExpectedValue));
/// ```
pub fn validate(document: &[u8]) -> Result<(), JsonError> {
    check_utf8(document, 0)?;
    let mut scanner = Scanner::new(document)?;
    scanner.skip_value()?;
    scanner.finish()
}

/// Checks that a document is UTF-8. The first `valid` bytes are known to be.
pub(crate) fn check_utf8(document: &[u8], valid: usize) -> Result<(), JsonError> {
    let rest = document.get(valid..).unwrap_or_default();
    // The standard library's check takes longer than the scan, but reports the offset.
    if simdutf8::basic::from_utf8(rest).is_ok() {
        return Ok(());
    }
    let offset = std::str::from_utf8(rest).map_or_else(|error| error.valid_up_to(), str::len);
    Err(JsonError {
        offset: valid + offset,
        problem: JsonProblem::NotUtf8,
    })
}
