//! The lines that the client prints: one JSON object each, the last one the result.

use grov_domain::{ChatCompletion, ChatError, MicroUsd, TokenUsage};
use serde::Deserialize;
use serde_json::Value;

/// A line that matters.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    /// A piece of the answer.
    Text(String),
    /// The end.
    Result(Result<ChatCompletion, ChatError>),
    /// Anything else.
    Other,
}

#[derive(Deserialize)]
struct Printed {
    #[serde(rename = "type")]
    kind: String,
    /// Of `stream_event`: an event as the API sends it.
    event: Option<Value>,
    /// Of a subagent: none runs without tools.
    parent_tool_use_id: Option<String>,
    is_error: Option<bool>,
    result: Option<String>,
    stop_reason: Option<String>,
    usage: Option<Usage>,
    total_cost_usd: Option<f64>,
    api_error_status: Option<u16>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
}

/// Reads a line.
pub(super) fn line(text: &str) -> Line {
    let Ok(printed) = serde_json::from_str::<Printed>(text) else {
        return Line::Other;
    };
    match printed.kind.as_str() {
        "stream_event" if printed.parent_tool_use_id.is_none() => {
            let at = |pointer: &str| printed.event.as_ref()?.pointer(pointer)?.as_str();
            match at("/delta/text").filter(|_| at("/delta/type") == Some("text_delta")) {
                Some(text) => Line::Text(text.to_owned()),
                None => Line::Other,
            }
        }
        "result" => Line::Result(result(printed)),
        _ => Line::Other,
    }
}

fn result(printed: Printed) -> Result<ChatCompletion, ChatError> {
    let text = printed.result.unwrap_or_default();
    if printed.is_error == Some(true) {
        return Err(error(&text, printed.api_error_status));
    }
    match printed.stop_reason.as_deref() {
        Some("refusal") => return Err(ChatError::Refused),
        Some("max_tokens") => {
            let reason = "it was cut off; raise agent.max_output_tokens";
            return Err(ChatError::Broken(reason.to_owned()));
        }
        _ if text.trim().is_empty() => return Err(ChatError::Broken("it has no text".to_owned())),
        _ => {}
    }
    let usage = printed
        .usage
        .map_or_else(TokenUsage::default, |usage| TokenUsage {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cache_read: usage.cache_read_input_tokens,
            cache_creation: usage.cache_creation_input_tokens,
            ..TokenUsage::default()
        });
    // Rounded up, and never negative.
    let cost = |dollars: f64| MicroUsd((dollars.max(0.0) * 1e6).ceil() as u64);
    Ok(ChatCompletion {
        text,
        usage,
        cost: printed.total_cost_usd.map(cost),
    })
}

/// The error behind a message of the client. Only what it is about is used: the message may repeat anything.
fn error(message: &str, status: Option<u16>) -> ChatError {
    let in_message = message
        .split_once("API Error: ")
        .and_then(|(_, rest)| rest.get(..3)?.parse::<u16>().ok());
    let about_login = ["/login", "Invalid API key", "authentication", "OAuth"];
    match status.or(in_message) {
        Some(401 | 403) => logged_out(),
        Some(status @ (408 | 429 | 500..=599)) => ChatError::Unavailable {
            reason: format!("status {status}"),
            retry_after: None,
        },
        Some(status) => ChatError::Rejected(format!("status {status}")),
        None if about_login.iter().any(|word| message.contains(word)) => logged_out(),
        None => super::unavailable("the client reported an error; run `claude -p hello` to see it"),
    }
}

fn logged_out() -> ChatError {
    ChatError::Rejected(
        "the client is not logged in; run `claude` as the user of grov-agentd and log in".to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn end(value: &Value) -> Result<ChatCompletion, ChatError> {
        match line(&value.to_string()) {
            Line::Result(result) => result,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn text_and_result_are_read_and_the_rest_is_not() {
        let delta = json!({"type": "stream_event", "event": {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "a"}}, "parent_tool_use_id": null});
        assert_eq!(line(&delta.to_string()), Line::Text("a".to_owned()));
        let thinking =
            json!({"type": "stream_event", "event": {"delta": {"type": "thinking_delta", "thinking": "hm"}}});
        assert_eq!(line(&thinking.to_string()), Line::Other);
        for other in ["", "Warning: x", "{}", r#"{"type":"system","subtype":"init"}"#] {
            assert_eq!(line(other), Line::Other);
        }
        let result = json!({"type": "result", "subtype": "success", "is_error": false, "result": "{}", "stop_reason": "end_turn",
            "total_cost_usd": 0.001_234_5, "usage": {"input_tokens": 3, "output_tokens": 2, "cache_read_input_tokens": 7}});
        let completion = end(&result).unwrap();
        assert_eq!(completion.cost, Some(MicroUsd(1235)));
        assert_eq!((completion.usage.input, completion.usage.cache_read), (3, 7));
    }

    #[test]
    fn errors_are_known_by_what_they_are_about() {
        let of =
            |message: &str| end(&json!({"type": "result", "is_error": true, "result": message})).unwrap_err();
        assert!(matches!(
            of("API Error: 529 {\"sk-secret\"}"),
            ChatError::Unavailable { .. }
        ));
        assert!(matches!(of("API Error: 400 sk-secret"), ChatError::Rejected(_)));
        for message in ["Invalid API key · Please run /login", "API Error: 401 no"] {
            assert!(of(message).to_string().contains("not logged in"), "{message}");
        }
        assert!(!of("odd sk-secret").to_string().contains("secret"));
        let cut = json!({"type": "result", "result": "{", "stop_reason": "max_tokens"});
        assert!(matches!(end(&cut), Err(ChatError::Broken(_))));
    }

    proptest! {
        #[test]
        fn any_line_is_read(text in "\\PC{0,80}|\\{\"type\":\"(result|stream_event)\"[\\PC]{0,60}\\}") {
            let _ = line(&text);
        }
    }
}
