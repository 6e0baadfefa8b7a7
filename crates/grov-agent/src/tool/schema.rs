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
        Measured::check(schema).map_err(|problem| problem.to_string())?;
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

/// What makes a schema too expensive to check, or impossible to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Unmeasured {
    #[error("the references of the schema are too deep or lead in a circle; write it out")]
    TooLarge,
    #[error(
        "a reference of the schema leads out of it or to nothing; refer to parts of it, such as #/$defs/name"
    )]
    Reference,
    #[error(
        "a part of the schema has {0}, which changes where references lead; leave it out and refer by #/$defs/name"
    )]
    Place(&'static str),
}

/// Members that give a part of a schema a name or a place of its own, or refer to what depends on the path to it.
const PLACES: [&str; 8] = [
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "$schema",
    "$vocabulary",
];

/// Measures a schema with its references followed. A chain of references that doubles at each step would take exponential time
/// to check.
struct Measured<'s> {
    root: &'s Value,
    open: Vec<String>,
    rest: usize,
}

impl<'s> Measured<'s> {
    fn check(root: &'s Value) -> Result<(), Unmeasured> {
        let mut measured = Self {
            root,
            open: Vec::new(),
            rest: MAX_EXPANDED,
        };
        measured.add(root)
    }

    fn add(&mut self, schema: &'s Value) -> Result<(), Unmeasured> {
        self.rest = self.rest.checked_sub(1).ok_or(Unmeasured::TooLarge)?;
        match schema {
            Value::Object(members) => members
                .iter()
                .try_for_each(|(name, member)| self.member(schema, name, member)),
            Value::Array(items) => items.iter().try_for_each(|item| self.add(item)),
            _ => Ok(()),
        }
    }

    fn member(&mut self, schema: &'s Value, name: &str, member: &'s Value) -> Result<(), Unmeasured> {
        // A property may have such a name too: then it is an object.
        let is_keyword = !member.is_object();
        let is_root = std::ptr::eq(schema, self.root);
        let place = PLACES.into_iter().find(|place| *place == name);
        if let Some(place) = place
            && is_keyword
            && !(is_root && matches!(place, "$id" | "$schema"))
        {
            return Err(Unmeasured::Place(place));
        }
        match member.as_str() {
            Some(reference) if name == "$ref" => self.follow(reference),
            _ => self.add(member),
        }
    }

    fn follow(&mut self, reference: &str) -> Result<(), Unmeasured> {
        let pointer = reference.strip_prefix('#').ok_or(Unmeasured::Reference)?;
        let pointer = percent_decoded(pointer).ok_or(Unmeasured::Reference)?;
        if self.open.contains(&pointer) || self.open.len() >= MAX_REFERENCES {
            return Err(Unmeasured::TooLarge);
        }
        // A pointer is empty or begins with a slash; anything else is the name of an anchor, and found by nothing.
        let target = self.root.pointer(&pointer).ok_or(Unmeasured::Reference)?;
        self.open.push(pointer);
        self.add(target)?;
        self.open.pop();
        Ok(())
    }
}

/// Replaces `%41`; `None` for what is damaged or not UTF-8.
fn percent_decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut decoded = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let digits = part
            .get(..2)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        decoded.push(u8::from_str_radix(digits, 16).ok()?);
        decoded.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(decoded).ok()
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

    /// A schema whose check would take 2^40 steps, if its references are followed. They are made by `refer`, and each part has
    /// what `mark` gives it.
    fn doubling(
        refer: impl Fn(usize) -> (&'static str, String),
        mark: impl Fn(usize) -> Option<(&'static str, String)>,
    ) -> Value {
        let mut parts = serde_json::Map::new();
        for step in 0..=40 {
            let mut part = serde_json::Map::new();
            if step == 40 {
                part.insert("type".to_owned(), json!("integer"));
            } else {
                let (keyword, target) = refer(step + 1);
                part.insert("anyOf".to_owned(), json!([{keyword: target}, {keyword: target}]));
            }
            if let Some((keyword, value)) = mark(step) {
                part.insert(keyword.to_owned(), json!(value));
            }
            parts.insert(format!("d{step}"), Value::Object(part));
        }
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": parts})
    }

    #[test]
    fn references_that_were_not_measured_are_refused() {
        let pointer = |step: usize| ("$ref", format!("#/$defs/d{step}"));
        let encoded = |step: usize| ("$ref", format!("#/%24defs/%64{step}"));
        let anchor = |step: usize| ("$ref", format!("#a{step}"));
        let dynamic = |step: usize| ("$dynamicRef", format!("#a{step}"));
        let id = |step: usize| ("$ref", format!("part{step}"));
        for (name, schema) in [
            ("pointers", doubling(pointer, |_| None)),
            ("percent", doubling(encoded, |_| None)),
            (
                "anchors",
                doubling(anchor, |step| Some(("$anchor", format!("a{step}")))),
            ),
            (
                "dynamic",
                doubling(dynamic, |step| Some(("$dynamicAnchor", format!("a{step}")))),
            ),
            ("ids", doubling(id, |step| Some(("$id", format!("part{step}"))))),
        ] {
            assert!(ArgumentSchema::new(&schema).is_err(), "{name}");
        }
        // The definitions of a property that is called `definitions` are those of the property.
        let mut hidden = doubling(pointer, |_| None);
        hidden["properties"] = json!({"definitions": {"$ref": "#/$defs/d0"}});
        assert!(ArgumentSchema::new(&hidden).is_err());
        assert!(ArgumentSchema::new(&json!({"$ref": "#/$defs/missing"})).is_err());
    }

    #[test]
    fn local_references_and_properties_with_the_names_of_keywords_are_kept() {
        let schema = ArgumentSchema::new(&json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "https://example.com/tool",
            "type": "object",
            "properties": {
                "$id": {"type": "string"},
                "definitions": {"$ref": "#/$defs/a%20b"},
                "size": {"$ref": "#/$defs/size"},
            },
            "$defs": {"size": {"type": "integer"}, "a b": {"type": "array", "items": {"$ref": "#/$defs/size"}}},
        }))
        .unwrap();
        let good = json!({"$id": "x", "definitions": [1], "size": 2});
        assert_eq!(schema.problems(&good), Vec::<String>::new());
        assert_eq!(schema.problems(&json!({"definitions": ["x"]})).len(), 1);
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
