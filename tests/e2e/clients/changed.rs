//! Clients and upstreams whose dialect changed: relayed byte for byte, and recorded as far as they are understood.

use super::canned;
use super::conversation::SESSION;
use super::tokens::{Tokens, assert_stored};
use crate::judge::query;
use anyhow::{Context, Result};
use grov_tests::{Daemon, Grov, Request, WireTap, eventually, exchange};
use serde_json::{Value, json};

const PROMPT: &str = "Make a file with a greeting";

/// An exchange of a dialect that is not quite the known one.
struct Changed {
    path: &'static str,
    request: Value,
    events: Vec<Value>,
    /// What is stored of it: the outcome, and the tools that were called.
    outcome: &'static str,
    tools: &'static [&'static str],
}

/// Fields, items, parts and events that no version has; everything known is there too.
fn responses() -> Changed {
    Changed {
        path: "/v1/responses",
        request: json!({
            "model": "gpt-9", "stream": true, "telepathy": {"level": 3}, "input": [
                {"type": "hologram", "role": "user", "frames": [1, 2]},
                {"type": "message", "role": "oracle", "content": [{"type": "input_text", "text": "Be wise."}]},
                {"type": "message", "role": "user", "mood": "calm", "content": [
                    {"type": "input_smell", "smell": "rose"}, {"type": "input_text", "text": PROMPT, "lang": "en"}]},
            ],
            "tools": [{"type": "teleport"}, {"type": "function", "name": "exec_command"}],
        }),
        events: vec![
            json!({"type": "response.created", "response": {"id": "resp_1", "model": "gpt-9", "phase": "early"}}),
            json!({"type": "brainwave.delta", "wave": "alpha"}),
            json!({"type": "response.premonition.delta", "output_index": 0, "delta": "soon"}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "premonition", "id": "p_1"}}),
            json!({"type": "response.output_item.done", "output_index": 1, "item": {
                "type": "function_call", "call_id": "c_1", "name": "exec_command", "arguments": "{\"cmd\":\"ls\"}", "urgency": 1}}),
            json!({"type": "response.completed", "response": {"id": "resp_1", "model": "gpt-9", "status": "completed", "usage": {
                "input_tokens": 90, "input_tokens_details": {"cached_tokens": 40, "dreamt_tokens": 5}, "output_tokens": 7}}}),
        ],
        outcome: "complete",
        tools: &["exec_command"],
    }
}

fn chat() -> Changed {
    Changed {
        path: "/v1/chat/completions",
        request: json!({
            "model": "m", "stream": true, "vibe": 1, "tools": [{"type": "function", "function": {"name": "bash"}}], "messages": [
                {"role": "oracle", "content": "Be wise."}, {"role": "user", "content": [
                    {"type": "smell", "smell": "rose"}, {"type": "text", "text": PROMPT}]}],
        }),
        events: vec![
            json!({"object": "chat.completion.chunk.v9", "choices": [{"delta": {"role": "assistant", "aura": "blue"}}]}),
            json!({"object": "interlude", "notes": [1]}),
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [
                {"index": 0, "id": "c_1", "kind": "new", "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}}]}}]}),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "paused"}]}),
            json!({"choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 6, "dreamt_tokens": 2}}),
        ],
        outcome: "complete",
        tools: &["bash"],
    }
}

fn gemini() -> Changed {
    Changed {
        path: "/v1beta/models/gemini-9:streamGenerateContent?alt=sse",
        request: json!({
            "contents": [{"role": "user", "parts": [{"hologram": {}}, {"text": PROMPT}]}], "vibe": 1,
            "tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}],
        }),
        events: vec![
            json!({"candidates": [{"content": {"role": "model", "parts": [{"premonition": "soon"}]}}], "phase": "early"}),
            json!({"candidates": [{"content": {"role": "model", "parts": [
                {"functionCall": {"name": "run_shell_command", "args": {"command": "ls"}, "urgency": 1}}]}}]}),
            json!({"candidates": [{"finishReason": "STOP", "aura": "blue"}], "usageMetadata": {
                "promptTokenCount": 30, "candidatesTokenCount": 4, "dreamtTokenCount": 9}}),
        ],
        outcome: "complete",
        tools: &["run_shell_command"],
    }
}

/// The event that ends the answer has another name: the tokens are not known.
fn renamed_end() -> Changed {
    let mut changed = responses();
    changed.events.pop();
    changed
        .events
        .push(json!({"type": "response.concluded", "response": {"usage": {"input_tokens": 1}}}));
    Changed {
        outcome: "truncated",
        tools: &[],
        ..changed
    }
}

/// Relays the exchange, compares every byte, and checks what is stored.
fn check(changed: &Changed) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let events: String = changed
        .events
        .iter()
        .map(|event| format!("event: x\ndata: {event}\n\n"))
        .collect();
    let upstream = canned::answering("text/event-stream", events.clone().into_bytes())?;
    let tap = WireTap::before(upstream)?;
    let daemon = Daemon::on(&home, &tap.url()).start()?;
    let body = changed.request.to_string();
    let request = Request::new("POST", changed.path)
        .header("content-type", "application/json; flavour=new")
        .header("session-id", SESSION)
        .header("x-session-id", SESSION)
        .header("x-vibe", "1")
        .body(body.clone());
    let answer = exchange(daemon.port(), &request)?;
    assert_eq!((answer.status, answer.text()), (200, events.clone()));
    let relayed = tap.messages()?.pop().context("it was not relayed")?;
    assert_eq!(
        (relayed.body, relayed.answer),
        (body.into(), events.clone().into_bytes())
    );
    assert!(relayed.headers.contains(&("x-vibe".to_owned(), "1".to_owned())));

    let grov = Grov::on(&home);
    let session = eventually("the session to be stored", || grov.sessions().ok()?.pop())?;
    assert_eq!(session["prompts"], 1, "{session}");
    assert_eq!(query(&home, "SELECT text FROM prompts")?, [PROMPT]);
    assert_eq!(query(&home, "SELECT outcome FROM exchanges")?, [changed.outcome]);
    assert_eq!(query(&home, "SELECT tool FROM steps")?, changed.tools);
    let told = Tokens::told([events.as_bytes()]);
    match told.output {
        0 => assert_eq!(
            query(&home, "SELECT CAST(sum(output) AS TEXT) FROM exchanges")?,
            ["0"]
        ),
        _ => assert_stored(&home, told)?,
    }
    Ok(())
}

#[test]
fn a_changed_responses_api_is_recorded_as_far_as_it_is_known() -> Result<()> {
    check(&responses())
}

#[test]
fn a_changed_chat_api_is_recorded_as_far_as_it_is_known() -> Result<()> {
    check(&chat())
}

#[test]
fn a_changed_gemini_api_is_recorded_as_far_as_it_is_known() -> Result<()> {
    check(&gemini())
}

#[test]
fn an_answer_without_its_known_end_is_recorded_as_truncated() -> Result<()> {
    check(&renamed_end())
}
