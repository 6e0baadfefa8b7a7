//! Finds the one JSON object in what a model wrote.

use serde_json::Value;

/// The largest answer of a model, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// Returns the one JSON object of a text: it may stand in a code fence, and prose may stand around it.
///
/// # Errors
///
/// Returns what does not hold, in words for the model.
pub(crate) fn one_object(text: &str) -> Result<Value, String> {
    if text.len() > MAX_BYTES {
        return Err(format!(
            "the answer has {} bytes; at most {MAX_BYTES} are read",
            text.len()
        ));
    }
    let text = without_thoughts(text);
    let mut objects: Vec<Value> = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find('{').map(|offset| at + offset) {
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(object)) => {
                at = start + stream.byte_offset();
                if !objects.is_empty() && !objects.contains(&object) {
                    return Err("the answer has several different JSON objects; give exactly one".to_owned());
                }
                objects = vec![object];
            }
            // A brace in prose.
            _ if !begins_an_object(&text[start..], objects.is_empty()) => at = start + 1,
            Some(Err(error)) if error.is_eof() => {
                return Err("the JSON object is cut off: it has no end".to_owned());
            }
            Some(Err(error)) => return Err(format!("the answer is not valid JSON: {error}")),
            None => break,
        }
    }
    match objects.pop() {
        Some(object) => Ok(object),
        None if text.trim().is_empty() => Err("the answer is empty".to_owned()),
        None => Err("the answer is text and has no JSON object".to_owned()),
    }
}

/// Leaves out the thoughts that some models write down first. The mark in an answer itself is text.
fn without_thoughts(text: &str) -> &str {
    let is_answer = text
        .trim_start_matches(|character: char| character.is_whitespace() || character == '\u{feff}')
        .starts_with(['{', '`']);
    if is_answer {
        return text;
    }
    text.split_once("</think>").map_or(text, |(_, answer)| answer)
}

/// Whether a text that starts with `{` looks like an object and not like a brace in prose. One at the end of the text is the
/// beginning of an object only if there was none before.
fn begins_an_object(text: &str, is_first: bool) -> bool {
    let inside = text[1..].trim_start();
    (inside.is_empty() && is_first) || inside.starts_with(['"', '}'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn one_object_is_found_wherever_it_stands() {
        for text in [
            r#"{"a":1}"#,
            "  {\"a\": 1}\n",
            "```json\n{\"a\": 1}\n```",
            "Sure! Here it is:\n\n{\"a\": 1}\n\nAnything else?",
            "In {braces} and {\"a\": 1} {",
            "{\"a\": 1}\n{\"a\": 1}",
            "<think>maybe {\"a\": 2}</think>{\"a\":1}",
            "\u{feff}{\"a\": 1}",
        ] {
            assert_eq!(one_object(text), Ok(json!({"a": 1})), "{text}");
        }
    }

    #[test]
    fn the_end_of_thoughts_inside_an_answer_is_text() {
        for thoughts in ["", "<think>Hm.</think>", "Hm. {\"b\": 1}</think>\n"] {
            let text = format!("{thoughts}{{\"answer\": \"Write </think> at the end.\"}}");
            assert_eq!(
                one_object(&text),
                Ok(json!({"answer": "Write </think> at the end."})),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_not_one_object_is_named() {
        for (text, problem) in [
            ("", "empty"),
            (" \n", "empty"),
            ("No.", "text"),
            ("{no}", "text"),
            ("[1, 2]", "text"),
            ("{\"a\": 1", "cut off"),
            ("{\"a\": {\"b\": \"c", "cut off"),
            ("{\"a\": 1,}", "not valid JSON"),
            ("{\"a\": 1} {\"a\": 2}", "several different"),
            ("{\"a\": NaN}", "not valid JSON"),
        ] {
            let found = one_object(text).unwrap_err();
            assert!(found.contains(problem), "{text}: {found}");
        }
        assert!(one_object(&"{\"a\":".repeat(10_000)).is_err());
        assert!(one_object(&"{".repeat(500_000)).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[{}\\[\\]\":,a-c\\\\ \\n0-9é]{0,60}") {
            let _ = one_object(&text);
        }
    }
}
