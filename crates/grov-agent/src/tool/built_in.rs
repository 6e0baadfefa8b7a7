//! The tools that every chat offers: proposals for memory.

use super::{Risk, Tool};
use crate::tool_call::{PROPOSE_ADD, PROPOSE_UPDATE};
use crate::{EvidenceKind, MemoryType};
use serde_json::{Value, json};

/// The shortest and the longest lifetime that a proposal may ask for, in seconds: a second and ten years.
pub(crate) const TTL_SECONDS: std::ops::RangeInclusive<i64> = 1..=316_224_000;

/// The most characters of an item's words.
pub(crate) const MAX_CONTENT_CHARS: usize = 4_000;

/// Whether the name is reserved for built-in tools.
pub(crate) fn is_built_in(name: &str) -> bool {
    name.starts_with("memory.")
}

/// Returns the built-in tools.
pub(crate) fn built_in_tools() -> Vec<Tool> {
    vec![
        tool(
            PROPOSE_ADD,
            "Propose something to remember about the project. Events and metrics are kept at once, everything else after a \
             person approved it.",
            propose_add_schema(),
        ),
        tool(
            PROPOSE_UPDATE,
            "Propose other words for a memory item (content), or another state (status), not both. A person approves it.",
            propose_update_schema(),
        ),
    ]
}

fn tool(name: &str, description: &str, input_schema: Value) -> Tool {
    Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema,
        requires_approval: true,
        risk: Risk::Low,
    }
}

/// JSON Schema of the arguments of `memory.propose_add`, which is that of an entry of `memory_proposals` as well.
pub(crate) fn propose_add_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": MemoryType::ALL.map(MemoryType::as_str)},
            "content": {"type": "string", "minLength": 1, "maxLength": MAX_CONTENT_CHARS},
            "ttl_seconds": {"type": "integer", "minimum": TTL_SECONDS.start(), "maximum": TTL_SECONDS.end()},
            "evidence": evidence_schema(),
        },
        "required": ["type", "content"],
        "additionalProperties": false,
    })
}

fn propose_update_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "minLength": 1, "maxLength": 64},
            "content": {"type": "string", "minLength": 1, "maxLength": MAX_CONTENT_CHARS},
            "status": {"type": "string", "enum": ["done", "blocked", "accepted"]},
        },
        "required": ["id"],
        "additionalProperties": false,
    })
}

fn evidence_schema() -> Value {
    json!({
        "type": "array",
        "maxItems": 16,
        "items": {
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": EvidenceKind::ALL.map(EvidenceKind::as_str)},
                "id": {"type": "string", "maxLength": 200},
                "quote": {"type": "string", "maxLength": 2_000},
            },
            "required": ["quote"],
        },
    })
}
