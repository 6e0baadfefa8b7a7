//! JSON schemas of answers, within what structured output takes everywhere: every property required, no further ones, no
//! bounds (those are checked on our side).

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

/// A text or null.
pub(super) fn optional_text() -> Value {
    json!({"type": ["string", "null"]})
}

/// A list of `items`.
pub(super) fn list(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

/// A decision and its reason.
pub(super) fn decisions() -> Value {
    list(&object(&[("choice", text()), ("reason", text())]))
}

/// A step of a way back.
pub(super) fn step() -> Value {
    object(&[("file", optional_text()), ("action", text())])
}
