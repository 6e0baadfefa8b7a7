//! Responses that are made here, without asking a model.

use serde_json::{Value, json};

/// The id of the answer to a marked request without a provider file.
const STUB_ID: &str = "msg_stub_local_route";

/// A response that is made here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The value of `content-type`.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl LocalAnswer {
    fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            content_type: "application/json",
            body: body.to_string().into_bytes(),
        }
    }

    /// An error in the form of the Messages API, such as (400, `invalid_request_error`).
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let error = json!({"type": kind, "message": message});
        Self::json(status, &json!({"type": "error", "error": error}))
    }

    /// The answer to a request for a label that the provider file does not have. `problem` is what is wrong with the newest
    /// version of the file, if an older one is in use.
    pub fn unknown_label(label: &str, nearest: Option<&str>, problem: Option<&str>) -> Self {
        let advice = match nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "`grov route list` shows the labels".to_owned(),
        };
        let mut message = format!("Grov: the provider file has no model `{label}` ({advice})");
        if let Some(problem) = problem {
            message.push_str(&format!(
                ". An older version of the file is in use, because the newest one has a problem: {problem}. \
                 `grov route check` shows all problems"
            ));
        }
        Self::error(400, "invalid_request_error", &message)
    }

    /// The answer to a request for a token count.
    pub fn token_count(tokens: u64) -> Self {
        Self::json(200, &json!({"input_tokens": tokens}))
    }

    /// The answer to a marked request if there is no provider file.
    pub fn stub(label: &str, stream: bool) -> Self {
        let text = format!(
            "Grov: this agent is marked for the model `{label}`, but there is no provider file. \
             Create one with `grov route add`."
        );
        let message = |content: Value, stop_reason: Option<&str>, output_tokens: u64| {
            json!({
                "id": STUB_ID, "type": "message", "role": "assistant", "model": label, "content": content,
                "stop_reason": stop_reason, "stop_sequence": null,
                "usage": {"input_tokens": 0, "output_tokens": output_tokens},
            })
        };
        if !stream {
            let content = json!([{"type": "text", "text": text}]);
            return Self::json(200, &message(content, Some("end_turn"), 1));
        }
        let events = [
            json!({"type": "message_start", "message": message(json!([]), None, 0)}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({
                "type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},
                "usage": {"output_tokens": 1},
            }),
            json!({"type": "message_stop"}),
        ];
        let event = |event: &Value| {
            format!(
                "event: {}\ndata: {event}\n\n",
                event["type"].as_str().unwrap_or_default()
            )
        };
        Self {
            status: 200,
            content_type: "text/event-stream",
            body: events.iter().map(event).collect::<String>().into_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stub_names_the_label_in_both_forms() {
        let answer = LocalAnswer::stub("fast", false);
        let body: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(body["id"], STUB_ID);
        assert_eq!(body["usage"], json!({"input_tokens": 0, "output_tokens": 1}));
        assert!(body["content"][0]["text"].as_str().unwrap().contains("`fast`"));

        let stream = String::from_utf8(LocalAnswer::stub("fast", true).body).unwrap();
        let names: Vec<&str> = stream
            .lines()
            .filter_map(|line| line.strip_prefix("event: "))
            .collect();
        assert_eq!(
            names,
            [
                "message_start",
                "content_block_start",
                "content_block_delta",
                "content_block_stop",
                "message_delta",
                "message_stop"
            ]
        );
        assert!(stream.contains(STUB_ID) && stream.ends_with("\n\n"));
    }

    #[test]
    fn an_unknown_label_is_an_invalid_request() {
        let answer = LocalAnswer::unknown_label("fsat", Some("fast"), None);
        let body: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(answer.status, 400);
        assert_eq!(body["error"]["type"], "invalid_request_error");
        assert!(
            body["error"]["message"]
                .as_str()
                .unwrap()
                .contains("did you mean `fast`?")
        );
        let answer = LocalAnswer::unknown_label("new", None, Some("line 3: invalid YAML"));
        let text = String::from_utf8(answer.body).unwrap();
        assert!(
            text.contains("older version") && text.contains("line 3: invalid YAML"),
            "{text}"
        );
    }
}
