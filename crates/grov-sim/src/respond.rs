//! Responses in the API's format: its headers, its errors, and the bodies with which faults replace them.

use crate::behaviour::{Behaviour, Fault};
use crate::json::Json;
use crate::judge::Dialect;
use crate::message;
use crate::transmit::{Payload, Response};
use crate::validate::Refusal;
use time::OffsetDateTime;
use time::macros::format_description;

/// Builds responses with the API's headers.
pub(crate) struct Writer<'a> {
    request_id: &'a str,
    now: OffsetDateTime,
    dialect: Dialect,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(request_id: &'a str, now: OffsetDateTime, dialect: Dialect) -> Self {
        Self {
            request_id,
            now,
            dialect,
        }
    }

    pub(crate) fn request_id(&self) -> &str {
        self.request_id
    }

    pub(crate) fn headers(&self, content_type: &str) -> Vec<(String, String)> {
        let date = format_description!(
            "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT"
        );
        let reset = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
        let date = self.now.format(date).unwrap_or_default();
        let reset = self.now.format(reset).unwrap_or_default();
        if self.dialect == Dialect::OpenAi {
            return [
                ("date", date.as_str()),
                ("content-type", content_type),
                ("x-request-id", self.request_id),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec();
        }
        [
            ("date", date.as_str()),
            ("content-type", content_type),
            ("request-id", self.request_id),
            (
                "anthropic-organization-id",
                "00000000-0000-4000-8000-000000000000",
            ),
            ("anthropic-ratelimit-requests-limit", "4000"),
            ("anthropic-ratelimit-requests-remaining", "3999"),
            ("anthropic-ratelimit-requests-reset", reset.as_str()),
            ("anthropic-ratelimit-input-tokens-limit", "2000000"),
            ("anthropic-ratelimit-input-tokens-remaining", "1999000"),
            ("anthropic-ratelimit-input-tokens-reset", reset.as_str()),
            ("anthropic-ratelimit-output-tokens-limit", "400000"),
            ("anthropic-ratelimit-output-tokens-remaining", "399000"),
            ("anthropic-ratelimit-output-tokens-reset", reset.as_str()),
            (
                "strict-transport-security",
                "max-age=31536000; includeSubDomains; preload",
            ),
            ("server", "cloudflare"),
            ("cf-cache-status", "DYNAMIC"),
            ("x-robots-tag", "none"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }

    pub(crate) fn response(&self, status: u16, headers: Vec<(String, String)>, payload: Payload) -> Response {
        Response {
            status,
            headers,
            payload,
            behaviour: Behaviour::default(),
        }
    }

    pub(crate) fn json(&self, status: u16, body: &Json) -> Response {
        let payload = Payload::Whole(body.to_string().into_bytes());
        self.response(status, self.headers("application/json"), payload)
    }

    pub(crate) fn error(&self, status: u16, kind: &str, message: &str) -> Response {
        if self.dialect == Dialect::OpenAi {
            return self.json(status, &openai_error(status, message));
        }
        let mut body = message::error_body(kind, message);
        body.set("request_id", self.request_id.into());
        let mut response = self.json(status, &body);
        // The client obeys this header before it looks at the status.
        if status == 429 || status >= 500 {
            response
                .headers
                .push(("x-should-retry".to_owned(), "true".to_owned()));
        }
        response
    }

    pub(crate) fn refusal(&self, refusal: &Refusal) -> Response {
        self.error(refusal.status, refusal.kind, &refusal.message)
    }

    /// An error inside a stream.
    fn error_event(&self) -> Vec<u8> {
        match self.dialect {
            Dialect::Anthropic => message::error_event("overloaded_error", "Overloaded"),
            Dialect::OpenAi => {
                format!("data: {}\n\n", openai_error(503, "The server is overloaded.")).into_bytes()
            }
        }
    }

    /// The response under a behaviour, after faults that replace or damage the body.
    pub(crate) fn deliver(&self, mut response: Response, behaviour: Behaviour) -> Response {
        match behaviour.fault {
            Some(Fault::Status(status)) => {
                let (kind, message) = error_words(status);
                response = self.error(status, kind, message);
                if let Some(seconds) = behaviour.retry_after {
                    response
                        .headers
                        .push(("retry-after".to_owned(), seconds.to_string()));
                }
            }
            Some(Fault::Html) => {
                let page = "<!DOCTYPE html>\n<html><body><h1>Sign in to continue</h1></body></html>\n";
                let headers = self.headers("text/html; charset=utf-8");
                response = self.response(200, headers, Payload::Whole(page.as_bytes().to_vec()));
            }
            Some(Fault::Empty) => response.payload = Payload::Whole(Vec::new()),
            Some(Fault::MalformedLine(events)) => {
                damage(
                    &mut response.payload,
                    events,
                    b"event: content_block_delta\ndata: {\"type\":\"conte\n\n",
                );
            }
            Some(Fault::ErrorEvent(events)) => {
                damage(&mut response.payload, events, &self.error_event());
            }
            _ => {}
        }
        response.behaviour = behaviour;
        response
    }
}

/// An error in the format of OpenAI's API.
fn openai_error(status: u16, message: &str) -> Json {
    let (kind, code) = match status {
        401 => ("invalid_request_error", Some("invalid_api_key")),
        404 => ("invalid_request_error", Some("model_not_found")),
        429 => ("requests", Some("rate_limit_exceeded")),
        500.. => ("server_error", None),
        _ => ("invalid_request_error", None),
    };
    let error = Json::object([
        ("message", message.into()),
        ("type", kind.into()),
        ("param", Json::Null),
        ("code", code.map_or(Json::Null, Json::from)),
    ]);
    Json::object([("error", error)])
}

fn damage(payload: &mut Payload, keep: usize, with: &[u8]) {
    if let Payload::Events(events) = payload {
        events.truncate(keep);
        events.push(with.to_vec());
    }
}

/// Error type and message for a status, as the API has them.
fn error_words(status: u16) -> (&'static str, &'static str) {
    match status {
        400 => (
            "invalid_request_error",
            "The request was refused by the simulation.",
        ),
        401 => ("authentication_error", "invalid x-api-key"),
        403 => (
            "permission_error",
            "Your API key does not have permission to use the specified resource",
        ),
        404 => ("not_found_error", "model: not found"),
        413 => ("request_too_large", "Request exceeds the maximum size"),
        429 => (
            "rate_limit_error",
            "This request would exceed your organization's rate limit.",
        ),
        529 => ("overloaded_error", "Overloaded"),
        _ => ("api_error", "Internal server error"),
    }
}
