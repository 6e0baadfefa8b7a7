//! JSON Schemas of answers, and examples made of them.

use serde_json::{Map, Value, json};

/// An object with these required fields and no others.
pub fn object(fields: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// A text.
pub fn text(meaning: &str) -> Value {
    json!({"type": "string", "description": meaning})
}

/// A list.
pub fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

/// One of these words.
pub fn word(words: &[&str]) -> Value {
    json!({"type": "string", "enum": words})
}

/// A whole number.
pub fn integer(meaning: &str) -> Value {
    json!({"type": "integer", "description": meaning})
}

/// A number.
pub fn number(meaning: &str) -> Value {
    json!({"type": "number", "description": meaning})
}

/// True or false.
pub fn boolean(meaning: &str) -> Value {
    json!({"type": "boolean", "description": meaning})
}

/// The schema, or null.
pub fn nullable(schema: Value) -> Value {
    let mut schema = schema;
    let kind = schema["type"].clone();
    schema["type"] = json!([kind, "null"]);
    schema
}

/// A value that shows the shape of the schema, with the meaning of each field.
pub fn example(schema: &Value) -> Value {
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str),
        kind => kind.as_str(),
    };
    let or_null = if schema["type"].is_array() { " | null" } else { "" };
    let meaning = schema["description"].as_str().map(|text| format!(" - {text}"));
    let named = |kind: &str| json!(format!("{kind}{or_null}{}", meaning.clone().unwrap_or_default()));
    match kind {
        Some("object") => {
            let fields = schema["properties"].as_object();
            let fields = fields.into_iter().flatten();
            fields
                .map(|(name, field)| (name.clone(), example(field)))
                .collect()
        }
        Some("array") => json!([example(&schema["items"])]),
        Some("string") => match schema["enum"].as_array() {
            Some(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                json!(words.join(" | "))
            }
            None => named("string"),
        },
        Some(kind) => named(kind),
        None => named("any"),
    }
}

/// The shape of a value in one line, such as `{"from": string, "tags"?: ["a" | "b"]}`; `?` marks what may be left out.
pub fn shape(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(Value::to_string).collect();
        return words.join(" | ");
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    let shown: Vec<String> = kinds
        .iter()
        .map(|kind| match *kind {
            "object" => {
                let required = schema["required"].as_array();
                let is_required =
                    |name: &String| required.is_some_and(|names| names.iter().any(|one| one == name));
                let fields = schema["properties"].as_object().into_iter().flatten();
                let fields: Vec<String> = fields
                    .map(|(name, field)| {
                        let mark = if is_required(name) { "" } else { "?" };
                        format!("{name:?}{mark}: {}", shape(field))
                    })
                    .collect();
                format!("{{{}}}", fields.join(", "))
            }
            "array" => format!("[{}]", shape(&schema["items"])),
            kind => kind.to_owned(),
        })
        .collect();
    match shown.as_slice() {
        [] => "any".to_owned(),
        shown => shown.join(" | "),
    }
}

/// Checks values against the JSON Schema of an argument. Nothing is fetched, and patterns are matched in linear time.
pub(crate) struct Checker(jsonschema::Validator);

impl Checker {
    /// Prepares a schema.
    ///
    /// # Errors
    ///
    /// Why it is no JSON Schema.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        let options = jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex());
        let built = options.offline().build(schema);
        built.map(Self).map_err(|error| error.to_string())
    }

    /// What does not fit, with its place; `None` if the value fits.
    pub(crate) fn problem(&self, value: &Value) -> Option<String> {
        let error = self.0.iter_errors(value).next()?;
        let place = error.instance_path().to_string();
        let words = grov_redact::beginning_of(&error.to_string(), 300).to_owned();
        Some(match place.is_empty() {
            true => words,
            false => format!("{place}: {words}"),
        })
    }
}

/// The first place where a value does not fit a schema of this module; `None` if it fits.
pub fn mismatch(schema: &Value, value: &Value) -> Option<String> {
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    let fits = |kind: &&str| match *kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => true,
    };
    if !kinds.is_empty() && !kinds.iter().any(fits) {
        return Some(format!("is no {}", kinds.join(" or ")));
    }
    let words = schema["enum"].as_array().filter(|_| !value.is_null());
    if words.is_some_and(|words| !words.contains(value)) {
        return Some(format!("is none of {}", schema["enum"]));
    }
    let inside = |place: &str, inner: Option<String>| inner.map(|inner| format!("{place}: {inner}"));
    if let Some(fields) = value.as_object() {
        let required = schema["required"].as_array().into_iter().flatten();
        if let Some(name) = required
            .filter_map(Value::as_str)
            .find(|name| !fields.contains_key(*name))
        {
            return Some(format!("lacks {name}"));
        }
        return fields
            .iter()
            .find_map(|(name, field)| match schema["properties"].get(name) {
                Some(inner) => inside(name, mismatch(inner, field)),
                None => (schema["additionalProperties"] == json!(false))
                    .then(|| format!("has an unknown field {name}")),
            });
    }
    let items = value.as_array().filter(|_| schema["items"].is_object());
    items?
        .iter()
        .enumerate()
        .find_map(|(place, item)| inside(&place.to_string(), mismatch(&schema["items"], item)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_show_meaning_and_words() {
        let schema = object(&[
            ("a", text("the a")),
            ("b", list(word(&["x", "y"]))),
            ("c", nullable(integer("count"))),
        ]);
        assert_eq!(
            example(&schema),
            json!({"a": "string - the a", "b": ["x | y"], "c": "integer | null - count"})
        );
    }

    #[test]
    fn a_shape_fits_on_a_line() {
        let schema = json!({"type": "object", "required": ["from"], "properties": {
            "from": {"type": "string"},
            "rows": {"type": "array", "items": {"type": "object", "properties": {"level": {"enum": ["low", 2]}}}},
            "x": {}, "y": {"type": ["integer", "null"]},
        }});
        assert_eq!(
            shape(&schema),
            r#"{"from": string, "rows"?: [{"level"?: "low" | 2}], "x"?: any, "y"?: integer | null}"#
        );
    }

    #[test]
    fn mismatches_name_their_place() {
        let schema = object(&[("a", list(word(&["x"]))), ("b", nullable(text("")))]);
        assert_eq!(mismatch(&schema, &json!({"a": ["x"], "b": null})), None);
        assert_eq!(
            mismatch(&schema, &json!({"a": ["z"], "b": ""})).unwrap(),
            "a: 0: is none of [\"x\"]"
        );
        assert_eq!(mismatch(&schema, &json!({"a": []})).unwrap(), "lacks b");
        assert_eq!(
            mismatch(&schema, &json!({"a": [], "b": 1})).unwrap(),
            "b: is no string or null"
        );
        assert!(
            mismatch(&schema, &json!({"a": [], "b": "", "c": 1}))
                .unwrap()
                .contains("unknown field c")
        );
    }
}
