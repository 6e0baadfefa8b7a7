//! What a tool call is about, in one text, without parsing what it does.

use serde_json::value::RawValue;
use std::collections::HashMap;

/// Fields of a tool's input that name its subject, the most specific first.
const FIELDS: &[&str] = &[
    "file_path",
    "notebook_path",
    "path",
    "command",
    "pattern",
    "url",
    "query",
    "description",
    "subject",
];
/// Maximum bytes of a subject.
const MAX_BYTES: usize = 2 * 1024;

/// Returns the file, command or query of a call's input, which is JSON; empty if it has none. Not redacted.
pub fn call_subject(input: &str) -> String {
    let Ok(fields) = serde_json::from_str::<HashMap<String, &RawValue>>(input) else {
        return String::new();
    };
    let text = |name: &&str| {
        let text: String = serde_json::from_str(fields.get(*name)?.get()).ok()?;
        (!text.is_empty()).then_some(text)
    };
    let mut subject = FIELDS.iter().find_map(text).unwrap_or_default();
    subject.truncate(subject.floor_char_boundary(MAX_BYTES));
    subject
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_field_is_the_subject() {
        assert_eq!(
            call_subject(r#"{"description":"test","command":"cargo test"}"#),
            "cargo test"
        );
        assert_eq!(
            call_subject(r#"{"path":"src","file_path":"src/a.rs"}"#),
            "src/a.rs"
        );
        assert_eq!(call_subject(r#"{"file_path":7,"pattern":"x"}"#), "x");
        for other in ["", "[]", "{}", "{\"command\":", "null"] {
            assert_eq!(call_subject(other), "");
        }
        assert_eq!(
            call_subject(&format!(r#"{{"command":"{}"}}"#, "ü".repeat(3000))).len(),
            MAX_BYTES
        );
    }
}
