//! The decision loop from request to stored turn, on SQLite with a scripted model.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod memory;
mod prompt;
mod repair;
#[path = "../support/mod.rs"]
mod support;
mod turn;

use grov_agent::{
    AgentStoreError, Category, ChatAnswer, ChatFailed, Decision, EvidenceKind, MemoryChange, MemoryFilter,
    MemoryItem, MemoryStatus, MemoryType, MessageRole, Page, Progress, SourceKind, Stage, ToolCall,
    ToolCallFilter, ToolCallStatus, ToolReport,
};
use grov_domain::{ChatCompletion, ChatError, ChatPrompt, MicroUsd, TokenUsage};
use grov_redact::{Redacted, Redactor};
use serde_json::{Value, json};
use std::sync::Arc;
use support::{ScriptedModel, World};
use time::{Duration, OffsetDateTime};

const SECRET: &str = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";

fn page() -> Page {
    Page {
        limit: 100,
        after: None,
    }
}

fn tools() -> Value {
    json!([
        {"name": "jira.create", "description": "Create a ticket", "requires_approval": true, "risk": "medium",
         "parameters": {"summary": {"type": "string", "required": true}}},
        {"name": "status.get", "description": "Read the status", "parameters": {}},
        {"name": "server.delete", "risk": "high", "parameters": {"host": {"type": "string", "required": true}}},
    ])
}

fn act(calls: Value) -> String {
    json!({"decision": "ACT", "tool_calls": calls, "message": "On it.", "citations": [], "memory_proposals": []}).to_string()
}

fn noop(answer: &str) -> String {
    json!({"decision": "NOOP", "answer": answer, "citations": [], "memory_proposals": []}).to_string()
}

fn proposing(proposals: Value) -> String {
    json!({"decision": "NOOP", "answer": "Noted.", "memory_proposals": proposals}).to_string()
}

/// Everything that a provider received.
fn received(prompt: &ChatPrompt) -> String {
    let messages: Vec<String> = prompt
        .messages
        .iter()
        .map(|message| message.text.to_string())
        .collect();
    format!("{}\n{}\n{}", prompt.system, messages.join("\n"), prompt.schema)
}

fn calls(answer: &ChatAnswer) -> &[ToolCall] {
    match &answer.response.decision {
        Decision::Act { tool_calls, .. } => tool_calls,
        Decision::Ask { .. } | Decision::Noop { .. } => &[],
    }
}

async fn stored_items(world: &World) -> Vec<MemoryItem> {
    world
        .store
        .items(world.project, &MemoryFilter::default(), &page())
        .await
        .unwrap()
        .items
}

async fn stored_calls(world: &World) -> Vec<ToolCall> {
    let filter = ToolCallFilter::default();
    world
        .store
        .tool_calls(&filter, &page(), OffsetDateTime::now_utc())
        .await
        .unwrap()
        .items
}

/// Runs a chat that has to succeed.
async fn chat(world: &World, answers: &[&str], message: &str) -> (ChatAnswer, Arc<ScriptedModel>) {
    let model = ScriptedModel::answering(answers);
    let (answer, _) = world
        .chat(Some(model.clone()), world.request(message, &tools()))
        .await;
    (answer.unwrap(), model)
}
