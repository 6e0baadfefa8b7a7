//! A real llama.cpp server as a provider: these tests check the protocol, not the quality of so small a model.

use super::{marked, write_providers};
use crate::upstream::NOWHERE;
use anyhow::Result;
use grov_tests::{Daemon, LocalModel, Request, exchange};
use serde_json::{Value, json};

/// A short request without tools for the label, which the model answers in seconds.
fn question(label: &str, stream: bool) -> Request {
    let body = json!({
        "model": "claude-opus-4-8", "max_tokens": 24, "stream": stream,
        "system": format!("<!-- @proxy-local-route:af83e9 model={label} --> Answer in one word."),
        "messages": [{"role": "user", "content": "What is the capital of France?"}],
    });
    marked(1, label).body(body.to_string())
}

/// Asserts that the server answers as a provider of this API, whole and streamed. `endpoint` is the path below its address.
fn answers(api: &str, endpoint: &str) -> Result<()> {
    let Some(server) = LocalModel::installed()? else {
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let text = format!(
        "providers:\n  - name: local\n    endpoint: {}{endpoint}\n    api: {api}\n    models:\n      small: SmolLM2-135M-Instruct\n",
        server.url()
    );
    write_providers(&home, &text)?;
    let daemon = Daemon::on(&home, NOWHERE).start()?;
    let whole = exchange(daemon.port(), &question("small", false))?;
    assert_eq!(whole.status, 200, "{}", whole.text());
    let message: Value = serde_json::from_slice(&whole.body)?;
    assert_eq!(message["type"], "message", "{message}");
    let said = message["content"][0]["text"].as_str();
    assert!(said.is_some_and(|text| !text.is_empty()), "{message}");
    assert!(message["usage"]["output_tokens"].as_u64() > Some(0), "{message}");
    let stream = exchange(daemon.port(), &question("small", true))?.text();
    for part in ["message_start", "text_delta", "message_delta", "message_stop"] {
        assert!(stream.contains(part), "{part}: {stream}");
    }
    assert!(!stream.contains("event: error"), "{stream}");
    Ok(())
}

#[test]
fn local_server_answers_through_its_chat_api() -> Result<()> {
    answers("chat", "/v1")
}

#[test]
fn local_server_answers_through_its_messages_api() -> Result<()> {
    answers("anthropic", "")
}
