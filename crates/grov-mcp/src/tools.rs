//! The tools: what they are called, what they accept, and what they answer.

mod context;
mod memory;
mod propose;
mod session;

use crate::{Ports, arguments};
use grov_domain::StoreError;
use grov_redact::Redacted;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use std::pin::Pin;
use std::sync::Arc;

/// Why a tool has no answer, for the model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolFailure {
    /// The arguments are wrong, or they name nothing that exists.
    #[error("{0}")]
    Arguments(String),
    /// The store failed.
    #[error("Grov's store cannot be read: {0}. Continue without it; `grov doctor` shows the cause")]
    Store(#[from] StoreError),
}

/// The future of a call.
pub(crate) type Call<'a> = Pin<Box<dyn Future<Output = Result<Redacted, ToolFailure>> + Send + 'a>>;

const SESSION: &str = "Session or task id; default: the project's current session";

/// The declarations, in the order in which the client lists them. Their text is part of every request of the client, so that
/// each word costs tokens.
pub(crate) fn all() -> Vec<Tool> {
    let session = || json!({"session": {"type": "string", "description": SESSION}});
    let tool = |name: &'static str, description: &'static str, properties: Value, required: &[&str]| {
        let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        let schema: JsonObject = schema.as_object().cloned().unwrap_or_default();
        Tool::new(name, description, Arc::new(schema))
            .with_annotations(ToolAnnotations::new().read_only(true))
    };
    vec![
        tool(
            "memory_search",
            "Search this project's memory of finished work: goals, decisions and their reasons, limits, files. \
             Use it before deciding something that may have been decided before.",
            json!({
                "query": {"type": "string", "description": "What you want to know, in words of the topic"},
                "files": {"type": "array", "items": {"type": "string"}, "description": "Files it is about"},
                "limit": {"type": "integer", "minimum": 1, "maximum": memory::MAX_RESULTS},
            }),
            &["query"],
        ),
        tool(
            "memory_show",
            "Show one memory in full.",
            json!({"id": {"type": "string", "description": "Id from memory_search"}}),
            &["id"],
        ),
        tool(
            "memory_propose",
            "Propose something to remember. The user approves or rejects it; until then it is not used.",
            json!({
                "type": {"type": "string", "enum": ["fact", "rule", "decision", "lesson", "open_loop"]},
                "content": {"type": "string", "description": "One sentence"},
                "quote": {"type": "string", "description": "What it rests on, word for word"},
            }),
            &["type", "content"],
        )
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(false)),
        tool(
            "goal",
            "Show the goal of the session, the user's constraints, and which paths are allowed or forbidden.",
            session(),
            &[],
        ),
        tool(
            "session_steps",
            "List what was done in a session: actions, files, commands, results, drift scores.",
            {
                let mut properties = session();
                properties["limit"] = json!({"type": "integer", "minimum": 1, "maximum": session::MAX_STEPS, "description": "Newest only; default 30"});
                properties
            },
            &[],
        ),
        tool(
            "drift_status",
            "Show whether the session keeps to its goal, and the correction to follow if it does not.",
            session(),
            &[],
        ),
        tool(
            "context_status",
            "Show how full the context window is, and what fills it.",
            session(),
            &[],
        ),
    ]
}

/// Begins a call; `None` if there is no such tool.
pub(crate) fn call<'a>(ports: &'a Ports, name: &str, arguments: Option<JsonObject>) -> Option<Call<'a>> {
    Some(match name {
        "memory_search" => Box::pin(async move { memory::search(ports, read(arguments)?).await }),
        "memory_show" => Box::pin(async move { memory::show(ports, read(arguments)?).await }),
        "memory_propose" => Box::pin(async move { propose::propose(ports, read(arguments)?).await }),
        "goal" => Box::pin(async move { session::goal(ports, read(arguments)?).await }),
        "session_steps" => Box::pin(async move { session::steps(ports, read(arguments)?).await }),
        "drift_status" => Box::pin(async move { session::drift(ports, read(arguments)?).await }),
        "context_status" => Box::pin(async move { context::status(ports, read(arguments)?).await }),
        _ => return None,
    })
}

/// A memory in full.
pub(crate) async fn show_memory(ports: &Ports, id: &str) -> Result<Redacted, ToolFailure> {
    memory::show(ports, memory::Show::of(id)).await
}

/// The memories about a topic.
pub(crate) async fn search_memory(ports: &Ports, topic: &str) -> Result<Redacted, ToolFailure> {
    memory::search(ports, memory::Search::of(topic)).await
}

/// The goal of the current session.
pub(crate) async fn current_goal(ports: &Ports) -> Result<Redacted, ToolFailure> {
    session::goal(ports, session::Which::default()).await
}

/// The newest steps of the current session.
pub(crate) async fn newest_steps(ports: &Ports) -> Result<Redacted, ToolFailure> {
    session::steps(ports, session::Steps::default()).await
}

fn read<T: serde::de::DeserializeOwned>(given: Option<JsonObject>) -> Result<T, ToolFailure> {
    arguments::read(given).map_err(ToolFailure::Arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tool list is part of every request of a client, so that it must stay small. The vocabulary is OpenAI's: no other
    /// one can be counted offline.
    #[test]
    fn the_tool_list_has_at_most_900_tokens() {
        let list = json!({ "tools": all() }).to_string();
        let tokens = bpe_openai::o200k_base().count(&list);
        assert!(tokens <= 900, "{tokens} tokens: {list}");
        assert!(tokens > 100, "the tools are missing");
    }
}
