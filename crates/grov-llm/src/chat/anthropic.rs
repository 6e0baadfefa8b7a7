//! The Messages API: the request, the whole answer, and the events of a streamed one.

use super::answer::Partial;
use super::schema::in_words;
use crate::model::ModelError;
use crate::model::anthropic::{self, without_bounds};
use grov_domain::{ChatMessage, ChatPrompt, ChatRole};
use serde_json::{Value, json};

/// The path below the base URL.
pub(super) const PATH: &str = "v1/messages";

/// What stands for the beginning of a conversation that begins with the model: the first message must be of the user.
const EARLIER: &str = "(The conversation began earlier.)";

/// The status that belongs to `overloaded_error`.
const OVERLOADED: u16 = 529;

/// The request body.
pub(super) fn body(model: &str, prompt: &ChatPrompt, schema: &Value, has_schema: bool) -> Value {
    let message = |message: &ChatMessage| {
        let role = match message.role {
            ChatRole::User => "user",
            ChatRole::Assistant => "assistant",
        };
        json!({"role": role, "content": message.text.as_str()})
    };
    let mut messages: Vec<Value> = prompt.messages.iter().map(message).collect();
    if prompt
        .messages
        .first()
        .is_some_and(|first| first.role == ChatRole::Assistant)
    {
        messages.insert(0, json!({"role": "user", "content": EARLIER}));
    }
    let mut body = json!({
        "model": model,
        "max_tokens": prompt.max_output_tokens,
        "messages": messages,
        "stream": true,
    });
    if has_schema {
        body["system"] = json!(prompt.system.as_str());
        body["output_config"] = json!({"format": {"type": "json_schema", "schema": without_bounds(schema)}});
    } else {
        body["system"] = json!(in_words(&prompt.system, &prompt.schema));
    }
    body
}

/// A whole answer, from a server that does not stream.
pub(super) fn whole(message: &Value) -> Result<Partial, ModelError> {
    anthropic::read(message).map(Partial::from)
}

/// Adds an event to the answer. Returns the piece of text that it brings.
pub(super) fn event(data: &str, partial: &mut Partial) -> Result<Option<String>, ModelError> {
    let event: Value = serde_json::from_str(data)
        .map_err(|_| ModelError::Broken("an event of the stream is no JSON".to_owned()))?;
    let text_at = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
    match event.get("type").and_then(Value::as_str) {
        Some("message_start") => {
            partial.usage = event.pointer("/message/usage").and_then(anthropic::usage);
        }
        Some("content_block_delta") => {
            let text = text_at("/delta/text").filter(|_| text_at("/delta/type") == Some("text_delta"));
            partial.text.push_str(text.unwrap_or_default());
            return Ok(text.filter(|text| !text.is_empty()).map(str::to_owned));
        }
        Some("message_delta") => {
            if let Some(reason) = text_at("/delta/stop_reason") {
                partial.stop = Some(anthropic::stop(Some(reason)));
            }
            if let Some(output) = event.pointer("/usage/output_tokens").and_then(Value::as_u64) {
                partial.usage.get_or_insert_default().output = output;
            }
        }
        Some("message_stop") => partial.is_over = true,
        Some("error") => return Err(reported(text_at("/error/type"))),
        _ => {}
    }
    Ok(None)
}

/// An error inside the stream. Its message may repeat anything, so only its type is used.
fn reported(kind: Option<&str>) -> ModelError {
    let status = match kind {
        Some("overloaded_error") => OVERLOADED,
        Some("rate_limit_error") => 429,
        Some("api_error") => 500,
        _ => return ModelError::Broken("the server reported an error in the middle of it".to_owned()),
    };
    ModelError::Unavailable {
        status,
        retry_after: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Stop;
    use grov_redact::Redacted;

    #[test]
    fn deltas_make_the_answer() {
        let mut partial = Partial::default();
        let mut heard = String::new();
        for data in [
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1, "cache_read_input_tokens": 3}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "ping"}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "{\"a\""}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": ":1}"}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 12}}),
            json!({"type": "message_stop"}),
        ] {
            heard.extend(event(&data.to_string(), &mut partial).unwrap());
        }
        assert_eq!(
            (partial.text.as_str(), heard.as_str()),
            ("{\"a\":1}", "{\"a\":1}")
        );
        assert_eq!((partial.stop, partial.is_over), (Some(Stop::End), true));
        let usage = partial.usage.unwrap();
        assert_eq!((usage.input, usage.cache_read, usage.output), (7, 3, 12));
    }

    #[test]
    fn errors_inside_the_stream_keep_their_kind() {
        let of = |kind| {
            let data = json!({"type": "error", "error": {"type": kind, "message": "sk-secret"}});
            event(&data.to_string(), &mut Partial::default()).unwrap_err()
        };
        assert!(matches!(
            of("overloaded_error"),
            ModelError::Unavailable { status: 529, .. }
        ));
        let other = of("invalid_request_error");
        assert!(matches!(&other, ModelError::Broken(reason) if !reason.contains("secret")));
    }

    #[test]
    fn the_first_message_is_of_the_user() {
        let said = |role, text: &str| ChatMessage {
            role,
            text: Redacted::of(&text.to_owned()),
        };
        let prompt = ChatPrompt {
            system: Redacted::of(&"s".to_owned()),
            messages: vec![said(ChatRole::Assistant, "a"), said(ChatRole::User, "b")],
            schema: "{}".to_owned(),
            max_output_tokens: 9,
        };
        let body = body("m", &prompt, &json!({}), true);
        let roles: Vec<&str> = body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|m| m["role"].as_str())
            .collect();
        assert_eq!(roles, ["user", "assistant", "user"]);
    }
}
