//! Reads values whose type differs between providers.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A value of any type. `null` and a missing value are the same.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lenient<'a>(pub(crate) Option<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Lenient<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        Ok(Self(Some(raw).filter(|raw| raw.get() != "null")))
    }
}

/// The string, if it is one.
pub(crate) fn text(value: Lenient<'_>) -> Option<String> {
    let raw = value.0?.get();
    raw.starts_with('"')
        .then(|| serde_json::from_str(raw).ok())
        .flatten()
}

/// The string, or the JSON text of another value; empty without a value.
pub(crate) fn json_text(value: Lenient<'_>) -> String {
    text(value).unwrap_or_else(|| match value.0 {
        Some(raw) if !raw.get().starts_with('"') => raw.get().to_owned(),
        _ => String::new(),
    })
}

/// The non-negative integer, also if it is written as a string.
pub(crate) fn number(value: Lenient<'_>) -> Option<u64> {
    value.0?.get().trim_matches('"').parse().ok()
}

/// What content consists of.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ContentText {
    /// The text, or `None` without content.
    pub(crate) text: Option<String>,
    /// Text in parts of the type `thinking`.
    pub(crate) reasoning: Option<String>,
}

/// The texts of content: a string, or a list of parts.
pub(crate) fn parts_text(value: Lenient<'_>) -> ContentText {
    if let Some(text) = text(value) {
        return ContentText {
            text: Some(text),
            reasoning: None,
        };
    }
    let parts = value.0.filter(|raw| raw.get().starts_with('['));
    let Some(Value::Array(parts)) = parts.and_then(|raw| serde_json::from_str(raw.get()).ok()) else {
        return ContentText::default();
    };
    let mut content = ContentText {
        text: Some(String::new()),
        reasoning: None,
    };
    for part in &parts {
        let thinks = part["type"] == "thinking";
        let into = if thinks {
            &mut content.reasoning
        } else {
            &mut content.text
        };
        let into = into.get_or_insert_default();
        for key in ["text", "summary", "refusal", "thinking"] {
            push_text(&part[key], into);
        }
    }
    content
}

/// Appends a string, or the texts of a list of parts.
fn push_text(value: &Value, into: &mut String) {
    match value {
        Value::String(text) => into.push_str(text),
        Value::Array(parts) => {
            for part in parts {
                into.push_str(part["text"].as_str().unwrap_or_default());
            }
        }
        _ => {}
    }
}
