//! The stored form of search texts: records are redacted before they are stored, so a path or word to look for is redacted
//! too.

use grov_redact::Redactor;
use std::borrow::Cow;

/// The text as it would have been stored.
pub(crate) fn as_stored(text: &str) -> Cow<'_, str> {
    Redactor::shared().cleaned(text)
}

/// Each text of a list as it would have been stored.
pub(crate) fn as_stored_each(texts: &[String]) -> Vec<Cow<'_, str>> {
    texts.iter().map(|text| as_stored(text)).collect()
}
