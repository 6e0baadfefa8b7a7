//! `generateContent` of Gemini.

use super::{Api, MAX_OUTPUT_TOKENS, Model, Question, Reply};
use crate::{ErrorKind, HttpCall, ToolError};
use grov_redact::Secret;
use grov_route::TokenCounts;
use serde_json::{Value, json};

pub(super) fn request(model: &Model, question: &Question) -> HttpCall {
    let name = &model.name;
    let path = match &model.api {
        Api::GeminiVertex { project, location } => {
            format!(
                "/v1/projects/{project}/locations/{location}/publishers/google/models/{name}:generateContent"
            )
        }
        Api::GeminiExpress => format!("/v1/publishers/google/models/{name}:generateContent"),
        _ => format!("/v1beta/models/{name}:generateContent"),
    };
    let turns = question.turns.iter().enumerate();
    let contents: Vec<Value> = turns
        .map(|(place, text)| {
            let role = if place % 2 == 0 { "user" } else { "model" };
            json!({"role": role, "parts": [{"text": text}]})
        })
        .collect();
    let mut body = json!({
        "contents": contents,
        "generationConfig": {"maxOutputTokens": MAX_OUTPUT_TOKENS},
    });
    if let Some(system) = &question.system {
        body["systemInstruction"] = json!({"parts": [{"text": system}]});
    }
    if let Some(schema) = &question.schema {
        body["generationConfig"]["responseMimeType"] = json!("application/json");
        body["generationConfig"]["responseJsonSchema"] = schema.clone();
    }
    let header = model.key.as_ref().map(|key| match model.api {
        Api::GeminiVertex { .. } => ("authorization", Secret::new(format!("Bearer {}", key.expose()))),
        _ => ("x-goog-api-key", key.clone()),
    });
    HttpCall {
        path,
        headers: header.into_iter().collect(),
        body,
    }
}

pub(super) fn read(body: &Value) -> Result<Reply, ToolError> {
    let usage = &body["usageMetadata"];
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    let cached = count("cachedContentTokenCount");
    let usage = usage["promptTokenCount"].as_u64().map(|input| TokenCounts {
        input: input.saturating_sub(cached),
        output: count("candidatesTokenCount") + count("thoughtsTokenCount"),
        cache_read: cached,
        cache_write: 0,
    });
    if let Some(reason) = body["promptFeedback"]["blockReason"].as_str() {
        return Err(ToolError::new(
            ErrorKind::Blocked,
            format!("Gemini blocked the request ({reason}), so there is no answer"),
        )
        .hint("change the query or the files, or ask another model with --provider"));
    }
    let Some(candidate) = body["candidates"].get(0) else {
        return Err(
            ToolError::new(ErrorKind::EmptyAnswer, "Gemini's response has no candidates")
                .hint("call it again, or ask another model with --provider"),
        );
    };
    let (mut text, mut thinking) = (String::new(), String::new());
    for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
        let into = if part["thought"] == json!(true) {
            &mut thinking
        } else {
            &mut text
        };
        into.push_str(part["text"].as_str().unwrap_or_default());
    }
    let reason = candidate["finishReason"].as_str().unwrap_or("STOP");
    match reason {
        "STOP" | "MAX_TOKENS" if !text.trim().is_empty() => {}
        "STOP" => {
            return Err(ToolError::new(
                ErrorKind::EmptyAnswer,
                "Gemini's answer has no text",
            ));
        }
        "MAX_TOKENS" => {
            return Err(ToolError::new(
                ErrorKind::EmptyAnswer,
                "Gemini used all of its tokens for thinking, so there is no answer",
            )
            .hint("send fewer files, or name another model with --model"));
        }
        reason => {
            return Err(ToolError::new(
                ErrorKind::Blocked,
                format!("Gemini stopped its answer ({reason})"),
            )
            .hint("change the query or the files, or ask another model with --provider"));
        }
    }
    Ok(Reply {
        text,
        thinking: Some(thinking).filter(|thinking| !thinking.is_empty()),
        model: body["modelVersion"].as_str().map(str::to_owned),
        usage,
    })
}
