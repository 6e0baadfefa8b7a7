//! OpenAI's Responses API, as Codex speaks it.

use super::{Answer, Conversation, items, pieces, text};
use serde_json::{Value, json};

/// Reads the conversation of a request.
pub(super) fn conversation(body: &Value) -> Conversation {
    let mut read = Conversation {
        has_tools: items(body, "tools").next().is_some(),
        ..Conversation::default()
    };
    for item in items(body, "input") {
        match text(item, "type").as_str() {
            // An item without a type is a message.
            "message" | "" => {
                let role = text(item, "role");
                for part in items(item, "content") {
                    let said = text(part, "text");
                    let is_environment = said.starts_with('<') || said.starts_with("# AGENTS.md");
                    let block = json!({ "type": "text", "text": said });
                    match role.as_str() {
                        "assistant" => read.push("assistant", block),
                        "user" if !is_environment => read.push("user", block),
                        // The directory is in such a text.
                        _ => read.system.push(json!({ "type": "text", "text": directory(&said) })),
                    }
                }
            }
            "function_call" => {
                let input: Value = serde_json::from_str(&text(item, "arguments")).unwrap_or_else(|_| json!({}));
                read.push("assistant", tool_use(item, &input));
            }
            "custom_tool_call" => {
                let input = json!({ "input": text(item, "input") });
                read.push("assistant", tool_use(item, &input));
            }
            "function_call_output" | "custom_tool_call_output" => read.push(
                "user",
                json!({ "type": "tool_result", "tool_use_id": text(item, "call_id"), "content": text(item, "output") }),
            ),
            _ => {}
        }
    }
    read
}

/// Writes the directory of the environment as Claude Code does, for `{cwd}` in scenarios.
fn directory(said: &str) -> String {
    let named = said
        .split_once("<cwd>")
        .and_then(|(_, rest)| rest.split_once("</cwd>"));
    named.map_or_else(String::new, |(directory, _)| {
        format!("Working directory: {directory}")
    })
}

fn tool_use(item: &Value, input: &Value) -> Value {
    json!({ "type": "tool_use", "id": text(item, "call_id"), "name": text(item, "name"), "input": input })
}

/// The items of an answer.
fn output(answer: &Answer<'_>) -> Vec<Value> {
    let items = (0..).zip(&answer.blocks);
    items
        .map(|(at, block)| match text(block, "type").as_str() {
            "tool_use" if block.pointer("/input/input").is_some() => json!({
                "type": "custom_tool_call", "id": format!("ctc_{at}"), "status": "completed",
                "call_id": text(block, "id"), "name": text(block, "name"), "input": block["input"]["input"],
            }),
            "tool_use" => json!({
                "type": "function_call", "id": format!("fc_{at}"), "status": "completed",
                "call_id": text(block, "id"), "name": text(block, "name"), "arguments": block["input"].to_string(),
            }),
            "thinking" => json!({
                "type": "reasoning", "id": format!("rs_{at}"), "encrypted_content": "c2ltdWxhdGVk",
                "summary": [{ "type": "summary_text", "text": text(block, "thinking") }],
            }),
            _ => json!({
                "type": "message", "id": format!("msg_{at}"), "status": "completed", "role": "assistant",
                "content": [{ "type": "output_text", "text": text(block, "text"), "annotations": [] }],
            }),
        })
        .collect()
}

/// The answer as one JSON document.
pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let tokens = answer.tokens;
    json!({
        "id": answer.id, "object": "response", "created_at": 1, "model": answer.model, "status": "completed",
        "output": output(answer),
        "usage": {
            "input_tokens": tokens.prompt, "input_tokens_details": { "cached_tokens": tokens.cached },
            "output_tokens": tokens.output, "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": tokens.prompt + tokens.output,
        },
    })
}

/// The answer as the events of a stream, with deltas of `size` characters.
pub(super) fn events(answer: &Answer<'_>, size: usize) -> Vec<Vec<u8>> {
    let mut events = Vec::new();
    let mut response = whole(answer);
    let completed = response.clone();
    response["status"] = "in_progress".into();
    response["output"] = json!([]);
    response["usage"] = Value::Null;
    events.push(json!({ "type": "response.created", "response": response }));
    for (at, item) in (0_u64..).zip(output(answer)) {
        let mut begun = item.clone();
        begun["status"] = "in_progress".into();
        let (field, kind, whole) = match text(&item, "type").as_str() {
            "function_call" => ("arguments", "function_call_arguments", text(&item, "arguments")),
            "custom_tool_call" => ("input", "custom_tool_call_input", text(&item, "input")),
            "reasoning" => (
                "summary",
                "reasoning_summary_text",
                text(&item["summary"][0], "text"),
            ),
            _ => ("content", "output_text", text(&item["content"][0], "text")),
        };
        begun[field] = if item[field].is_string() {
            "".into()
        } else {
            json!([])
        };
        events.push(json!({ "type": "response.output_item.added", "output_index": at, "item": begun }));
        for piece in pieces(&whole, size) {
            events.push(json!({
                "type": format!("response.{kind}.delta"), "item_id": item["id"], "output_index": at, "content_index": 0,
                "summary_index": 0, "delta": piece,
            }));
        }
        events.push(json!({ "type": "response.output_item.done", "output_index": at, "item": item }));
    }
    events.push(json!({ "type": "response.completed", "response": completed }));
    let numbered = (0_u64..).zip(events);
    numbered
        .map(|(number, mut event)| {
            event["sequence_number"] = number.into();
            format!("event: {}\ndata: {event}\n\n", text(&event, "type")).into_bytes()
        })
        .collect()
}
