//! The lines that the client prints: one JSON object each, the last one the result.

use super::{ClientAnswer, ClientError};
use crate::model::Stop;
use crate::model::anthropic;
use grov_domain::MicroUsd;
use serde::Deserialize;
use serde_json::Value;

/// A line that matters.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    /// The API has begun to answer.
    Begun,
    /// A piece of the answer.
    Text(String),
    /// The answer reached the token limit. The client would go on with another call.
    Cut,
    /// The end.
    End(Result<ClientAnswer, ClientError>),
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
    usage: Option<Value>,
    total_cost_usd: Option<f64>,
    api_error_status: Option<u16>,
}

/// Reads a line.
pub(super) fn line(text: &str) -> Line {
    let Ok(printed) = serde_json::from_str::<Printed>(text) else {
        return Line::Other;
    };
    match printed.kind.as_str() {
        "stream_event" if printed.parent_tool_use_id.is_none() => event(printed.event.as_ref()),
        "result" => Line::End(result(printed)),
        _ => Line::Other,
    }
}

fn event(event: Option<&Value>) -> Line {
    let at = |pointer: &str| event?.pointer(pointer)?.as_str();
    let is_text = at("/delta/type") == Some("text_delta");
    match (at("/delta/text").filter(|_| is_text), at("/delta/stop_reason")) {
        (Some(text), _) => Line::Text(text.to_owned()),
        (None, reason) if anthropic::stop(reason) == Stop::Length => Line::Cut,
        _ => Line::Begun,
    }
}

fn result(printed: Printed) -> Result<ClientAnswer, ClientError> {
    let text = printed.result.unwrap_or_default();
    // Rounded up, and never negative.
    let cost = |dollars: f64| MicroUsd((dollars.max(0.0) * 1e6).ceil() as u64);
    let cost = printed.total_cost_usd.map(cost);
    let stop = anthropic::stop(printed.stop_reason.as_deref());
    // The client reports a refusal as an error. It was an answer, and paid for.
    if printed.is_error == Some(true) && stop != Stop::Refusal {
        let has_cost = cost.is_some_and(|cost| cost > MicroUsd(0));
        return Err(error(&text, printed.api_error_status, has_cost));
    }
    Ok(ClientAnswer {
        text,
        stop,
        usage: printed.usage.as_ref().and_then(anthropic::usage),
        cost,
    })
}

/// The error behind a message of the client. Only what it is about is used: the message may repeat anything.
fn error(message: &str, status: Option<u16>, has_cost: bool) -> ClientError {
    let in_message = message
        .split_once("API Error: ")
        .and_then(|(_, rest)| rest.get(..3)?.parse::<u16>().ok());
    let is_about = |words: &[&str]| words.iter().any(|word| message.contains(word));
    match status.or(in_message) {
        Some(401 | 403) => ClientError::LoggedOut,
        Some(status) => ClientError::Status(status),
        None if is_about(&["/login", "Invalid API key", "authentication", "OAuth"]) => ClientError::LoggedOut,
        // Of a subscription.
        None if is_about(&["usage limit", "hit your"]) => ClientError::Status(429),
        None => ClientError::Failed { has_cost },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn end(value: &Value) -> Result<ClientAnswer, ClientError> {
        match line(&value.to_string()) {
            Line::End(result) => result,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn text_and_result_are_read_and_the_rest_is_not() {
        let delta = json!({"type": "stream_event", "event": {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "a"}}, "parent_tool_use_id": null});
        assert_eq!(line(&delta.to_string()), Line::Text("a".to_owned()));
        let thinking =
            json!({"type": "stream_event", "event": {"delta": {"type": "thinking_delta", "thinking": "hm"}}});
        assert_eq!(line(&thinking.to_string()), Line::Begun);
        for other in ["", "Warning: x", "{}", r#"{"type":"system","subtype":"init"}"#] {
            assert_eq!(line(other), Line::Other);
        }
        let result = json!({"type": "result", "subtype": "success", "is_error": false, "result": "{}", "stop_reason": "end_turn",
            "total_cost_usd": 0.001_234_5, "usage": {"input_tokens": 3, "output_tokens": 2, "cache_read_input_tokens": 7}});
        let answer = end(&result).unwrap();
        assert_eq!((answer.stop, answer.cost), (Stop::End, Some(MicroUsd(1235))));
        let usage = answer.usage.unwrap();
        assert_eq!((usage.input, usage.output, usage.cache_read), (3, 2, 7));
    }

    #[test]
    fn a_cut_is_known_before_the_client_goes_on() {
        for (reason, expected) in [("max_tokens", Line::Cut), ("end_turn", Line::Begun)] {
            let delta = json!({"type": "stream_event", "event": {"type": "message_delta", "delta": {"stop_reason": reason}}});
            assert_eq!(line(&delta.to_string()), expected);
        }
    }

    #[test]
    fn errors_are_known_by_what_they_are_about() {
        let of =
            |message: &str| end(&json!({"type": "result", "is_error": true, "result": message})).unwrap_err();
        assert_eq!(of("API Error: 529 {\"sk-secret\"}"), ClientError::Status(529));
        for message in [
            "Not logged in · Please run /login",
            "Invalid API key · Please run /login",
            "API Error: 401 no",
        ] {
            assert_eq!(of(message), ClientError::LoggedOut, "{message}");
        }
        assert_eq!(
            of("Claude AI usage limit reached|1790000000"),
            ClientError::Status(429)
        );
        assert!(!of("odd sk-secret").to_string().contains("secret"));
        let named = json!({"type": "result", "is_error": true, "result": "Failed to authenticate.", "api_error_status": 403});
        assert_eq!(end(&named), Err(ClientError::LoggedOut));
        let refused = json!({"type": "result", "is_error": true, "result": "API Error: unable", "stop_reason": "refusal",
            "total_cost_usd": 0.003});
        let refused = end(&refused).unwrap();
        assert_eq!(
            (refused.stop, refused.cost),
            (Stop::Refusal, Some(MicroUsd(3_000)))
        );
    }

    proptest! {
        #[test]
        fn any_line_is_read(text in "\\PC{0,80}|\\{\"type\":\"(result|stream_event)\"[\\PC]{0,60}\\}") {
            let _ = line(&text);
        }
    }
}
