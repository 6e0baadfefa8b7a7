//! Errors as the client receives them.

mod category;
mod redact;

use super::event::ProviderError;
pub use category::ErrorCategory;
use grov_redact::Secret;
pub use redact::{mask_keys, redact_provider_text};
use serde_json::{Value, json};

/// The most bytes of a provider's text that a message repeats.
const MAX_PROVIDER_TEXT: usize = 4096;

/// The words by which the client recognizes that it must compact the conversation.
const TOO_LONG: &str = "prompt is too long";

/// Words of providers for the same.
const TOO_LONG_FOR_PROVIDER: &[&str] = &[
    "context_length_exceeded",
    "maximum context length",
    "context window",
    "exceeds the available context size",
    "prompt is too long",
];

/// An error response: status, type and message of the Messages API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The HTTP status for the client.
    pub status: u16,
    /// The error type of the Messages API.
    pub kind: &'static str,
    /// The class of the error, for the log.
    pub category: ErrorCategory,
    /// The message, redacted, starting with the category in brackets.
    pub message: String,
}

/// The status that a client receives for a status of a provider.
///
/// 200 and 429 stay. Other refusals become 400, because the client would take a 401 or 403 for one of its own account.
/// Everything else becomes 502.
pub fn client_status(provider: u16) -> u16 {
    match provider {
        200 => 200,
        429 => 429,
        400..=499 => 400,
        _ => 502,
    }
}

