//! A tool call as it is handed over.

use serde_json::Value;

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
