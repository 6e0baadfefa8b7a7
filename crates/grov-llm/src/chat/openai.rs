//! Chat completions: the request, the whole answer, and the events of a streamed one.

use super::answer::Partial;
use super::schema::{in_words, is_strict};
use crate::model::{ModelError, openai};
use grov_domain::{ChatPrompt, ChatRole};
use serde_json::{Value, json};

/// The data of the last event.
const DONE: &str = "[DONE]";

/// The path below a base URL that does not end in `/v1`.
pub(super) const PATH: &str = "chat/completions";

/// The path below a base URL without the `/v1` at its end.
pub(super) const VERSIONED_PATH: &str = "v1/chat/completions";

/// How a request is made for this server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Whether the schema is sent for the server to enforce.
    pub(super) has_schema: bool,
    /// Whether usage is asked for in the stream.
    pub(super) has_stream_options: bool,
    /// Whether the server is the vendor's, which wants `max_completion_tokens`; others know only `max_tokens`.
    pub(super) is_vendor: bool,
}

/// The request body.
pub(super) fn body(model: &str, prompt: &ChatPrompt, schema: &Value, shape: Shape) -> Value {
    let system = if shape.has_schema {
        prompt.system.to_string()
    } else {
        in_words(&prompt.system, &prompt.schema)
    };
    let role = |role| match role {
        ChatRole::User => "user",
        ChatRole::Assistant => "assistant",
    };
    let said = prompt.messages.iter();
    let said = said.map(|message| json!({"role": role(message.role), "content": message.text.as_str()}));
    let messages: Vec<Value> = std::iter::once(json!({"role": "system", "content": system}))
        .chain(said)
        .collect();
    let mut body = json!({"model": model, "messages": messages, "stream": true});
    if shape.has_stream_options {
        body["stream_options"] = json!({"include_usage": true});
    }
    let limit = if shape.is_vendor {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    body[limit] = json!(prompt.max_output_tokens);
    if shape.has_schema {
        body["response_format"] = json!({
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": is_strict(schema), "schema": schema},
        });
    }
    body
}

/// A whole answer, from a server that does not stream.
pub(super) fn whole(body: &Value) -> Result<Partial, ModelError> {
    openai::read(body).map(Partial::from)
}

/// Adds an event to the answer. Returns the piece of text that it brings.
pub(super) fn event(data: &str, partial: &mut Partial) -> Result<Option<String>, ModelError> {
    if data.trim() == DONE {
        partial.is_over = true;
        return Ok(None);
    }
    let event: Value = serde_json::from_str(data)
        .map_err(|_| ModelError::Broken("an event of the stream is no JSON".to_owned()))?;
    if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
        return Err(reported(error));
    }
    if let Some(usage) = event.get("usage").and_then(openai::usage) {
        partial.usage = Some(usage);
    }
    let Some(choice) = event.pointer("/choices/0") else {
        return Ok(None);
    };
    let delta = |name: &str| choice.pointer(&format!("/delta/{name}"))?.as_str();
    if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
        partial.stop = partial.stop.or(Some(openai::stop(Some(reason))));
    }
    if delta("refusal").is_some_and(|refusal| !refusal.is_empty()) {
        partial.stop = Some(crate::model::Stop::Refusal);
    }
    let text = delta("content").filter(|text| !text.is_empty());
    partial.text.push_str(text.unwrap_or_default());
    Ok(text.map(str::to_owned))
}

/// An error inside the stream. Its message may repeat anything, so only its number is used.
fn reported(error: &Value) -> ModelError {
    let status = error.get("code").and_then(Value::as_u64);
    match status.and_then(|status| u16::try_from(status).ok()) {
        Some(status @ (429 | 500..=599)) => ModelError::Unavailable {
            status,
            retry_after: None,
        },
        _ => ModelError::Broken("the server reported an error in the middle of it".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Stop;

    fn read(events: &[Value]) -> Result<(Partial, String), ModelError> {
        let mut partial = Partial::default();
        let mut heard = String::new();
        for data in events {
            heard.extend(event(&data.to_string(), &mut partial)?);
        }
        Ok((partial, heard))
    }

    #[test]
    fn deltas_make_the_answer() {
        let (partial, heard) = read(&[
            json!({"choices": [{"delta": {"role": "assistant", "content": ""}, "finish_reason": null}], "usage": null}),
            json!({"choices": [{"delta": {"content": "{\"a\":"}}]}),
            json!({"choices": [{"delta": {"content": "1}"}}]}),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
            json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}}),
        ])
        .unwrap();
        assert_eq!(
            (partial.text.as_str(), heard.as_str()),
            ("{\"a\":1}", "{\"a\":1}")
        );
        assert_eq!(partial.stop, Some(Stop::End));
        assert_eq!(
            partial.usage.map(|usage| (usage.input, usage.output)),
            Some((9, 4))
        );
        assert!(!partial.is_over);
    }

    #[test]
    fn limits_and_refusals_are_seen() {
        let stop = |reason| {
            let event = json!({"choices": [{"delta": {}, "finish_reason": reason}]});
            read(&[event]).unwrap().0.stop
        };
        assert_eq!(stop("length"), Some(Stop::Length));
        assert_eq!(stop("content_filter"), Some(Stop::Refusal));
        let refused = [
            json!({"choices": [{"delta": {"refusal": "I can"}}]}),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
        ];
        assert_eq!(read(&refused).unwrap().0.stop, Some(Stop::Refusal));
    }

    #[test]
    fn errors_inside_the_stream_are_errors_without_their_text() {
        let of = |error: Value| read(&[json!({"error": error})]).unwrap_err();
        let busy = of(json!({"code": 503, "message": "sk-secret"}));
        assert!(matches!(busy, ModelError::Unavailable { status: 503, .. }));
        let other = of(json!({"message": "sk-secret"}));
        assert!(!other.to_string().contains("secret"));
        assert!(event("{", &mut Partial::default()).is_err());
    }
}
