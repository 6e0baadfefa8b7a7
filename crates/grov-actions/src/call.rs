//! A tool call as it is handed over.

use crate::input;
use serde_json::Value;
use std::borrow::Cow;

/// One tool call, as a turn or a transcript holds it.
#[derive(Clone, Copy, Debug)]
pub struct ToolCall<'a> {
    /// The tool's name: `Edit`, `Bash`, `mcp__server__tool`.
    pub name: &'a str,
    /// The call's id, where there is one.
    pub id: Option<&'a str>,
    /// The arguments.
    pub input: ToolInput<'a>,
    /// The absolute folder in which the agent works, where that is known. Relative paths are resolved against it.
    pub working_directory: Option<&'a str>,
}

/// The arguments of a tool call.
#[derive(Clone, Copy, Debug)]
pub enum ToolInput<'a> {
    /// Parsed.
    Json(&'a Value),
    /// As text. It may be cut off or broken; what can be read is used.
    Text(&'a str),
}

impl<'a> ToolInput<'a> {
    /// The arguments, parsed if they are not. Who asks several questions about one call parses once and hands that over.
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
