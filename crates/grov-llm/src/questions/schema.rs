//! JSON schemas of answers, limited to the features that every provider accepts for structured output: all properties
//! required, no additional ones. Lists are bounded, because a small model may never end an unbounded one; the Anthropic
//! client removes the bounds, which that API refuses. Longer lists are truncated in any case.

use serde_json::{Map, Value, json};

/// An object with exactly these properties.
pub(super) fn object(properties: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> = properties
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

/// A text.
pub(super) fn text() -> Value {
    json!({"type": "string"})
}

/// A whole number.
pub(super) fn number() -> Value {
    json!({"type": "integer"})
}

/// A text or null.
pub(super) fn optional_text() -> Value {
    json!({"type": ["string", "null"]})
}

/// A list of at most `most` `items`.
pub(super) fn list(items: &Value, most: usize) -> Value {
    json!({"type": "array", "items": items, "maxItems": most})
}

/// A list of at most `most` texts.
pub(super) fn texts(most: usize) -> Value {
    list(&text(), most)
}

/// At most `most` decisions with their reasons.
pub(super) fn decisions(most: usize) -> Value {
    list(&object(&[("choice", text()), ("reason", text())]), most)
}

/// A step of a recovery plan.
pub(super) fn step() -> Value {
    object(&[("file", optional_text()), ("action", text())])
}
