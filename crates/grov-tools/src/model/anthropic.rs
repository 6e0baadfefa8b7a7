//! The Messages API.

use super::{MAX_OUTPUT_TOKENS, Model, Question, Reply};
use crate::{ErrorKind, HttpCall, ToolError};
use grov_redact::Secret;
use grov_route::TokenCounts;
use serde_json::{Value, json};

/// The tool whose input is the answer.
const ANSWER: &str = "answer";

pub(super) fn request(model: &Model, question: &Question) -> HttpCall {
    let turns = question.turns.iter().enumerate();
    let messages: Vec<Value> = turns
        .map(|(place, text)| json!({"role": if place % 2 == 0 { "user" } else { "assistant" }, "content": text}))
        .collect();
    let mut body = json!({"model": model.name, "max_tokens": MAX_OUTPUT_TOKENS, "messages": messages});
    if let Some(system) = &question.system {
        body["system"] = json!(system);
    }
    if let Some(schema) = &question.schema {
        body["tools"] = json!([{"name": ANSWER, "description": "Gives the answer.", "input_schema": schema}]);
        body["tool_choice"] = json!({"type": "tool", "name": ANSWER});
    }
    let mut headers = vec![("anthropic-version", Secret::new("2023-06-01"))];
    headers.extend(model.key.clone().map(|key| ("x-api-key", key)));
    HttpCall {
        path: "/v1/messages".to_owned(),
        headers,
        body,
    }
}

pub(super) fn read(body: &Value) -> Result<Reply, ToolError> {
    let Some(blocks) = body["content"].as_array() else {
        return Err(ToolError::new(
            ErrorKind::BadAnswer,
            "Anthropic's response has no content",
        ));
    };
    let (mut text, mut thinking) = (String::new(), String::new());
    for block in blocks {
        match block["type"].as_str() {
            Some("text") if text.is_empty() => text.push_str(block["text"].as_str().unwrap_or_default()),
            Some("thinking") => thinking.push_str(block["thinking"].as_str().unwrap_or_default()),
            // The answer, whatever the model said before it.
            Some("tool_use") => text = block["input"].to_string(),
            _ => {}
        }
    }
    if body["stop_reason"] == "refusal" {
        return Err(ToolError::new(ErrorKind::Blocked, "the model refused to answer")
            .hint("change the query or the files, or ask another model with --provider"));
    }
    if text.trim().is_empty() {
        return Err(ToolError::new(
            ErrorKind::EmptyAnswer,
            "Anthropic's answer has no text",
        ));
    }
    let count = |name: &str| body["usage"][name].as_u64();
    let usage = count("input_tokens").map(|input| TokenCounts {
        input,
        output: count("output_tokens").unwrap_or_default(),
        cache_read: count("cache_read_input_tokens").unwrap_or_default(),
        cache_write: count("cache_creation_input_tokens").unwrap_or_default(),
    });
    Ok(Reply {
        text,
        thinking: Some(thinking).filter(|thinking| !thinking.is_empty()),
        model: body["model"].as_str().map(str::to_owned),
        usage,
    })
}
