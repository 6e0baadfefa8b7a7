//! Finds out what a provider needs: requests to try, and what their answers show.
//!
//! The caller sends the requests. What a transform is recommended for was seen in an answer; names of providers decide nothing.

mod observation;

use crate::translate::Transform;
pub use observation::Observation;
use serde_json::{Value, json};

/// The tool of the test request.
pub const PROBE_TOOL: &str = "read_file";

/// The path that the test request asks for.
pub const PROBE_PATH: &str = "notes/today.txt";

/// The output limit of [`limit_probe`].
pub const PROBE_LIMIT: u64 = 16;

/// A request of the Messages API that asks for one call of a tool. The tool's schema has the features of those that clients send.
pub fn tool_probe(stream: bool) -> Value {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "path": {"type": "string", "description": "The path"},
            "limit": {"type": "integer", "exclusiveMinimum": 0, "description": "The number of lines"},
            "source": {"type": "string", "format": "uri", "description": "Where the file comes from"},
        },
        "required": ["path"],
    });
    json!({
        "model": "probe",
        "max_tokens": 2048,
        "stream": stream,
        "system": "You are a coding agent. Use the tools.",
        "messages": [{
            "role": "user",
            "content": format!("Read the file {PROBE_PATH} with the tool {PROBE_TOOL}. Do nothing else."),
        }],
        "tools": [{"name": PROBE_TOOL, "description": "Reads a file", "input_schema": schema}],
    })
}

/// A request of the Messages API with a limit of [`PROBE_LIMIT`] tokens, whose answer is longer unless the provider keeps to the limit.
pub fn limit_probe() -> Value {
    json!({
        "model": "probe",
        "max_tokens": PROBE_LIMIT,
        "messages": [{"role": "user", "content": "Write the numbers from 1 to 40, separated by commas. Write nothing else."}],
    })
}

/// Transforms to send the tool probe with, in this order, until the provider accepts it: the schema that it understands, and the name of
/// the limit.
pub fn request_transforms() -> Vec<Vec<Transform>> {
    use crate::translate::SchemaDialect::{Gemini, Generic, OpenAi};
    let schemas = [OpenAi, Generic, Gemini].map(Transform::Schema);
    let limits: [&[Transform]; 2] = [&[], &[Transform::MaxTokens]];
    limits
        .iter()
        .flat_map(|limit| schemas.map(|schema| [*limit, &[schema]].concat()))
        .collect()
}

/// Whether a refusal may be about the form of the request, so that other transforms are worth trying.
pub fn is_about_form(status: u16) -> bool {
    matches!(status, 400 | 422)
}
