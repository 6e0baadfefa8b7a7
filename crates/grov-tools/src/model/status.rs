//! Errors that a provider reports.

use crate::{ErrorKind, ToolError};
use grov_redact::Redactor;
use serde_json::Value;
use std::time::Duration;

/// The most characters of a provider's message that are shown.
const MAX_MESSAGE: usize = 300;

/// The error of a response whose status is not 2xx.
pub fn error(provider: &str, status: u16, retry_after: Option<Duration>, body: &[u8]) -> ToolError {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let message = error_message(&value)
        .map(|message| format!(": {message}"))
        .unwrap_or_default();
    let of = |kind, what: &str| ToolError::new(kind, format!("{provider} {what} (status {status}){message}"));
    match status {
        401 | 403 => of(ErrorKind::Unauthorized, "refused the key").hint(
            "check the key and its rights; it is read from the environment and from .env of Grov's home",
        ),
        408 | 504 => of(ErrorKind::TimedOut, "did not answer in time").hint("call it again"),
        429 => of(ErrorKind::RateLimited, "limits the number of requests")
            .hint(match retry_after {
                Some(pause) => format!("wait {} seconds, then call it again", pause.as_secs()),
                None => "wait a minute, then call it again".to_owned(),
            })
            .after(retry_after),
        432 => of(ErrorKind::PlanLimit, "says that the limit of the plan is reached")
            .hint("wait for the next period, or change the plan with the provider"),
        433 => of(
            ErrorKind::PlanLimit,
            "says that the pay-as-you-go limit is reached",
        )
        .hint("raise the limit with the provider"),
        400..500 => of(ErrorKind::InvalidRequest, "refused the request").hint("check the arguments"),
        503 | 529 => of(ErrorKind::Unreachable, "is overloaded or down")
            .hint("call it again later")
            .after(retry_after),
        300..400 => of(
            ErrorKind::ProviderError,
            "answered with a redirect, which is not followed",
        )
        .hint("check the base address"),
        _ => of(ErrorKind::ProviderError, "failed").hint("call it again later; it may have been billed"),
    }
}

/// The message in the body of an error, redacted and shortened.
pub(crate) fn error_message(body: &Value) -> Option<String> {
    // Streams may wrap an error in a list.
    let body = body.get(0).unwrap_or(body);
    let places = [
        &body["error"]["message"],
        &body["detail"]["error"],
        &body["error"],
        &body["detail"],
        &body["message"],
        &body["error"]["status"],
    ];
    let text = places.into_iter().find_map(Value::as_str)?;
    let redacted = Redactor::shared().redact(text);
    let mut shown: String = redacted.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = shown.char_indices().nth(MAX_MESSAGE) {
        shown.truncate(end);
        shown.push('…');
    }
    (!shown.is_empty()).then_some(shown)
}

/// The error of a response that is not the expected JSON. It may have been cut off.
pub(crate) fn no_json(provider: &str, error: &serde_json::Error) -> ToolError {
    let fault = if error.is_eof() {
        "breaks off: it is half a JSON document"
    } else if error.is_data() {
        "has other fields or types than expected"
    } else {
        "is no JSON"
    };
    ToolError::new(
        ErrorKind::BadAnswer,
        format!(
            "{provider}'s response {fault} (line {}, column {})",
            error.line(),
            error.column()
        ),
    )
    .hint("it may have been billed; check the base address, then call it again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_kinds_and_messages() {
        for (status, body, kind, message) in [
            (
                401,
                r#"{"error":{"message":"bad key"}}"#,
                ErrorKind::Unauthorized,
                "bad key",
            ),
            (
                432,
                r#"{"detail":{"error":"plan limit"}}"#,
                ErrorKind::PlanLimit,
                "plan limit",
            ),
            (433, r#"{"detail":"paygo"}"#, ErrorKind::PlanLimit, "paygo"),
            (
                429,
                r#"[{"error":{"code":429,"message":"exhausted","status":"RESOURCE_EXHAUSTED"}}]"#,
                ErrorKind::RateLimited,
                "exhausted",
            ),
            (400, "<html>", ErrorKind::InvalidRequest, "400"),
            (500, "", ErrorKind::ProviderError, "500"),
            (503, "", ErrorKind::Unreachable, "503"),
        ] {
            let error = error("P", status, None, body.as_bytes());
            assert_eq!(error.kind, kind, "{status}");
            assert!(error.message.contains(message), "{error}");
            assert!(error.hint.is_some());
        }
    }

    #[test]
    fn a_key_in_a_message_is_masked() {
        let body = r#"{"error":{"message":"Incorrect API key provided: sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"}}"#;
        let error = error("P", 401, None, body.as_bytes());
        assert!(!error.message.contains("a1B2c3"), "{error}");
    }
}
