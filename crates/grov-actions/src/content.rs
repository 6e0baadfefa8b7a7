//! The text that a tool call writes.

use crate::ToolCall;
use crate::form::{self, Form};
use crate::patch::before_and_after;
use grov_domain::{ActionType, ClientDialect, TextChange, beginning_of};
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
    if let Some(patch) = patch_of(call.name, input) {
        return Some(bounded(&before_and_after(patch).1)).filter(|after| !after.is_empty());
    }
    let whole = NEW_TEXTS.into_iter().find_map(|key| text(input, key));
    whole.or_else(|| {
        let edits = input.get("edits")?.as_array()?;
        let texts: Vec<String> = edits.iter().filter_map(|edit| text(edit, "new_string")).collect();
        (!texts.is_empty()).then(|| bounded(&texts.join("\n")))
    })
}

/// The names of the argument with the text that a call writes.
const NEW_TEXTS: [&str; 5] = ["new_string", "content", "new_source", "file_text", "newString"];

fn patch_of<'i>(tool: &str, input: &'i Value) -> Option<&'i str> {
    (Form::of(tool) == Form::Patch)
        .then(|| form::patch(input))
        .flatten()
}

/// The maximum length of each text of a change in bytes.
const MAX_CHANGE: usize = 64 * 1024;

/// The text that a call replaces and the text that it writes; several edits of a call are joined. `None` for calls that do
/// not write by themselves, and for longer texts.
pub(crate) fn change(tool: &str, action_type: ActionType, input: &Value) -> Option<TextChange> {
    if !action_type.modifies_files() {
        return None;
    }
    let fits = |text: &String| text.len() <= MAX_CHANGE;
    if let Some(patch) = patch_of(tool, input) {
        let (before, after) = before_and_after(patch);
        let before = Some(before).filter(|before| !before.is_empty());
        return (fits(&after) && before.as_ref().is_none_or(fits)).then_some(TextChange { before, after });
    }
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let (before, after) = match input.get("edits").and_then(Value::as_array) {
        Some(edits) => {
            let all = |key: &str| {
                edits
                    .iter()
                    .map(|edit| text(edit, key))
                    .collect::<Option<Vec<_>>>()
            };
            (
                all("old_string").map(|texts| texts.join("\n")),
                all("new_string")?.join("\n"),
            )
        }
        None => {
            let after = NEW_TEXTS.into_iter().find_map(|key| text(input, key))?;
            let before = text(input, "old_string").or_else(|| text(input, "oldString"));
            (before, after)
        }
    };
    (fits(&after) && before.as_ref().is_none_or(fits)).then_some(TextChange { before, after })
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
    fn a_change_has_the_replaced_text_of_every_edit() {
        let of = |tool: &str, input: &str| {
            let action_type = ClientDialect::CLAUDE_CODE.action_type(tool);
            change(tool, action_type, &serde_json::from_str(input).unwrap())
        };
        let change = |before: Option<&str>, after: &str| {
            Some(TextChange {
                before: before.map(str::to_owned),
                after: after.to_owned(),
            })
        };
        assert_eq!(
            of("Edit", r#"{"old_string":"a","new_string":"b"}"#),
            change(Some("a"), "b")
        );
        assert_eq!(
            of("Edit", r#"{"old_string":"a","new_string":""}"#),
            change(Some("a"), "")
        );
        assert_eq!(of("Write", r#"{"content":"all"}"#), change(None, "all"));
        assert_eq!(
            of(
                "MultiEdit",
                r#"{"edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":""}]}"#
            ),
            change(Some("a\nc"), "b\n")
        );
        assert_eq!(of("Read", r#"{"content":"no"}"#), None);
        assert_eq!(of("Edit", "{}"), None);
        let long = format!(
            r#"{{"old_string":"a","new_string":"{}"}}"#,
            "x".repeat(MAX_CHANGE + 1)
        );
        assert_eq!(of("Edit", &long), None);
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
