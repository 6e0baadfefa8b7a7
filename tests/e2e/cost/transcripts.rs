//! Transcripts as the client writes them, reduced to what counts.

use anyhow::Result;
use serde_json::{Value, json};
use std::path::Path;

/// A line with usage.
#[derive(Clone, Debug)]
pub(super) struct Line(Value);

impl Line {
    pub(super) fn new(message: &str, request: &str, session: &str) -> Self {
        Self(json!({
            "parentUuid": null, "isSidechain": false, "type": "assistant", "sessionId": session,
            "version": "2.1.197", "requestId": request, "timestamp": "2026-11-01T12:00:00.000Z",
            "message": {
                "id": message, "model": "claude-opus-4-8", "role": "assistant", "type": "message",
                "content": [{"type": "text", "text": "what was said \"usage\":{ about usage"}],
                "usage": {"input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0},
            },
        }))
    }

    pub(super) fn set(mut self, pointer: &str, value: Value) -> Self {
        let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
        if let Some(Value::Object(fields)) = self.0.pointer_mut(parent) {
            fields.insert(name.to_owned(), value);
        }
        self
    }

    pub(super) fn without(mut self, pointer: &str) -> Self {
        let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
        if let Some(Value::Object(fields)) = self.0.pointer_mut(parent) {
            fields.remove(name);
        }
        self
    }

    pub(super) fn tokens(self, input: u64, output: u64) -> Self {
        self.set("/message/usage/input_tokens", input.into())
            .set("/message/usage/output_tokens", output.into())
    }

    pub(super) fn model(self, model: &str) -> Self {
        self.set("/message/model", model.into())
    }

    pub(super) fn at(self, time: &str) -> Self {
        self.set("/timestamp", time.into())
    }

    pub(super) fn in_directory(self, directory: &str) -> Self {
        self.set("/cwd", directory.into())
    }

    pub(super) fn of_agent(self, agent: &str) -> Self {
        self.set("/isSidechain", true.into())
            .set("/agentId", agent.into())
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Writes a transcript below a client's folder.
pub(super) fn write(client: &Path, path: &str, lines: &[impl ToString]) -> Result<()> {
    let path = client.join("projects").join(path);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    std::fs::write(path, lines.join("\n") + "\n")?;
    Ok(())
}
