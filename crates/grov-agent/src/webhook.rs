//! The events that a webhook receives.

use crate::{EventId, MemoryItem, NewEvent, ProjectId, ToolCall, ToolCallStatus};
use grov_redact::{Redacted, Redactor};
use serde_json::{Value, json};

/// Where a receiver reports results, relative to the address of the service. Whoever delivers the event completes it.
pub const CALLBACK_PATH: &str = "/tools/result";

/// The event about a call: `tool.approved` if it may be executed, `tool.requested` if it waits for a person, none for other
/// states.
pub fn tool_event(call: &Redacted<ToolCall>) -> Option<NewEvent> {
    let event = match call.status {
        ToolCallStatus::AwaitingApproval => "tool.requested",
        ToolCallStatus::Approved => "tool.approved",
        _ => return None,
    };
    Some(new_event(call.project_id, event, json!({"tool_call": **call})))
}

/// The event about a proposed item, with the call that decides it.
pub fn memory_proposed(item: &Redacted<MemoryItem>, call: Option<&ToolCall>) -> NewEvent {
    let content = match call {
        Some(call) => json!({"memory_item": **item, "tool_call": call}),
        None => json!({"memory_item": **item}),
    };
    new_event(item.project_id, "memory.proposed", content)
}

fn new_event(project: ProjectId, event: &str, mut body: Value) -> NewEvent {
    let id = EventId::fresh();
    body["event"] = json!(event);
    body["id"] = json!(id);
    body["callback_url"] = json!(CALLBACK_PATH);
    NewEvent {
        id,
        project,
        body: Redactor::shared().json(&body.to_string()),
    }
}
