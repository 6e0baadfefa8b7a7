//! OpenAI's chat completions, also offered by Ollama, llama.cpp, vLLM and others.

use super::{Completion, FormatFallback, Model, ModelError, OutputFormat, Stop, Transport};
use crate::SetupError;
use crate::request::ModelRequest;
use async_trait::async_trait;
use grov_domain::TokenUsage;
use grov_redact::Secret;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};

/// The vendor's base URL.
pub(crate) const BASE_URL: &str = "https://api.openai.com";

/// The host of the vendor's API.
pub(crate) const VENDOR_HOST: &str = "api.openai.com";

/// A model with `/v1/chat/completions`.
pub(crate) struct OpenAi {
    transport: Transport,
    model: String,
    formats: FormatFallback,
}

impl OpenAi {
    /// Headers of every request. Local servers need no key.
    pub(crate) fn headers(key: Option<&Secret>) -> Result<HeaderMap, SetupError> {
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            let bearer = format!("Bearer {}", key.expose());
            let mut bearer = HeaderValue::from_str(&bearer).map_err(|_| SetupError::Credential)?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(headers)
    }

    /// A model that is called through `transport`.
    pub(crate) fn new(transport: Transport, model: String) -> Self {
        Self {
            transport,
            model,
            formats: FormatFallback::new(&[OutputFormat::Schema, OutputFormat::Object, OutputFormat::Prompt]),
        }
    }

    fn body(&self, request: &ModelRequest, format: OutputFormat) -> Value {
        let mut body = json!({
            "model": self.model,
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.user},
            ],
            "stream": false,
        });
        // Newer models of the vendor accept neither `max_tokens` nor a temperature; other servers know only `max_tokens`.
        if self.transport.endpoint().host() == VENDOR_HOST {
            body["max_completion_tokens"] = json!(request.max_tokens);
        } else {
            body["max_tokens"] = json!(request.max_tokens);
            body["temperature"] = json!(0);
        }
        match format {
            OutputFormat::Schema => {
                body["response_format"] = json!({
                    "type": "json_schema",
                    "json_schema": {"name": request.purpose.as_str(), "strict": true, "schema": request.schema},
                });
            }
            OutputFormat::Object => body["response_format"] = json!({"type": "json_object"}),
            OutputFormat::Prompt => {}
        }
        body
    }
}

#[async_trait]
impl Model for OpenAi {
    async fn complete(&self, request: &ModelRequest) -> Result<Completion, ModelError> {
        let (index, format) = self.formats.current();
        let reply = self
            .transport
            .post("v1/chat/completions", &self.body(request, format), None)
            .await?;
        match reply.status {
            200 => read(&reply.json()?),
            400 | 422 if self.formats.refused(index) => Err(ModelError::FormatRefused),
            _ => Err(ModelError::of_status(&reply)),
        }
    }
}

pub(crate) fn read(body: &Value) -> Result<Completion, ModelError> {
    let choice = body
        .pointer("/choices/0")
        .ok_or_else(|| ModelError::Broken("it has no `choices`".to_owned()))?;
    let message = choice
        .get("message")
        .ok_or_else(|| ModelError::Broken("its choice has no `message`".to_owned()))?;
    let refused = message.get("refusal").is_some_and(Value::is_string);
    let stop = match choice.get("finish_reason").and_then(Value::as_str) {
        _ if refused => Stop::Refusal,
        reason => stop(reason),
    };
    Ok(Completion {
        text: message
            .get("content")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        usage: body.get("usage").and_then(usage),
        cost: None,
        stop,
    })
}

/// What a `finish_reason` means.
pub(crate) fn stop(reason: Option<&str>) -> Stop {
    match reason {
        Some("length") => Stop::Length,
        Some("content_filter") => Stop::Refusal,
        _ => Stop::End,
    }
}

/// Cached tokens are part of `prompt_tokens` here; they are counted separately.
pub(crate) fn usage(usage: &Value) -> Option<TokenUsage> {
    let prompt = usage.get("prompt_tokens")?.as_u64()?;
    let cached = usage
        .pointer("/prompt_tokens_details/cached_tokens")
        .and_then(Value::as_u64)
        .unwrap_or(0)
        .min(prompt);
    Some(TokenUsage {
        input: prompt - cached,
        cache_read: cached,
        output: usage
            .get("completion_tokens")
            .and_then(Value::as_u64)
            .unwrap_or(0),
        ..TokenUsage::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_are_parsed() {
        let body = json!({
            "choices": [{"message": {"content": "{}", "refusal": null}, "finish_reason": "length"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 6}},
        });
        let completion = read(&body).unwrap();
        assert_eq!((completion.text.as_str(), completion.stop), ("{}", Stop::Length));
        let usage = completion.usage.unwrap();
        assert_eq!((usage.input, usage.cache_read, usage.output), (4, 6, 4));
    }

    #[test]
    fn refusals_and_invalid_completions_are_errors() {
        let refused =
            json!({"choices": [{"message": {"content": null, "refusal": "no"}, "finish_reason": "stop"}]});
        assert_eq!(read(&refused).unwrap().stop, Stop::Refusal);
        for body in [
            json!({}),
            json!({"choices": []}),
            json!({"choices": [{}]}),
            json!({"error": {}}),
        ] {
            assert!(matches!(read(&body), Err(ModelError::Broken(_))), "{body}");
        }
    }
}
