//! The Anthropic Messages API.

use super::{Completion, FormatFallback, Model, ModelError, OutputFormat, Stop, Transport};
use crate::SetupError;
use crate::request::ModelRequest;
use async_trait::async_trait;
use grov_domain::TokenUsage;
use grov_redact::Secret;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};

/// The vendor's base URL.
pub(crate) const BASE_URL: &str = "https://api.anthropic.com";

/// The header that goes with a schema.
pub(crate) const STRUCTURED_OUTPUT: (&str, &str) = ("anthropic-beta", "structured-outputs-2025-12-15");

/// A model with the Messages API.
pub(crate) struct Anthropic {
    transport: Transport,
    model: String,
    formats: FormatFallback,
}

impl Anthropic {
    /// Headers of every request.
    pub(crate) fn headers(key: &Secret) -> Result<HeaderMap, SetupError> {
        let mut headers = HeaderMap::new();
        let mut key = HeaderValue::from_str(key.expose()).map_err(|_| SetupError::Credential)?;
        key.set_sensitive(true);
        headers.insert("x-api-key", key);
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(headers)
    }

    /// A model that is called through `transport`.
    pub(crate) fn new(transport: Transport, model: String) -> Self {
        Self {
            transport,
            model,
            formats: FormatFallback::new(&[OutputFormat::Schema, OutputFormat::Prompt]),
        }
    }

    fn body(&self, request: &ModelRequest, format: OutputFormat) -> Value {
        let mut body = json!({
            "model": self.model,
            "max_tokens": request.max_tokens,
            "system": request.system,
            "messages": [{"role": "user", "content": request.user}],
        });
        if format == OutputFormat::Schema {
            body["output_config"] =
                json!({"format": {"type": "json_schema", "schema": without_bounds(&request.schema)}});
        }
        body
    }
}

#[async_trait]
impl Model for Anthropic {
    async fn complete(&self, request: &ModelRequest) -> Result<Completion, ModelError> {
        let (index, format) = self.formats.current();
        // The API refuses the header without the field and vice versa.
        let beta = (format == OutputFormat::Schema).then_some(STRUCTURED_OUTPUT);
        let reply = self
            .transport
            .post("v1/messages", &self.body(request, format), beta)
            .await?;
        match reply.status {
            200 => read(&reply.json()?),
            400 if self.formats.refused(index) => Err(ModelError::FormatRefused),
            _ => Err(ModelError::of_status(&reply)),
        }
    }
}

/// The schema without `maxItems`, which structured output refuses with a 400.
pub(crate) fn without_bounds(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, value)| *name != "maxItems" || !value.is_number())
            .map(|(name, value)| (name.clone(), without_bounds(value)))
            .collect(),
        other => other.clone(),
    }
}

pub(crate) fn read(message: &Value) -> Result<Completion, ModelError> {
    let blocks = message
        .get("content")
        .and_then(Value::as_array)
        .ok_or_else(|| ModelError::Broken("it has no `content`".to_owned()))?;
    let text = blocks
        .iter()
        .filter(|block| block.get("type").and_then(Value::as_str) == Some("text"))
        .filter_map(|block| block.get("text")?.as_str())
        .collect();
    Ok(Completion {
        text,
        usage: message.get("usage").and_then(usage),
        cost: None,
        stop: stop(message.get("stop_reason").and_then(Value::as_str)),
    })
}

/// What a `stop_reason` means.
pub(crate) fn stop(reason: Option<&str>) -> Stop {
    match reason {
        Some("max_tokens" | "model_context_window_exceeded") => Stop::Length,
        Some("refusal") => Stop::Refusal,
        _ => Stop::End,
    }
}

pub(crate) fn usage(usage: &Value) -> Option<TokenUsage> {
    let count = |name: &str| usage.get(name).and_then(Value::as_u64);
    let written = |name: &str| usage.get("cache_creation")?.get(name)?.as_u64();
    Some(TokenUsage {
        input: count("input_tokens")?,
        output: count("output_tokens")?,
        cache_read: count("cache_read_input_tokens").unwrap_or(0),
        cache_creation: count("cache_creation_input_tokens").unwrap_or(0),
        cache_creation_5m: written("ephemeral_5m_input_tokens").unwrap_or(0),
        cache_creation_1h: written("ephemeral_1h_input_tokens").unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_blocks_are_joined_and_others_omitted() {
        let message = json!({
            "content": [{"type": "thinking", "thinking": "no"}, {"type": "text", "text": "{"}, {"type": "text", "text": "}"}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 3, "cache_creation_input_tokens": null},
        });
        let completion = read(&message).unwrap();
        assert_eq!(completion.text, "{}");
        assert_eq!(completion.stop, Stop::End);
        let usage = completion.usage.unwrap();
        assert_eq!((usage.input, usage.output, usage.cache_read), (5, 2, 3));
    }

    #[test]
    fn list_bounds_are_not_sent() {
        let text = json!({"type": "string"});
        let bounded = json!({
            "type": "object",
            "properties": {"a": {"type": "array", "maxItems": 3, "items": {"type": "array", "items": text, "maxItems": 2}}},
            "required": ["a"],
        });
        let sent = json!({
            "type": "object",
            "properties": {"a": {"type": "array", "items": {"type": "array", "items": text}}},
            "required": ["a"],
        });
        assert_eq!(without_bounds(&bounded), sent);
    }

    #[test]
    fn a_response_that_is_not_a_message_is_an_error() {
        for message in [
            json!({}),
            json!([]),
            json!({"content": "text"}),
            json!({"type": "error"}),
        ] {
            assert!(matches!(read(&message), Err(ModelError::Broken(_))), "{message}");
        }
        let refused = read(&json!({"content": [], "stop_reason": "refusal"})).unwrap();
        assert_eq!((refused.stop, refused.usage), (Stop::Refusal, None));
    }
}
