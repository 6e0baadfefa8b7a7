//! The text of a PDF.

use super::IngestFailed;

/// Returns the text of a PDF.
pub(super) fn text(_bytes: &[u8]) -> Result<String, IngestFailed> {
    Err(IngestFailed::Unsupported("application/pdf".to_owned()))
}
