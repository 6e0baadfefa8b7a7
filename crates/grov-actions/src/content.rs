//! The text that a tool call writes.

use crate::ToolCall;
use grov_domain::{ClientDialect, beginning_of};
use serde_json::Value;

/// The maximum length of the returned text in characters.
const MAX_CONTENT: usize = 4000;

/// The beginning of the text that a call writes into files: the new text of an edit or the content of a file. `None`
/// for calls that do not write by themselves. At most 4,000 characters.
pub fn content(call: &ToolCall<'_>) -> Option<String> {
    if !ClientDialect::CLAUDE_CODE.action_type(call.name).modifies_files() {
        return None;
    }
    let input = call.input.value();
    let input = input.as_ref();
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(bounded);
    let whole = ["new_string", "content", "new_source", "file_text"]
        .into_iter()
        .find_map(|key| text(input, key));
    whole.or_else(|| {
        let edits = input.get("edits")?.as_array()?;
        let texts: Vec<String> = edits.iter().filter_map(|edit| text(edit, "new_string")).collect();
        (!texts.is_empty()).then(|| bounded(&texts.join("\n")))
    })
}

fn bounded(text: &str) -> String {
    beginning_of(text, MAX_CONTENT).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, input: &str) -> Option<String> {
        content(&ToolCall {
            name,
            id: None,
            input: input.into(),
            working_directory: None,
        })
    }

    #[test]
    fn content_is_found_in_every_tool() {
        assert_eq!(
            of("Edit", r#"{"old_string":"a","new_string":"b"}"#).as_deref(),
            Some("b")
        );
        assert_eq!(of("Write", r#"{"content":"all"}"#).as_deref(), Some("all"));
        assert_eq!(
            of("NotebookEdit", r#"{"new_source":"x = 1"}"#).as_deref(),
            Some("x = 1")
        );
        assert_eq!(
            of(
                "MultiEdit",
                r#"{"edits":[{"new_string":"a"},{"new_string":"b"}]}"#
            )
            .as_deref(),
            Some("a\nb")
        );
        assert_eq!(of("Read", r#"{"content":"no"}"#), None);
        assert_eq!(of("Edit", "{}"), None);
        assert_eq!(of("Edit", "{\"new_string\":\"cut of").as_deref(), Some("cut of"));
    }

    #[test]
    fn long_content_is_truncated() {
        let long = format!(r#"{{"content":"{}"}}"#, "é ".repeat(10_000));
        assert_eq!(of("Write", &long).map(|text| text.chars().count()), Some(3999));
    }

    #[test]
    fn a_secret_at_the_cut_is_removed() {
        let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
        for before in MAX_CONTENT - token.len()..=MAX_CONTENT {
            let text = format!("{}\\nTOKEN={token} and more", "x".repeat(before));
            let found = of("Write", &format!(r#"{{"content":"{text}"}}"#)).unwrap();
            assert!(found.contains(token) || !found.contains("ghp"), "{before}");
        }
    }
}
