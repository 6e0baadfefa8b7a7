//! The schema of an answer, as providers take it.

use serde_json::{Map, Value};

/// Whether every object of a schema allows only the fields that it names. Anthropic refuses others.
pub(super) fn is_closed(schema: &Value) -> bool {
    every_object(schema, &|object| {
        object.get("additionalProperties") == Some(&Value::Bool(false))
    })
}

/// Whether OpenAI's strict mode takes a schema: it is closed, and every object requires all its fields.
pub(super) fn is_strict(schema: &Value) -> bool {
    is_closed(schema)
        && every_object(schema, &|object| {
            let required: Vec<&str> = object
                .get("required")
                .and_then(Value::as_array)
                .map(|names| names.iter().filter_map(Value::as_str).collect())
                .unwrap_or_default();
            let properties = object.get("properties").and_then(Value::as_object);
            properties.is_some_and(|fields| fields.keys().all(|name| required.contains(&name.as_str())))
        })
}

/// Whether the test holds for each part of a schema that describes an object.
fn every_object(schema: &Value, test: &dyn Fn(&Map<String, Value>) -> bool) -> bool {
    match schema {
        Value::Object(fields) => {
            let is_object = match fields.get("type") {
                Some(Value::String(name)) => name == "object",
                Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
                _ => false,
            };
            (!is_object || test(fields)) && fields.values().all(|inner| every_object(inner, test))
        }
        Value::Array(items) => items.iter().all(|item| every_object(item, test)),
        _ => true,
    }
}

/// The system prompt with the schema, for a provider that does not enforce it.
pub(crate) fn in_words(system: &str, schema: &str) -> String {
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
            assert_eq!(is_closed(&open), field == "required", "{open}");
        }
    }
}
