//! Compares values with expectations that contain matchers.

use serde_json::Value;

/// Whether a value is as expected. Matchers: `{"$any": true}`, `{"$re": r}`, `{"$json": v}`.
pub(crate) fn matches(expected: &Value, actual: &Value) -> bool {
    if let Value::Object(object) = expected
        && object.len() == 1
    {
        if object.contains_key("$any") {
            return true;
        }
        if let Some(pattern) = object.get("$re").and_then(Value::as_str) {
            return actual.as_str().is_some_and(|text| matches_pattern(pattern, text));
        }
        if let Some(json) = object.get("$json") {
            let parsed = actual
                .as_str()
                .and_then(|text| serde_json::from_str::<Value>(text).ok());
            return parsed.is_some_and(|parsed| matches(json, &parsed));
        }
    }
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => {
            expected.len() == actual.len()
                && expected
                    .iter()
                    .all(|(key, value)| actual.get(key).is_some_and(|found| matches(value, found)))
        }
        (Value::Array(expected), Value::Array(actual)) => {
            expected.len() == actual.len() && expected.iter().zip(actual).all(|(a, b)| matches(a, b))
        }
        (Value::Number(expected), Value::Number(actual)) => {
            expected == actual || expected.as_f64() == actual.as_f64()
        }
        _ => expected == actual,
    }
}

/// Whether each field of an expected object matches; the actual one may have more.
pub(crate) fn contains(expected: &Value, actual: &Value) -> bool {
    let (Value::Object(expected), Value::Object(actual)) = (expected, actual) else {
        return matches(expected, actual);
    };
    expected
        .iter()
        .all(|(key, value)| actual.get(key).is_some_and(|found| matches(value, found)))
}

fn matches_pattern(pattern: &str, text: &str) -> bool {
    regex_automata::meta::Regex::new(pattern).unwrap().is_match(text)
}

/// Fails with both values unless they match.
pub(crate) fn expect(expected: &Value, actual: &Value) -> Result<(), String> {
    if matches(expected, actual) {
        return Ok(());
    }
    Err(format!("\n  expected {expected}\n  actual   {actual}"))
}
