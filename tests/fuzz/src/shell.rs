//! A command line: any text is parsed within the documented bounds.

use grov_actions::{MAX_FILES, ToolCall, understand};
use serde_json::json;

/// Checks one command line.
pub(crate) fn check(data: &[u8]) {
    let command = String::from_utf8_lossy(data);
    let input = json!({ "command": command });
    let action = understand(&ToolCall {
        name: "Bash",
        id: Some("toolu_1"),
        input: (&input).into(),
        working_directory: Some("/project"),
    });
    assert!(action.files.len() <= MAX_FILES && action.folders.len() <= MAX_FILES);
}
