//! Keywords that providers do not accept in the schemas of tools.

use crate::translate::json::{Json, Object};

/// What a provider accepts in schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaDialect {
    /// Removes `additionalProperties`, `$schema` and `strict`.
    Generic,
    /// Removes `strict`.
    OpenAi,
    /// Removes `additionalProperties`, `$schema`, `exclusiveMaximum`, `exclusiveMinimum` and most formats.
    Gemini,
    /// The same as generic.
    Ollama,
}

/// Formats that Gemini knows.
const GEMINI_FORMATS: &[&str] = &["date", "date-time", "int32", "int64", "float", "double"];

/// Keywords whose value is a schema, or a list of schemas.
const SCHEMAS: &[&str] = &[
    "items",
    "prefixItems",
    "additionalItems",
    "additionalProperties",
    "contains",
    "propertyNames",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];

/// Keywords whose value is an object of schemas by name. The names are no keywords.
const NAMED_SCHEMAS: &[&str] = &[
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];

/// Schemas nested deeper stay as they are.
const MAX_DEPTH: usize = 64;

impl SchemaDialect {
    fn refuses(self, keyword: &str, value: &mut Json<'_>) -> bool {
        match (self, keyword) {
            (Self::Generic | Self::Ollama, "additionalProperties" | "$schema" | "strict") => true,
            (Self::OpenAi, "strict") => true,
            (Self::Gemini, "additionalProperties" | "$schema" | "exclusiveMaximum" | "exclusiveMinimum") => {
                true
            }
            (Self::Gemini, "format") => value
                .as_text()
                .is_some_and(|format| !GEMINI_FORMATS.contains(&format)),
            _ => false,
        }
    }

    /// Removes what the dialect does not accept from a schema and the schemas in it.
    pub(super) fn clean(self, schema: &mut Json<'_>) {
        self.clean_to(schema, MAX_DEPTH);
    }

    fn clean_to(self, schema: &mut Json<'_>, depth: usize) {
        if depth == 0 {
            return;
        }
        if let Some(schemas) = schema.as_array() {
            schemas
                .iter_mut()
                .for_each(|schema| self.clean_to(schema, depth - 1));
        }
        let Some(object) = schema.as_object() else { return };
        object.retain(|keyword, value| !self.refuses(keyword, value));
        for (keyword, value) in object.entries() {
            if SCHEMAS.contains(&keyword) {
                self.clean_to(value, depth - 1);
            } else if NAMED_SCHEMAS.contains(&keyword)
                && let Some(named) = value.as_object()
            {
                named
                    .entries()
                    .for_each(|(_, schema)| self.clean_to(schema, depth - 1));
            }
        }
    }
}

/// Calls `change` with the schema of each tool.
pub(super) fn each_schema(chat: &mut Object<'_>, mut change: impl FnMut(&mut Json<'_>)) {
    let Some(tools) = chat.get("tools").and_then(Json::as_array) else {
        return;
    };
    for tool in tools {
        let function = tool
            .as_object()
            .and_then(|tool| tool.get("function"))
            .and_then(Json::as_object);
        if let Some(parameters) = function.and_then(|function| function.get("parameters")) {
            change(parameters);
        }
    }
}
