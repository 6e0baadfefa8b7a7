//! Reads the tools of a request, in either of the two shapes that callers write.

use super::schema::count_patterns;
use super::{ArgumentSchema, Risk, Tool, Tools, is_built_in};
use serde_json::{Map, Value, json};

/// The most tools of a request.
const MAX_TOOLS: usize = 128;

/// The longest name of a tool, in bytes.
const MAX_NAME: usize = 64;

/// The longest description of a tool, in bytes.
const MAX_DESCRIPTION: usize = 8 * 1024;

/// The largest schemas and descriptions of a request together, in bytes: they are part of every prompt.
const MAX_TOTAL: usize = 128 * 1024;

/// The most patterns in the schemas of a request: compiling them takes time.
const MAX_PATTERNS: usize = 256;

/// The types of a parameter.
const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// Something in a request that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Where: a JSON pointer into the request, such as `/tools/0/name`.
    pub path: String,
    /// What does not hold, and what is expected.
    pub message: String,
}

impl Tools {
    /// Reads the member `tools` of a request. Each tool has `parameters`, a map from a name to its type, or `input_schema` or
    /// `parameters` with a JSON Schema.
    ///
    /// # Errors
    ///
    /// Returns everything that does not hold.
    pub fn parse(tools: &Value) -> Result<Self, Vec<FieldError>> {
        let mut errors = Errors(Vec::new());
        let list: &[Value] = match tools {
            Value::Null => &[],
            Value::Array(list) => list,
            _ => {
                errors.add("/tools".to_owned(), "a list of tools is expected");
                &[]
            }
        };
        if list.len() > MAX_TOOLS {
            errors.add(
                "/tools".to_owned(),
                format!("at most {MAX_TOOLS} tools are allowed, there are {}", list.len()),
            );
            return Err(errors.0);
        }
        let patterns = count_patterns(tools);
        if patterns > MAX_PATTERNS {
            let message = format!("the schemas have {patterns} patterns, at most {MAX_PATTERNS} are allowed");
            errors.add("/tools".to_owned(), message);
            return Err(errors.0);
        }
        let mut parsed: Vec<Tool> = Vec::with_capacity(list.len());
        for (place, value) in list.iter().enumerate() {
            let path = format!("/tools/{place}");
            let Some(members) = value.as_object() else {
                errors.add(path, "an object is expected");
                continue;
            };
            let tool = tool(members, &path, &mut errors);
            if parsed.iter().any(|other| other.name == tool.name) && !tool.name.is_empty() {
                errors.add(
                    format!("{path}/name"),
                    format!("the name {} occurs twice", tool.name),
                );
            }
            parsed.push(tool);
        }
        let total: usize = parsed
            .iter()
            .map(|tool| tool.description.len() + tool.input_schema.to_string().len())
            .sum();
        if total > MAX_TOTAL {
            let message = format!(
                "the tools have {total} bytes of descriptions and schemas, at most {MAX_TOTAL} are allowed"
            );
            errors.add("/tools".to_owned(), message);
        }
        if errors.0.is_empty() {
            Ok(Self(parsed))
        } else {
            Err(errors.0)
        }
    }
}

struct Errors(Vec<FieldError>);

impl Errors {
    fn add(&mut self, path: String, message: impl Into<String>) {
        self.0.push(FieldError {
            path,
            message: message.into(),
        });
    }
}

fn tool(members: &Map<String, Value>, path: &str, errors: &mut Errors) -> Tool {
    Tool {
        name: name(members.get("name"), path, errors),
        description: description(members.get("description"), path, errors),
        input_schema: input_schema(members, path, errors),
        requires_approval: flag(
            members.get("requires_approval"),
            &format!("{path}/requires_approval"),
            errors,
        ),
        risk: risk(members.get("risk"), path, errors),
    }
}

fn name(value: Option<&Value>, path: &str, errors: &mut Errors) -> String {
    let path = format!("{path}/name");
    let Some(name) = value.and_then(Value::as_str) else {
        errors.add(path, "a name is required, as a string");
        return String::new();
    };
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(is_allowed) {
        errors.add(
            path,
            "a name has 1 to 64 of the characters a-z, A-Z, 0-9, _, . and -",
        );
        return String::new();
    }
    if is_built_in(name) {
        errors.add(
            path,
            "names that start with memory. are reserved for the built-in tools; choose another one",
        );
    }
    name.to_owned()
}