/// The error body of the Messages API.
pub fn error_body(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

impl Failure {
    /// An answer of a provider with another status than 200.
    pub fn provider(status: u16, body: &[u8]) -> Self {
        let kind = if status == 429 {
            "rate_limit_error"
        } else {
            "api_error"
        };
        let text = provider_message(body);
        let mut failure = Self::new(client_status(status), kind, ErrorCategory::Http(status), &text);
        if client_status(status) == 400 && is_too_long(&String::from_utf8_lossy(body)) {
            failure.kind = "invalid_request_error";
            failure.message = failure.message.replacen("] ", &format!("] {TOO_LONG}: "), 1);
        }
        failure
    }

    /// An error that a provider sent inside an answer with status 200.
    pub fn in_band(error: &ProviderError) -> Self {
        let category = error.status.map_or(ErrorCategory::Internal, ErrorCategory::Http);
        let kind = match error.status {
            Some(429) => "rate_limit_error",
            Some(529) => "overloaded_error",
            _ => "api_error",
        };
        let status = error
            .status
            .filter(|status| *status >= 400)
            .map_or(502, client_status);
        let mut failure = Self::new(status, kind, category, &error.message);
        if is_too_long(&error.message) {
            failure.message = failure.message.replacen("] ", &format!("] {TOO_LONG}: "), 1);
        }
        failure
    }

    /// A provider that could not be reached, or whose answer broke off. The class follows from the message.
    pub fn transport(message: &str) -> Self {
        Self::new(502, "api_error", ErrorCategory::of(message), message)
    }

    /// An answer that is not in the provider's documented form.
    pub fn unreadable(message: &str) -> Self {
        Self::new(502, "api_error", ErrorCategory::Parse, message)
    }

    /// A request of the client that is not in the documented form.
    pub fn bad_request(message: &str) -> Self {
        Self::new(400, "invalid_request_error", ErrorCategory::Translate, message)
    }

    /// A request that a transform could not process.
    pub fn translation(message: &str) -> Self {
        Self::new(500, "api_error", ErrorCategory::Translate, message)
    }

    fn new(status: u16, kind: &'static str, category: ErrorCategory, text: &str) -> Self {
        let text = redact_provider_text(text);
        let text = grov_redact::beginning_of(&text, MAX_PROVIDER_TEXT);
        Self {
            status,
            kind,
            category,
            message: format!("[{category}] {text}"),
        }
    }

    /// The failure with a message that names Grov and the provider and says what to do, for a reader who sees no log.
    pub fn of_provider(mut self, provider: &str) -> Self {
        let Some((category, text)) = self.message.split_once("] ") else {
            return self;
        };
        if !provider.is_empty() && !text.starts_with(SPEAKER) {
            let text = named(provider, self.category, text);
            self.message = format!("{category}] {text}");
        }
        self
    }

    /// The failure with the provider's keys masked in its message.
    pub fn without_keys(mut self, keys: &[Secret]) -> Self {
        self.message = mask_keys(&self.message, keys).into_owned();
        self
    }

    /// The body of the response.
    pub fn body(&self) -> Value {
        error_body(self.kind, &self.message)
    }
}

/// How a message begins that names Grov.
const SPEAKER: &str = "Grov: ";

/// The text of an error with the names of Grov and of the provider, and with what to do.
pub(crate) fn named(provider: &str, category: ErrorCategory, text: &str) -> String {
    // The client looks for these words at the beginning.
    if text.starts_with(TOO_LONG) || is_too_long(text) {
        return format!("{text} (Grov, provider {provider})");
    }
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{SPEAKER}{provider}: {text}{end} {}", category.advice())
}

/// Whether a provider says that the prompt does not fit.
fn is_too_long(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    TOO_LONG_FOR_PROVIDER.iter().any(|words| text.contains(words)) && !text.contains("] prompt is too long")
}

/// The message in the body of a provider's error, or the body.
fn provider_message(body: &[u8]) -> String {
    let message = serde_json::from_slice::<Value>(body)
        .ok()
        .and_then(|value| error_of(&value));
    match message {
        Some(error) if !error.message.is_empty() => error.message,
        _ => String::from_utf8_lossy(body).trim().to_owned(),
    }
}

/// The failure that an error event of a provider reports.
pub fn in_band_failure(data: &[u8]) -> Failure {
    let error = serde_json::from_slice::<Value>(data)
        .ok()
        .and_then(|value| error_of(&value));
    Failure::in_band(&error.unwrap_or_else(|| ProviderError {
        status: None,
        message: String::from_utf8_lossy(data).trim().to_owned(),
    }))
}

/// Reads the error in a provider's JSON, if there is one.
///
/// Known forms: `{"error": {"message", "code"}}`, `{"error": "text"}`, `{"message": "text"}` with a `code` or the object
/// type `error`, and any of them in an array.
pub(crate) fn error_of(value: &Value) -> Option<ProviderError> {
    if let Value::Array(items) = value {
        return items.first().and_then(error_of);
    }
    let object = value.as_object()?;
    let is_error = |value: &Value| !matches!(value, Value::Null | Value::Bool(false)) && value != "";
    if let Some(error) = object.get("error").filter(|error| is_error(error)) {
        return Some(described(error));
    }
    let is_error = object.get("object").is_some_and(|kind| kind == "error")
        || object.get("type").is_some_and(|kind| kind == "error")
        || object.contains_key("code") && object.contains_key("message");
    is_error.then(|| described(value))
}

fn described(error: &Value) -> ProviderError {
    let status = ["code", "status", "status_code"].iter().find_map(|key| {
        let value = error.get(key)?;
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
        u16::try_from(number)
            .ok()
            .filter(|status| (400..600).contains(status))
    });
    let named = || {
        ["type", "code"]
            .iter()
            .find_map(|key| named_status(error.get(key)?.as_str()?))
    };
    let status = status.or_else(named);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut message = text(error)
        .or_else(|| error.get("message").and_then(text))
        .unwrap_or_else(|| error.to_string());
    // What the provider behind a gateway said.
    if let Some(raw) = error.pointer("/metadata/raw").and_then(Value::as_str) {
        message = format!("{message}: {raw}");
    }
    ProviderError { status, message }
}

/// The status that belongs to the type of an error.
fn named_status(kind: &str) -> Option<u16> {
    match kind {
        "rate_limit_error" | "rate_limit_exceeded" => Some(429),
        "overloaded_error" => Some(529),
        "invalid_request_error" => Some(400),
        "authentication_error" => Some(401),
        "permission_error" => Some(403),
        "not_found_error" => Some(404),
        "request_too_large" => Some(413),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_that_does_not_fit_is_named_so_that_the_client_compacts() {
        let body = br#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#;
        let failure = Failure::provider(400, body);
        assert_eq!((failure.status, failure.kind), (400, "invalid_request_error"));
        assert_eq!(
            failure.message,
            "[HTTP_400] prompt is too long: This model's maximum context length is 8192 tokens"
        );
    }

    #[test]
    fn a_failure_names_grov_the_provider_and_what_to_do_once() {
        let failure = Failure::provider(401, br#"{"error":{"message":"wrong key"}}"#);
        let named = failure.clone().of_provider("deepseek").of_provider("deepseek");
        assert_eq!(
            named.message,
            "[HTTP_401] Grov: deepseek: wrong key. Check its key in the provider file; `grov route test LABEL` tries it."
        );
        assert_eq!(failure.clone().of_provider(""), failure);
        let too_long = Failure::provider(400, b"maximum context length").of_provider("p");
        assert!(too_long.message.starts_with("[HTTP_400] prompt is too long: "));
        assert!(too_long.message.ends_with("(Grov, provider p)"));
        for category in [
            ErrorCategory::Connection,
            ErrorCategory::Timeout,
            ErrorCategory::Http(404),
            ErrorCategory::Http(503),
            ErrorCategory::Translate,
            ErrorCategory::Parse,
            ErrorCategory::Internal,
        ] {
            assert!(category.advice().ends_with('.'), "{category}");
        }
    }

    #[test]
    fn the_text_of_a_provider_is_bounded_and_redacted() {
        let body = format!("<html>sk-live-0123456789abcdef {}", "x ".repeat(10_000));
        let failure = Failure::provider(503, body.as_bytes());
        assert_eq!((failure.status, failure.kind), (502, "api_error"));
        assert!(
            failure.message.starts_with("[HTTP_503] <html>sk-[REDACTED] x x"),
            "{}",
            failure.message
        );
        assert!(failure.message.len() <= 4096 + 20);
    }

    #[test]
    fn forms_of_errors() {
        for (text, status, message) in [
            (r#"{"error":{"message":"m","code":"429"}}"#, Some(429), "m"),
            (
                r#"[{"error":{"message":"m","code":503,"status":"UNAVAILABLE"}}]"#,
                Some(503),
                "m",
            ),
            (r#"{"error":"m"}"#, None, "m"),
            (
                r#"{"error":{"type":"rate_limit_error","message":"m"}}"#,
                Some(429),
                "m",
            ),
            (
                r#"{"error":{"type":"overloaded_error","message":"m"}}"#,
                Some(529),
                "m",
            ),
            (r#"{"error":{"type":"api_error","message":"m"}}"#, None, "m"),
            (r#"{"object":"error","message":"m","code":400}"#, Some(400), "m"),
        ] {
            let error = error_of(&serde_json::from_str(text).unwrap()).unwrap();
            assert_eq!(
                (error.status, error.message.as_str()),
                (status, message),
                "{text}"
            );
        }
        assert_eq!(error_of(&json!({"id": "x", "error": null, "choices": []})), None);
    }
}
