//! Checks arguments against the JSON Schema of a tool.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// The most problems that are told about one call.
const MAX_PROBLEMS: usize = 8;

/// The most steps of a schema with its local references followed. Below it, checking takes milliseconds.
const MAX_EXPANDED: usize = 20_000;

/// The most references that lead from one to the next.
const MAX_REFERENCES: usize = 16;

/// The most patterns of a schema, and the memory that each may take when compiled, in bytes. Compiling takes a few milliseconds
/// at most.
const MAX_PATTERNS: usize = 64;
const MAX_PATTERN_BYTES: usize = 512 * 1024;

/// The JSON Schema of a tool's arguments, ready to check them.
///
/// Nothing is fetched: a reference to another document is an error. Patterns are matched in linear time.
#[derive(Debug)]
pub(crate) struct ArgumentSchema(Validator);

impl ArgumentSchema {
    /// Prepares a schema.
    ///
    /// # Errors
    ///
    /// Returns what does not hold in the schema.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        if !is_small(schema, schema, &mut Vec::new(), &mut MAX_EXPANDED.clone()) {
            return Err(
                "the references of the schema are too deep or lead in a circle; write it out".to_owned(),
            );
        }
        if count_patterns(schema) > MAX_PATTERNS {
            return Err(format!(
                "the schema has more than {MAX_PATTERNS} patterns; leave some out"
            ));
        }
        let patterns = PatternOptions::regex().size_limit(MAX_PATTERN_BYTES);
        jsonschema::options()
            .with_pattern_options(patterns.dfa_size_limit(MAX_PATTERN_BYTES))
            .offline()
            .build(schema)
            .map(Self)
            .map_err(|error| format!("not a JSON Schema: {error}"))
    }

    /// Returns what does not fit, at most eight problems, each with its place.
    pub(crate) fn problems(&self, arguments: &Value) -> Vec<String> {
        self.0
            .iter_errors(arguments)
            .take(MAX_PROBLEMS)
            .map(|error| {
                let place = error.instance_path().to_string();
                let words = grov_redact::beginning_of(&error.to_string(), 300).to_owned();
                if place.is_empty() {
                    words
                } else {
                    format!("{place}: {words}")
                }
            })
            .collect()
    }
}

/// Whether a schema with its local references followed has at most `rest` values, and no reference leads into itself. A chain of
/// references that doubles at each step would take exponential time to check.
fn is_small<'s>(root: &'s Value, schema: &'s Value, open: &mut Vec<&'s str>, rest: &mut usize) -> bool {
    let Some(left) = rest.checked_sub(1) else {
        return false;
    };
    *rest = left;
    match schema {
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "$defs" | "definitions"))
            .all(|(name, member)| {
                let reference = member
                    .as_str()
                    .filter(|_| matches!(name.as_str(), "$ref" | "$dynamicRef"));
                let Some(pointer) = reference.and_then(|reference| reference.strip_prefix('#')) else {
                    return is_small(root, member, open, rest);
                };
                if open.contains(&pointer) || open.len() >= MAX_REFERENCES {
                    return false;
                }
                let Some(target) = root.pointer(pointer) else {
                    return true;
                };
                open.push(pointer);
                let is_small = is_small(root, target, open, rest);
                open.pop();
                is_small
            }),
        Value::Array(items) => items.iter().all(|item| is_small(root, item, open, rest)),
        _ => true,
    }
}

/// Counts the patterns of a schema, or of schemas.
pub(super) fn count_patterns(schema: &Value) -> usize {
    match schema {
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| {
                let own = match (name.as_str(), member) {
                    ("pattern", Value::String(_)) => 1,
                    ("patternProperties", Value::Object(patterns)) => patterns.len(),
                    _ => 0,
                };
                own + count_patterns(member)
            })
            .sum(),
        Value::Array(items) => items.iter().map(count_patterns).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn problems_name_their_place() {
        let schema = ArgumentSchema::new(&json!({
            "type": "object", "required": ["summary"], "additionalProperties": false,
            "properties": {"summary": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
        }))
        .unwrap();
        assert_eq!(
            schema.problems(&json!({"summary": "x", "tags": ["a"]})),
            Vec::<String>::new()
        );
        let problems = schema
            .problems(&json!({"tags": ["a", 1], "colour": "red"}))
            .join("\n");
        for part in [
            "/tags/1: 1 is not of type \"string\"",
            "\"summary\" is a required property",
            "colour",
        ] {
            assert!(problems.contains(part), "{part} in {problems}");
        }
    }

    #[test]
    fn schemas_that_fetch_or_explode_are_refused() {
        assert!(ArgumentSchema::new(&json!({"$ref": "https://example.com/schema.json"})).is_err());
        assert!(ArgumentSchema::new(&json!({"$ref": "file:///etc/passwd"})).is_err());
        assert!(ArgumentSchema::new(&json!({"allOf": [{"$ref": "#"}]})).is_err());
        assert!(ArgumentSchema::new(&json!({"type": "strange"})).is_err());
        let mut definitions = serde_json::Map::new();
        for step in 0..60 {
            let next = format!("#/$defs/d{}", step + 1);
            definitions.insert(
                format!("d{step}"),
                json!({"anyOf": [{"$ref": next}, {"$ref": next}]}),
            );
        }
        definitions.insert("d60".to_owned(), json!({"type": "integer"}));
        assert!(ArgumentSchema::new(&json!({"$ref": "#/$defs/d0", "$defs": definitions})).is_err());
    }

    #[test]
    fn patterns_that_are_large_or_many_are_refused() {
        let with = |count: usize, pattern: &str| {
            let property = |number: usize| {
                (
                    format!("p{number}"),
                    json!({"type": "string", "pattern": pattern}),
                )
            };
            let properties: serde_json::Map<String, Value> = (0..count).map(property).collect();
            ArgumentSchema::new(&json!({"type": "object", "properties": properties}))
        };
        assert!(with(1, r"^[\w.+-]+@[\w-]+(\.[\w-]+)+$").is_ok());
        assert!(with(64, r"^[A-Z]{2,5}-\d{1,6}$").is_ok());
        assert!(with(65, "^a$").is_err());
        assert!(with(1, r"(\w{200}){200}").is_err());
        assert!(ArgumentSchema::new(&json!({"patternProperties": {"(": {}}})).is_err());
    }

    #[test]
    fn a_pattern_takes_linear_time() {
        let schema = ArgumentSchema::new(&json!({
            "type": "object", "properties": {"text": {"type": "string", "pattern": "^(a+)+$"}},
        }))
        .unwrap();
        assert_eq!(
            schema
                .problems(&json!({"text": format!("{}b", "a".repeat(50_000))}))
                .len(),
            1
        );
    }
}
