//! The JSON Schema of an answer, for providers that enforce one.

use crate::{EvidenceKind, MemoryType, Tool};
use serde_json::json;

/// Returns the schema of an answer as JSON. One flat object, because not every provider takes alternatives; what a decision needs is
/// checked afterwards.
pub(crate) fn answer_schema(tools: &[Tool]) -> String {
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    json!({
        "type": "object",
        "properties": {
            "decision": {"type": "string", "enum": ["ACT", "ASK", "NOOP"]},
            "answer": {"type": "string"},
            "question": {"type": "string"},
            "options": {"type": "array", "items": {"type": "string"}},
            "reason": {"type": "string"},
            "message": {"type": "string"},
            "tool_calls": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "enum": names},
                    "arguments": {"type": "object"},
                    "reason": {"type": "string"},
                },
                "required": ["name", "arguments", "reason"],
            }},
            "citations": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": ["chunk", "memory"]},
                    "id": {"type": "string"},
                    "quote": {"type": "string"},
                },
                "required": ["kind", "id", "quote"],
                "additionalProperties": false,
            }},
            "memory_proposals": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "type": {"type": "string", "enum": MemoryType::ALL.map(MemoryType::as_str)},
                    "content": {"type": "string"},
                    "ttl_seconds": {"type": ["integer", "null"]},
                    "evidence": {"type": "array", "items": {
                        "type": "object",
                        "properties": {
                            "kind": {"type": "string", "enum": EvidenceKind::ALL.map(EvidenceKind::as_str)},
                            "id": {"type": "string"},
                            "quote": {"type": "string"},
                        },
                        "required": ["kind", "id", "quote"],
                        "additionalProperties": false,
                    }},
                },
                "required": ["type", "content"],
                "additionalProperties": false,
            }},
        },
        "required": ["decision", "citations", "memory_proposals"],
        "additionalProperties": false,
    })
    .to_string()
}
