//! JSON of a model: what is valid stays, and what is not becomes valid.

use grov_route::translate::repair;
use serde::de::IgnoredAny;

/// Checks one text.
pub(crate) fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let repaired = repair(&text);
    let is_json = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
    assert!(is_json(&repaired));
    assert!(!is_json(text.trim()) || repaired == text.trim());
}
