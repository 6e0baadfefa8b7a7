//! Chat completions of OpenAI and compatible servers.

use super::{MAX_OUTPUT_TOKENS, Model, Question, Reply};
use crate::{ErrorKind, HttpCall, ToolError};
use grov_redact::Secret;
use grov_route::TokenCounts;
use serde_json::{Value, json};

/// The most tokens of an answer of a model on this machine.
const MAX_LOCAL_TOKENS: u32 = 4000;

pub(super) fn request(model: &Model, question: &Question, with_format: bool) -> HttpCall {
    let mut messages: Vec<Value> = Vec::new();
    messages.extend(
        question
            .system
            .as_ref()
            .map(|text| json!({"role": "system", "content": text})),
    );
    for (place, text) in question.turns.iter().enumerate() {
        messages.push(json!({"role": if place % 2 == 0 { "user" } else { "assistant" }, "content": text}));
    }
    let mut body = json!({"model": model.name, "messages": messages, "stream": false});
    // OpenAI's newer models refuse the older name, and other servers do not know the newer one.
    let is_newer = ["gpt-5", "o1", "o3", "o4"]
        .iter()
        .any(|start| model.name.starts_with(start));
    let (limit, tokens) = match (is_newer, model.is_local) {
        (true, _) => ("max_completion_tokens", MAX_OUTPUT_TOKENS),
        // A small model fills what it may.
        (false, true) => ("max_tokens", MAX_LOCAL_TOKENS),
        (false, false) => ("max_tokens", MAX_OUTPUT_TOKENS),
    };
    body[limit] = json!(tokens);
    if let Some(schema) = question.schema.as_ref().filter(|_| with_format) {
        body["response_format"] = json!({
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": schema, "strict": true},
        });
    }
    let key = model.key.as_ref();
    let header = key.map(|key| ("authorization", Secret::new(format!("Bearer {}", key.expose()))));
    HttpCall {
        path: "/v1/chat/completions".to_owned(),
        headers: header.into_iter().collect(),
        body,
    }
}

pub(super) fn read(body: &Value) -> Result<Reply, ToolError> {
    let choice = &body["choices"][0];
    if choice["finish_reason"] == "content_filter" || choice["message"]["refusal"].is_string() {
        return Err(ToolError::new(ErrorKind::Blocked, "the model refused to answer")
            .hint("change the query or the files, or ask another model with --provider"));
    }
    let Some(text) = choice["message"]["content"].as_str() else {
        return Err(ToolError::new(
            ErrorKind::BadAnswer,
            "the response has no choices[0].message.content: is it an OpenAI-compatible server?",
        ));
    };
    let (thinking, text) = match text
        .trim_start()
        .strip_prefix("<think>")
        .and_then(|rest| rest.split_once("</think>"))
    {
        Some((thinking, rest)) => (Some(thinking.trim().to_owned()), rest.trim().to_owned()),
        None => (None, text.to_owned()),
    };
    if text.trim().is_empty() {
        return Err(ToolError::new(
            ErrorKind::EmptyAnswer,
            "the model's answer has no text",
        ));
    }
    let reasoning = choice["message"]["reasoning_content"].as_str().map(str::to_owned);
    let count = |name: &str| body["usage"][name].as_u64();
    let cached = body["usage"]["prompt_tokens_details"]["cached_tokens"]
        .as_u64()
        .unwrap_or_default();
    let usage = count("prompt_tokens").map(|input| TokenCounts {
        input: input.saturating_sub(cached),
        output: count("completion_tokens").unwrap_or_default(),
        cache_read: cached,
        cache_write: 0,
    });
    Ok(Reply {
        text,
        thinking: thinking.or(reasoning),
        model: body["model"].as_str().map(str::to_owned),
        usage,
    })
}
