//! What the agent did: tool calls of a turn or a transcript become actions.
//!
//! Entry points: [`understand`] turns one [`ToolCall`] into a [`grov_domain::Action`]; [`keywords`] and
//! [`is_key_decision`] tell what a search and a reader need of it.
//!
//! This crate does not know who asked, where actions are stored or how they came over the wire. It never looks at a
//! file system: what it tells is what the call itself shows.
#![forbid(unsafe_code)]

mod call;

pub use call::{ToolCall, ToolInput};

use grov_domain::{Action, ActionType};

/// Understands one tool call. Never fails: of a broken or unknown call it tells what can be told.
pub fn understand(call: &ToolCall<'_>) -> Action {
    Action {
        tool: call.name.to_owned(),
        tool_use_id: call.id.map(str::to_owned),
        action_type: ActionType::Other,
        files: Vec::new(),
        folders: Vec::new(),
        command: None,
        effects: Vec::new(),
    }
}

/// Words by which a later search may find the action: file stems and identifiers. At most 32, lower case, without
/// repetition.
pub fn keywords(action: &Action) -> Vec<String> {
    let _ = action;
    Vec::new()
}

/// Whether the action carries a decision: it changes files, or the assistant's text before it states one.
pub fn is_key_decision(action: &Action, reasoning: Option<&str>) -> bool {
    let _ = reasoning;
    action.action_type.modifies_files()
}
