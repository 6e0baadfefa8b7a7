//! The redactor: redacting a second time changes nothing.

use grov_redact::Redactor;

/// Checks one text.
pub(crate) fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let once = Redactor::shared().redact(&text).into_owned();
    let twice = Redactor::shared().redact(&once);
    assert_eq!(once, twice);
}
