//! The stored form of search texts: records are redacted before they are stored, so paths and words in a query are
//! redacted too.

use grov_redact::Redactor;
use std::borrow::Cow;

/// Returns the text as it would be stored.
pub(crate) fn as_stored(text: &str) -> Cow<'_, str> {
    Redactor::shared().cleaned(text)
}

/// Returns each text as it would be stored.
pub(crate) fn as_stored_each(texts: &[String]) -> Vec<Cow<'_, str>> {
    texts.iter().map(|text| as_stored(text)).collect()
}
