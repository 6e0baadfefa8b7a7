//! The schema of an answer, as providers take it.

use serde_json::Value;

/// Whether OpenAI's strict mode takes a schema: every object names all its fields, requires all, and allows no other.
pub(super) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => is_strict_object(fields) && fields.values().all(is_strict),
        Value::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}

fn is_strict_object(fields: &serde_json::Map<String, Value>) -> bool {
    let is_object = match fields.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        _ => false,
    };
    if !is_object {
        return true;
    }
    let Some(properties) = fields.get("properties").and_then(Value::as_object) else {
        return false;
    };
    let required: Vec<&str> = fields
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    fields.get("additionalProperties") == Some(&Value::Bool(false))
        && properties.keys().all(|name| required.contains(&name.as_str()))
}

/// The system prompt with the schema, for a provider that does not enforce it.
pub(super) fn in_words(system: &str, schema: &str) -> String {
    format!(
        "{system}\n\nAnswer with one JSON object and nothing else, without a code fence. It must fit this JSON Schema:\n{schema}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn strict_schemas_leave_nothing_open() {
        let strict = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
        assert!(is_strict(&strict));
        assert!(is_strict(&json!({"type": "array", "items": strict})));
        assert!(!is_strict(&json!({"anyOf": [strict, {"type": "object"}]})));
        for (field, value) in [("required", json!([])), ("additionalProperties", json!(true))] {
            let mut open = strict.clone();
            open[field] = value;
            assert!(!is_strict(&open), "{open}");
        }
    }
}
