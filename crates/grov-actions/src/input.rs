//! Parses the arguments of a tool call, which may be truncated.

use serde_json::Value;

/// Parses a JSON text. Open strings, lists and objects of a truncated text are closed, and a key without a value is
/// dropped. Returns `Null` if the text cannot be parsed.
pub(crate) fn parse(text: &str) -> Value {
    if let Ok(value) = serde_json::from_str(text) {
        return value;
    }
    repairs(text)
        .into_iter()
        .find_map(|repaired| serde_json::from_str(&repaired).ok())
        .unwrap_or(Value::Null)
}

/// Possible completions of a truncated text, the longest first.
fn repairs(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let mut closers: Vec<u8> = Vec::new();
    // The end of the last complete value, and the number of brackets open there.
    let mut whole = (0, 0);
    let mut string_start = None;
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if string_start.is_some() {
            match byte {
                b'\\' => at += 1,
                b'"' => string_start = None,
                _ => {}
            }
        } else {
            match byte {
                b'"' => string_start = Some(at),
                b'{' => closers.push(b'}'),
                b'[' => closers.push(b']'),
                b'}' | b']' => {
                    closers.pop();
                }
                _ => {}
            }
            match byte {
                // After an opening bracket nothing is missing. Before a comma a value is complete.
                b'{' | b'[' | b'}' | b']' => whole = (at + 1, closers.len()),
                b',' => whole = (at, closers.len()),
                _ => {}
            }
        }
        at += 1;
    }
    let close = |start: String, open: usize| {
        let mut text = start;
        text.extend(closers.iter().take(open).rev().map(|closer| char::from(*closer)));
        text
    };
    let mut repairs = Vec::new();
    if string_start.is_some() {
        // The text may end within an escape: `\`, `\u12`.
        let escape = text.rfind('\\').filter(|at| text.len() - at < 6);
        let uncut = escape.map_or(text, |at| &text[..at]);
        repairs.push(close(format!("{text}\""), closers.len()));
        repairs.push(close(format!("{uncut}\""), closers.len()));
    } else {
        repairs.push(close(text.to_owned(), closers.len()));
    }
    repairs.push(close(text[..whole.0].to_owned(), whole.1));
    repairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn truncated_json_is_parsed_up_to_the_cut() {
        let cases = [
            (r#"{"a": 1}"#, json!({"a": 1})),
            (
                r#"{"file_path": "/a/b.rs", "old_str"#,
                json!({"file_path": "/a/b.rs"}),
            ),
            (
                r#"{"file_path": "/a/b.rs", "old_string": "x"#,
                json!({"file_path": "/a/b.rs", "old_string": "x"}),
            ),
            (
                r#"{"command": "rm -r x && ec"#,
                json!({"command": "rm -r x && ec"}),
            ),
            (r#"{"command": "a\"#, json!({"command": "a"})),
            (r#"{"command": "a\u00"#, json!({"command": "a"})),
            (r#"{"a": [1, {"b": "c"#, json!({"a": [1, {"b": "c"}]})),
            (r#"{"a": "x", "b": tr"#, json!({"a": "x"})),
            (r#"{"a": "x", "b":"#, json!({"a": "x"})),
            (r#"{"a""#, json!({})),
            ("{", json!({})),
            ("", Value::Null),
            ("nonsense", Value::Null),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_truncated_text_yields_part_of_the_value(path in "[a-z/\\\\\"ü\n]{0,20}", cut in 0_usize..80) {
            let whole = json!({"list": [{"n": 1}], "path": path, "last": true});
            let text = whole.to_string();
            let cut = text.floor_char_boundary(cut);
            let value = parse(&text[..cut]);
            if let Some(found) = value.get("path").and_then(Value::as_str) {
                prop_assert!(path.starts_with(found), "{found:?} of {path:?}");
            }
            prop_assert!(value.is_object() || cut == 0);
        }
    }
}
