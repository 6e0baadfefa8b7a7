//! Hand-made Claude Code requests: small, and as many at the same time as a test needs.

use grov_tests::Request;
use serde_json::{Value, json};

/// The id of the `number`-th session of a test.
pub fn session(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// The first request of a session: one prompt.
pub fn prompt(session: &str, text: &str) -> Request {
    request(
        session,
        &[json!({"role": "user", "content": [{"type": "text", "text": text}]})],
    )
}

/// A request of a session with these messages.
pub fn request(session: &str, messages: &[Value]) -> Request {
    request_in("/home/dev/project", session, messages)
}

/// The same for a client that works in `directory`.
pub fn request_in(directory: &str, session: &str, messages: &[Value]) -> Request {
    let tool = |name: &str| json!({"name": name, "description": name, "input_schema": {"type": "object"}});
    let user = json!({"device_id": "0".repeat(64), "account_uuid": "", "session_id": session}).to_string();
    let body = json!({
        "model": "claude-opus-4-8",
        "messages": messages,
        "system": [
            {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.197.05b; cc_entrypoint=sdk-cli;"},
            {"type": "text", "text": "You are a Claude agent.", "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": format!("Working directory: {directory}"), "cache_control": {"type": "ephemeral"}},
        ],
        "tools": [tool("Bash"), tool("Edit"), tool("Read"), tool("Write")],
        "metadata": {"user_id": user},
        "max_tokens": 64000,
        "stream": true,
    });
    Request::new("POST", "/v1/messages?beta=true")
        .header("Content-Type", "application/json")
        .header("User-Agent", "claude-cli/2.1.197 (external, sdk-cli)")
        .header("X-Claude-Code-Session-Id", session)
        .header("anthropic-version", "2023-06-01")
        .header("x-api-key", "sk-ant-api03-test-0000")
        .body(body.to_string())
}