fn description(value: Option<&Value>, path: &str, errors: &mut Errors) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) if text.len() <= MAX_DESCRIPTION => text.clone(),
        Some(Value::String(_)) => {
            errors.add(
                format!("{path}/description"),
                "the description is longer than 8 KiB; shorten it",
            );
            String::new()
        }
        Some(_) => {
            errors.add(format!("{path}/description"), "a string is expected");
            String::new()
        }
    }
}

fn flag(value: Option<&Value>, path: &str, errors: &mut Errors) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Bool(flag)) => *flag,
        Some(_) => {
            errors.add(path.to_owned(), "true or false is expected");
            false
        }
    }
}

fn risk(value: Option<&Value>, path: &str, errors: &mut Errors) -> Risk {
    match value {
        None | Some(Value::Null) => Risk::default(),
        Some(value) => value.as_str().and_then(Risk::from_name).unwrap_or_else(|| {
            errors.add(format!("{path}/risk"), "low, medium or high is expected");
            Risk::High
        }),
    }
}

/// Returns the schema of the arguments, whichever way it was written.
fn input_schema(members: &Map<String, Value>, path: &str, errors: &mut Errors) -> Value {
    let given = |name: &'static str| {
        members
            .get(name)
            .filter(|value| !value.is_null())
            .map(|value| (name, value))
    };
    let (member, value) = match (given("input_schema"), given("parameters")) {
        (Some(_), Some(_)) => {
            errors.add(
                path.to_owned(),
                "give either parameters or input_schema, not both",
            );
            return no_arguments();
        }
        (Some(given), None) | (None, Some(given)) => given,
        (None, None) => return no_arguments(),
    };
    let path = format!("{path}/{member}");
    let Some(object) = value.as_object() else {
        errors.add(path, "an object is expected");
        return no_arguments();
    };
    let schema = if member == "input_schema" || is_schema(object) {
        object_schema(object, &path, errors)
    } else {
        schema_of_parameters(object, &path, errors)
    };
    if let Err(problem) = ArgumentSchema::new(&schema) {
        errors.add(path, problem);
    }
    schema
}

fn no_arguments() -> Value {
    json!({"type": "object", "properties": {}, "additionalProperties": false})
}

/// Whether `parameters` is a JSON Schema instead of a map of parameters, whose values are all objects.
fn is_schema(object: &Map<String, Value>) -> bool {
    object.get("type").is_some_and(Value::is_string)
}

fn object_schema(object: &Map<String, Value>, path: &str, errors: &mut Errors) -> Value {
    let mut schema = object.clone();
    match schema.get("type") {
        None => {
            schema.insert("type".to_owned(), json!("object"));
        }
        Some(kind) if kind == "object" => {}
        Some(_) => errors.add(
            format!("{path}/type"),
            "the arguments of a tool are an object: \"type\": \"object\"",
        ),
    }
    Value::Object(schema)
}

fn schema_of_parameters(parameters: &Map<String, Value>, path: &str, errors: &mut Errors) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, parameter) in parameters {
        let path = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
        let Some(parameter) = parameter.as_object() else {
            errors.add(
                path,
                "an object with a type is expected, such as {\"type\": \"string\"}",
            );
            continue;
        };
        let mut property = parameter.clone();
        match property.get("type").and_then(Value::as_str) {
            Some(kind) if TYPES.contains(&kind) => {}
            _ => errors.add(
                format!("{path}/type"),
                format!("one of {} is expected", TYPES.join(", ")),
            ),
        }
        // A list is the keyword of JSON Schema, for the members of an object.
        if !property.get("required").is_some_and(Value::is_array) {
            let is_required = flag(
                property.remove("required").as_ref(),
                &format!("{path}/required"),
                errors,
            );
            if is_required {
                required.push(name.clone());
            }
        }
        properties.insert(name.clone(), Value::Object(property));
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

#[cfg(test)]
mod tests;
