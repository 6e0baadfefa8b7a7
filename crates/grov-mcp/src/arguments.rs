//! The arguments of a call, with errors that the calling model can act on.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Maximum bytes of all arguments of a call. A query is a sentence or two.
const MAX_BYTES: usize = 64 * 1024;

/// Reads the arguments of a call.
///
/// # Errors
/// Returns what is wrong with them, for the model.
pub(crate) fn read<T: DeserializeOwned>(arguments: Option<Map<String, Value>>) -> Result<T, String> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    let bytes = size(&arguments);
    if bytes > MAX_BYTES {
        return Err(format!(
            "the arguments have {bytes} bytes, and {MAX_BYTES} are allowed: shorten them"
        ));
    }
    serde_json::from_value(arguments).map_err(|error| format!("the arguments do not fit the tool: {error}"))
}

/// The bytes of all texts in a value, approximately those of its JSON.
pub(crate) fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(values) => values.iter().map(|value| size(value) + 1).sum(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| name.len() + size(value) + 4)
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Query {
        query: String,
    }

    fn read_json(value: &Value) -> Result<Query, String> {
        read(value.as_object().cloned())
    }

    #[test]
    fn errors_name_the_argument() {
        assert_eq!(read_json(&json!({"query": "x"})).unwrap().query, "x");
        for (value, named) in [
            (json!({}), "query"),
            (json!({"query": 1}), "string"),
            (json!({"query": "x", "frob": 1}), "frob"),
        ] {
            assert!(read_json(&value).unwrap_err().contains(named), "{value}");
        }
    }

    #[test]
    fn ten_megabytes_are_refused() {
        for value in [
            json!({"query": "x".repeat(10 << 20)}),
            json!({"query": "x", "y": vec![0; 100_000]}),
            json!({"x".repeat(1 << 20): 1}),
        ] {
            assert!(read_json(&value).unwrap_err().contains("shorten"));
        }
    }
}
