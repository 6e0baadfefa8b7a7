//! Tool calls.

use crate::input;
use serde_json::Value;
use std::borrow::Cow;

/// A tool call of a turn or a transcript.
#[derive(Clone, Copy, Debug)]
pub struct ToolCall<'a> {
    /// The tool's name: `Edit`, `Bash`, `mcp__server__tool`.
    pub name: &'a str,
    /// The call's id, if it has one.
    pub id: Option<&'a str>,
    /// The arguments.
    pub input: ToolInput<'a>,
    /// The absolute path of the agent's working directory, if it is known. Relative paths are resolved against it.
    pub working_directory: Option<&'a str>,
}

/// The arguments of a tool call.
#[derive(Clone, Copy, Debug)]
pub enum ToolInput<'a> {
    /// Parsed JSON.
    Json(&'a Value),
    /// JSON text. It may be truncated or malformed.
    Text(&'a str),
}

impl<'a> ToolInput<'a> {
    /// The parsed arguments. If one call is examined several times, parse the arguments once and pass them as
    /// [`ToolInput::Json`].
    pub fn value(self) -> Cow<'a, Value> {
        match self {
            Self::Json(value) => Cow::Borrowed(value),
            Self::Text(text) => Cow::Owned(input::parse(text)),
        }
    }
}

impl<'a> From<&'a Value> for ToolInput<'a> {
    fn from(value: &'a Value) -> Self {
        Self::Json(value)
    }
}

impl<'a> From<&'a str> for ToolInput<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}
