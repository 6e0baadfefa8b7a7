//! Texts that are looked for, as they were stored.
//!
//! What is stored was redacted before it came here. A path or a word that is looked for goes the same way, so that it is
//! found.

use grov_redact::Redactor;
use std::borrow::Cow;

/// The text as it was stored.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    Redactor::shared().cleaned(text)
}

/// The same for each text of a list.
pub(crate) fn list(texts: &[String]) -> Vec<Cow<'_, str>> {
    texts.iter().map(|text| self::text(text)).collect()
}
