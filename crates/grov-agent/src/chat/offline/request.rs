//! Recognises a message that names a tool and gives its arguments.

use super::{ask, plain};
use crate::Tool;
use crate::chat::draft::{Draft, DraftCall, DraftDecision};
use crate::chat::validate::Offered;
use crate::tool::{ArgumentSchema, is_built_in};
use serde_json::{Map, Number, Value};

/// Words before the name of a tool with which it shall not be called, in lower case.
const DENIALS: &[&str] = &[
    "not", "don't", "don’t", "never", "without", "nicht", "nie", "ohne", "pas", "jamais", "sans", "no",
    "nunca", "sin", "não", "sem", "non", "niet", "nie", "bez", "не", "без", "لا",
];

/// Returns the call that a message asks for in so many words, a question for the arguments that are missing, or `None` if
/// it names no tool, or several.
///
/// The tool has to be named by its full name, and not denied or asked about. An argument counts only after its own name: as JSON, as
/// `name=value` or `name: value`. A value ends at its quotation mark, or at the next white space, comma or semicolon.
/// Nothing is taken from elsewhere, so a call is never guessed.
pub(super) fn call(message: &str, offered: Offered<'_>) -> Option<Draft> {
    let named: Vec<&Tool> = offered
        .tools
        .iter()
        .filter(|tool| !is_built_in(&tool.name) && place_of(message, &tool.name).is_some())
        .collect();
    let [tool] = named[..] else { return None };
    let at = place_of(message, &tool.name)?;
    let before = message[..at].to_lowercase();
    let is_denied = before
        .split_whitespace()
        .any(|word| DENIALS.contains(&word.trim_matches([',', '.', ':'])));
    let is_asked = message.trim_end().ends_with(['?', '？', '؟']);
    if is_denied || is_asked {
        return None;
    }
    let rest = &message[at + tool.name.len()..];
    let arguments =
        json_object(rest).unwrap_or_else(|| named_values(message, at..at + tool.name.len(), tool));
    let arguments = Value::Object(arguments);
    let problems = ArgumentSchema::new(&tool.input_schema).ok()?.problems(&arguments);
    if problems.is_empty() {
        return Some(plain(DraftDecision::Act {
            calls: vec![DraftCall {
                name: tool.name.clone(),
                arguments,
                reason: "The user named the tool and its arguments.".to_owned(),
                requires_approval: tool.awaits_approval(),
                risk: tool.risk,
                memory: None,
            }],
            message: format!("I request a call of `{}`.", tool.name),
        }));
    }
    let question = format!(
        "Which arguments shall `{}` have? Give each one by its name, such as name=\"value\".",
        tool.name
    );
    Some(ask(&question, Vec::new(), &problems.join("; ")))
}

/// Returns where a name stands as a word of its own.
fn place_of(message: &str, name: &str) -> Option<usize> {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    message.match_indices(name).map(|(at, _)| at).find(|&at| {
        let after = &message[at + name.len()..];
        let mut next = after.chars();
        // A full stop may end the sentence or go on with the name.
        let goes_on = match next.next() {
            Some('.') => next.next().is_some_and(is_part),
            Some(letter) => is_part(letter),
            None => false,
        };
        !goes_on
            && !message[..at]
                .chars()
                .next_back()
                .is_some_and(|letter| is_part(letter) || letter == '.')
    })
}

/// Returns the JSON object that a text gives.
fn json_object(text: &str) -> Option<Map<String, Value>> {
    let start = text.find('{')?;
    let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Map<String, Value>>();
    stream.next()?.ok()
}

/// Returns the arguments that are given as `name=value` or `name: value`, except in `skipped`. One that is given twice with
/// different values is `null`, and one that does not fit its type a string: neither fits the schema, so the user is asked.
fn named_values(message: &str, skipped: std::ops::Range<usize>, tool: &Tool) -> Map<String, Value> {
    let mut found = Map::new();
    let Some(properties) = tool.input_schema.get("properties").and_then(Value::as_object) else {
        return found;
    };
    for (name, property) in properties {
        let values: Vec<Value> = message
            .match_indices(name.as_str())
            .filter(|(at, _)| !skipped.contains(at) && is_alone_before(message, *at))
            .filter_map(|(at, _)| value_after(&message[at + name.len()..], property))
            .collect();
        if let Some(value) = values.first() {
            let is_one = values.iter().all(|other| other == value);
            found.insert(name.clone(), if is_one { value.clone() } else { Value::Null });
        }
    }
    found
}

fn is_alone_before(message: &str, at: usize) -> bool {
    !message[..at]
        .chars()
        .next_back()
        .is_some_and(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.'))
}

/// Reads a value after its name.
fn value_after(rest: &str, property: &Value) -> Option<Value> {
    let rest = rest.strip_prefix(['"', '\'', '`']).unwrap_or(rest).trim_start();
    let rest = rest.strip_prefix(['=', ':', '：'])?.trim_start();
    let text = match quoted(rest) {
        Some(text) => text,
        None => {
            let end = rest
                .find(|letter: char| letter.is_whitespace() || matches!(letter, ',' | ';' | '，'))
                .unwrap_or(rest.len());
            rest[..end].trim_end_matches(['.', '!', ')', '。'])
        }
    };
    if text.is_empty() {
        return None;
    }
    let typed = match property.get("type").and_then(Value::as_str) {
        Some("integer") => text.parse::<i64>().ok().map(Value::from),
        Some("number") => text
            .parse::<f64>()
            .ok()
            .and_then(Number::from_f64)
            .map(Value::Number),
        Some("boolean") => text.parse::<bool>().ok().map(Value::Bool),
        Some("array" | "object") => serde_json::Deserializer::from_str(rest)
            .into_iter()
            .next()
            .and_then(Result::ok),
        _ => None,
    };
    Some(typed.unwrap_or_else(|| Value::from(text)))
}

/// Returns the text between quotation marks at the start of a text.
fn quoted(text: &str) -> Option<&str> {
    const MARKS: [(char, char); 7] = [
        ('"', '"'),
        ('\'', '\''),
        ('“', '”'),
        ('„', '“'),
        ('«', '»'),
        ('`', '`'),
        ('「', '」'),
    ];
    let first = text.chars().next()?;
    let (_, closing) = MARKS.into_iter().find(|(opening, _)| *opening == first)?;
    let inside = &text[first.len_utf8()..];
    inside.find(closing).map(|end| inside[..end].trim())
}
