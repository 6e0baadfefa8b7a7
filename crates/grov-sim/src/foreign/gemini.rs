//! Gemini's `generateContent`, as Gemini CLI speaks it.

use super::{Answer, Conversation, items, pieces, text};
use serde_json::{Value, json};

/// Reads the conversation of a request.
pub(super) fn conversation(body: &Value) -> Conversation {
    let mut read = Conversation {
        has_tools: items(body, "tools").next().is_some(),
        ..Conversation::default()
    };
    for message in items(body, "contents") {
        let role = if text(message, "role") == "model" {
            "assistant"
        } else {
            "user"
        };
        for part in items(message, "parts") {
            if let Some(call) = part.get("functionCall") {
                let block = json!({
                    "type": "tool_use", "id": text(call, "id"), "name": text(call, "name"),
                    "input": call.get("args").cloned().unwrap_or_else(|| json!({})),
                });
                read.push(role, block);
            } else if let Some(answer) = part.get("functionResponse") {
                let content = answer.get("response").cloned().unwrap_or_default().to_string();
                let block =
                    json!({ "type": "tool_result", "tool_use_id": text(answer, "id"), "content": content });
                read.push(role, block);
            } else if let Some(said) = part.get("text").and_then(Value::as_str) {
                match said.starts_with("<session_context>") {
                    true => read
                        .system
                        .push(json!({ "type": "text", "text": directory(said) })),
                    false => read.push(role, json!({ "type": "text", "text": said })),
                }
            }
        }
    }
    read
}

/// Writes the directory of the environment as Claude Code does, for `{cwd}` in scenarios.
fn directory(said: &str) -> String {
    let named = said.split_once("**Workspace Directories:**\n  - ");
    let directory = named.and_then(|(_, rest)| rest.lines().next());
    directory.map_or_else(String::new, |directory| format!("Working directory: {directory}"))
}

/// A value of a schema. A client asks again, with growing pauses, if an answer does not have its schema.
pub(super) fn example(schema: &Value) -> Value {
    match text(schema, "type").to_lowercase().as_str() {
        "object" => {
            let members = schema
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten();
            Value::Object(
                members
                    .map(|(name, schema)| (name.clone(), example(schema)))
                    .collect(),
            )
        }
        "array" => json!([]),
        "integer" | "number" => json!(1),
        "boolean" => json!(true),
        _ => match schema.pointer("/enum/0") {
            Some(first) => first.clone(),
            None => json!("simulated"),
        },
    }
}

fn parts(answer: &Answer<'_>) -> Vec<Value> {
    let blocks = answer.blocks.iter();
    blocks
        .map(|block| match text(block, "type").as_str() {
            "tool_use" => json!({
                "functionCall": { "name": text(block, "name"), "args": block["input"] },
                "thoughtSignature": "c2ltdWxhdGVk",
            }),
            "thinking" => json!({ "text": text(block, "thinking"), "thought": true }),
            _ => json!({ "text": text(block, "text") }),
        })
        .collect()
}

fn response(answer: &Answer<'_>, parts: &[Value], last: bool) -> Value {
    let tokens = answer.tokens;
    let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
    if last {
        candidate["finishReason"] = "STOP".into();
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": tokens.prompt, "cachedContentTokenCount": tokens.cached,
            "candidatesTokenCount": tokens.output, "totalTokenCount": tokens.prompt + tokens.output,
        },
        "modelVersion": answer.model, "responseId": answer.id,
    })
}

/// The answer as one JSON document.
pub(super) fn whole(answer: &Answer<'_>) -> Value {
    response(answer, &parts(answer), true)
}

/// The answer as the chunks of a stream, with texts of `size` characters.
pub(super) fn events(answer: &Answer<'_>, size: usize) -> Vec<Vec<u8>> {
    let mut sent = Vec::new();
    for part in parts(answer) {
        match part.get("text").and_then(Value::as_str) {
            Some(whole) => sent.extend(pieces(whole, size).into_iter().map(|piece| {
                let mut part = part.clone();
                part["text"] = piece.into();
                part
            })),
            None => sent.push(part),
        }
    }
    let last = sent.len().saturating_sub(1);
    let chunks = sent.iter().enumerate();
    chunks
        .map(|(at, part)| {
            let chunk = response(answer, std::slice::from_ref(part), at == last);
            format!("data: {chunk}\r\n\r\n").into_bytes()
        })
        .collect()
}
