//! Generates values for a schema or an example, deterministically.

use crate::json::Json;

/// Maximum nesting; deeper values are `null`. Only a recursive schema is that deep.
const MAX_DEPTH: usize = 12;
/// Maximum length of a list, even if a schema requires more.
const MAX_ITEMS: u64 = 16;
/// A number without stated bounds. As a score from 1 to 10 it means no drift.
const NUMBER: f64 = 9.0;

/// A small valid instance of a JSON schema: only required members, `null` where allowed, lists of one entry.
pub(super) fn of_schema(schema: &Json) -> Json {
    Schemas { root: schema }.instance(schema, "answer", MAX_DEPTH)
}

/// The example with a text in place of every `...`.
pub(super) fn of_example(example: &Json) -> Json {
    named(example, "answer")
}

fn named(example: &Json, name: &str) -> Json {
    match example {
        Json::String(text) if text == "..." => text_for(name).into(),
        Json::Array(elements) => Json::Array(elements.iter().map(|element| named(element, name)).collect()),
        Json::Object(members) => Json::Object(
            members
                .iter()
                .map(|(key, value)| (key.clone(), named(value, key)))
                .collect(),
        ),
        other => other.clone(),
    }
}

fn text_for(name: &str) -> String {
    format!("A simulated {}.", name.replace('_', " "))
}

struct Schemas<'a> {
    root: &'a Json,
}

impl<'a> Schemas<'a> {
    fn instance(&self, schema: &'a Json, name: &str, depth: usize) -> Json {
        let Some(depth) = depth.checked_sub(1) else {
            return Json::Null;
        };
        if let Some(target) = schema
            .get_str("$ref")
            .and_then(|reference| self.definition(reference))
        {
            return self.instance(target, name, depth);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        let kinds = kinds(schema);
        if kinds.contains(&"null") {
            return Json::Null;
        }
        if let Some(values) = schema.get("enum").and_then(Json::as_array) {
            return chosen(values);
        }
        for any in ["anyOf", "oneOf"] {
            if let Some(choices) = schema.get(any).and_then(Json::as_array) {
                let null = choices.iter().find(|choice| kinds_of(choice, "null"));
                return null
                    .or(choices.first())
                    .map_or(Json::Null, |choice| self.instance(choice, name, depth));
            }
        }
        match kinds.first().copied() {
            Some("object") => self.object(schema, depth),
            None if schema.get("properties").is_some() => self.object(schema, depth),
            Some("array") => self.array(schema, name, depth),
            Some("boolean") => false.into(),
            Some("integer") => Json::Number(serde_json::Number::from(number(schema) as i64)),
            Some("number") => serde_json::Number::from_f64(number(schema)).map_or(Json::Null, Json::Number),
            Some("string") | None => string(schema, name).into(),
            Some(_) => Json::Null,
        }
    }

    fn definition(&self, reference: &str) -> Option<&'a Json> {
        let path = reference.strip_prefix('#')?;
        path.split('/')
            .skip(1)
            .try_fold(self.root, |place, key| place.get(key))
    }

    fn object(&self, schema: &'a Json, depth: usize) -> Json {
        let Some(Json::Object(properties)) = schema.get("properties") else {
            return Json::Object(Vec::new());
        };
        let required = schema
            .get("required")
            .and_then(Json::as_array)
            .unwrap_or_default();
        let is_required = |key: &str| required.iter().any(|name| name.as_str() == Some(key));
        let members = properties
            .iter()
            .filter(|(key, _)| is_required(key))
            .map(|(key, property)| (key.clone(), self.instance(property, key, depth)));
        Json::Object(members.collect())
    }

    fn array(&self, schema: &'a Json, name: &str, depth: usize) -> Json {
        let bound = |key: &str| schema.get(key).and_then(Json::as_u64);
        let wanted = bound("minItems").unwrap_or(0).clamp(1, MAX_ITEMS);
        let count = bound("maxItems").map_or(wanted, |most| wanted.min(most));
        let Some(items) = schema.get("items") else {
            return Json::Array(Vec::new());
        };
        Json::Array((0..count).map(|_| self.instance(items, name, depth)).collect())
    }
}

/// The types that a schema allows.
fn kinds(schema: &Json) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::String(kind)) => vec![kind],
        Some(Json::Array(kinds)) => kinds.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    }
}

fn kinds_of(schema: &Json, kind: &str) -> bool {
    kinds(schema).contains(&kind)
}

/// The last of the allowed numbers, which as a score is the best one. For everything else `null`, or the first.
fn chosen(values: &[Json]) -> Json {
    let numbers = values.iter().all(|value| matches!(value, Json::Number(_)));
    let value = match values.contains(&Json::Null) {
        true => None,
        false if numbers => values.last(),
        false => values.first(),
    };
    value.cloned().unwrap_or(Json::Null)
}

fn number(schema: &Json) -> f64 {
    let bound = |key: &str| match schema.get(key) {
        Some(Json::Number(number)) => number.as_f64(),
        _ => None,
    };
    let least = bound("minimum").unwrap_or(f64::MIN);
    let most = bound("maximum").unwrap_or(f64::MAX);
    NUMBER.max(least).min(most)
}

fn string(schema: &Json, name: &str) -> String {
    let bound = |key: &str| schema.get(key).and_then(Json::as_u64).map(|bound| bound as usize);
    let text = text_for(name);
    let least = bound("minLength").unwrap_or(0);
    let most = bound("maxLength").unwrap_or(usize::MAX);
    text.chars()
        .chain(std::iter::repeat('.'))
        .take(text.chars().count().max(least).min(most))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(schema: &str) -> String {
        of_schema(&Json::parse(schema.as_bytes()).unwrap()).to_string()
    }

    #[test]
    fn a_schema_of_the_judge_gets_a_valid_answer() {
        let schema = r##"{"type":"object","additionalProperties":false,
            "properties":{"goal":{"type":"string"},"action":{"type":"string","enum":["continue","new_task"]},
                "task_id":{"type":["string","null"]},"file":{"anyOf":[{"type":"string"},{"type":"null"}]},
                "score":{"type":"integer"},"finished":{"type":"boolean"},"optional":{"type":"string"},
                "recovery_plan":{"type":"array","items":{"$ref":"#/$defs/step"}}},
            "required":["goal","action","task_id","file","score","finished","recovery_plan"],
            "$defs":{"step":{"type":"object","properties":{"action":{"type":"string"}},"required":["action"]}}}"##;
        assert_eq!(
            instance(schema),
            r#"{"goal":"A simulated goal.","action":"continue","task_id":null,"file":null,"score":9,"finished":false,"recovery_plan":[{"action":"A simulated action."}]}"#
        );
    }

    #[test]
    fn bounds_are_kept() {
        for (schema, expected) in [
            (r#"{"type":"integer","minimum":1,"maximum":5}"#, "5"),
            (r#"{"type":"integer","minimum":20}"#, "20"),
            (r#"{"type":"integer","enum":[1,2,3]}"#, "3"),
            (r#"{"type":"string","maxLength":5}"#, r#""A sim""#),
            (r#"{"type":"array","minItems":2,"items":{"const":7}}"#, "[7,7]"),
            (r#"{"type":"array","maxItems":0,"items":{"type":"string"}}"#, "[]"),
            (r#"{"properties":{}}"#, "{}"),
            (r#"{"type":"null"}"#, "null"),
        ] {
            assert_eq!(instance(schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_recursive_schema_ends() {
        let schema = r##"{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}"##;
        assert!(instance(schema).starts_with(r#"{"a":{"a":"#));
    }
}
