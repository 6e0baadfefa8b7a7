//! Errors as `application/problem+json` (RFC 9457).

use axum::response::{IntoResponse, Response};
use grov_agent::{AgentStoreError, ChatFailed, IngestFailed, ReportRefused};
use grov_domain::ChatError;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// What kind of error it is. A client decides by this, never by the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// 401: the key is missing, wrong or revoked.
    Unauthorized,
    /// 403: the key may not do this, or the request comes from a foreign web page.
    Forbidden,
    /// 404: it does not exist, or the key may not see it.
    NotFound,
    /// 405: the path has no such method.
    MethodNotAllowed,
    /// 409: the state of things forbids it.
    Conflict,
    /// 422: the request does not hold; `errors` says where.
    Invalid,
    /// 413: the body is too large.
    TooLarge,
    /// 415: the media type is not supported.
    UnsupportedMediaType,
    /// 429: too many requests; `Retry-After` says when.
    RateLimited,
    /// 502: the chat provider gave no answer.
    ProviderFailed,
    /// 503: the service cannot answer at present; the same request may succeed later.
    Unavailable,
}

impl Code {
    fn status(self) -> StatusCode {
        match self {
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Conflict => StatusCode::CONFLICT,
            Self::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Self::ProviderFailed => StatusCode::BAD_GATEWAY,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Unauthorized => "The key is missing or not valid",
            Self::Forbidden => "Not allowed",
            Self::NotFound => "Not found",
            Self::MethodNotAllowed => "The path has no such method",
            Self::Conflict => "Not possible in the present state",
            Self::Invalid => "The request does not hold",
            Self::TooLarge => "Too large",
            Self::UnsupportedMediaType => "Media type not supported",
            Self::RateLimited => "Too many requests",
            Self::ProviderFailed => "The chat provider gave no answer",
            Self::Unavailable => "Not available at present",
        }
    }

    fn urn(self) -> &'static str {
        match self {
            Self::Unauthorized => "urn:grov:problem:unauthorized",
            Self::Forbidden => "urn:grov:problem:forbidden",
            Self::NotFound => "urn:grov:problem:not_found",
            Self::MethodNotAllowed => "urn:grov:problem:method_not_allowed",
            Self::Conflict => "urn:grov:problem:conflict",
            Self::Invalid => "urn:grov:problem:invalid",
            Self::TooLarge => "urn:grov:problem:too_large",
            Self::UnsupportedMediaType => "urn:grov:problem:unsupported_media_type",
            Self::RateLimited => "urn:grov:problem:rate_limited",
            Self::ProviderFailed => "urn:grov:problem:provider_failed",
            Self::Unavailable => "urn:grov:problem:unavailable",
        }
    }
}

/// A place in a request that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// A JSON pointer into the body, or the name of a query parameter, header or form field.
    pub path: String,
    /// What does not hold.
    pub message: String,
}

/// The body of an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody {
    /// Names the kind of problem.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The kind in words.
    pub title: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// What happened, what it means, and what to do.
    pub detail: String,
    /// The kind for programs.
    pub code: Code,
    /// With `invalid`: what does not hold, and where.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub errors: Vec<FieldError>,
    /// Seconds after which the same request may succeed; also the header `Retry-After`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

/// An error on its way to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    code: Code,
    detail: String,
    errors: Vec<FieldError>,
    retry_after: Option<Duration>,
}

impl Problem {
    /// Creates an error.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            errors: Vec::new(),
            retry_after: None,
        }
    }

    /// It does not exist, or the caller may not see it.
    pub fn not_found(what: &str) -> Self {
        Self::new(Code::NotFound, format!("there is no such {what}"))
    }

    /// One field does not hold.
    pub fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::invalid_fields(vec![FieldError {
            path: path.into(),
            message: message.into(),
        }])
    }

    /// Several fields do not hold.
    pub fn invalid_fields(errors: Vec<FieldError>) -> Self {
        let first = errors.first().map(|error| match error.path.as_str() {
            "" => error.message.clone(),
            path => format!("{path}: {}", error.message),
        });
        let more = match errors.len() {
            0 | 1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let first = first.unwrap_or_else(|| "the request does not hold".to_owned());
        let rest = if first.contains("; nothing was ") {
            ""
        } else {
            "; nothing was changed"
        };
        Self {
            detail: format!("{first}{more}{rest}"),
            errors,
            ..Self::new(Code::Invalid, "")
        }
    }

    /// Adds the pause after which the request may be sent again.
    #[must_use]
    pub fn retry_after(self, pause: Duration) -> Self {
        Self {
            retry_after: Some(pause),
            ..self
        }
    }

    /// Adds a sentence about what holds nevertheless.
    #[must_use]
    pub fn with_note(mut self, note: &str) -> Self {
        self.detail = format!("{}; {note}", self.detail.trim_end_matches("; nothing was stored"));
        self
    }

    /// The service cannot answer at present.
    pub fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(Code::Unavailable, detail).retry_after(Duration::from_secs(2))
    }

    /// The kind.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        self.code.status()
    }

    /// The body.
    pub fn into_body(self) -> ProblemBody {
        ProblemBody {
            kind: self.code.urn(),
            title: self.code.title(),
            status: self.code.status().as_u16(),
            detail: self.detail,
            code: self.code,
            errors: self.errors,
            // Rounded up: a client that waits for the whole time must not be early.
            retry_after: self
                .retry_after
                .map(|pause| (pause.as_secs() + u64::from(pause.subsec_nanos() > 0)).max(1)),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, code) = (self.status(), self.code);
        let body = self.into_body();
        let json = serde_json::to_vec(&body).unwrap_or_default();
        let mut response = (status, json).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        if code == Code::Unauthorized {
            let scheme = HeaderValue::from_static("ApiKey header=\"X-AGENT-KEY\"");
            headers.insert(header::WWW_AUTHENTICATE, scheme);
        }
        if let Some(seconds) = body.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<AgentStoreError> for Problem {
    fn from(error: AgentStoreError) -> Self {
        match error {
            AgentStoreError::NotFound(what) => Self::not_found(what),
            AgentStoreError::Conflict(detail) => Self::new(Code::Conflict, detail),
            AgentStoreError::ReportRefused(refused) => Self::from(refused),
            AgentStoreError::ChangeRefused(refused) => Self::new(Code::Conflict, refused.to_string()),
            // The words of a database may repeat what it was given, so only the log has them.
            AgentStoreError::Unavailable(reason) => {
                tracing::warn!(reason, "the database is not available");
                Self::unavailable("the database is not available at present; try again in a moment")
            }
            AgentStoreError::NotWritable(reason) => {
                tracing::error!(reason, "the database cannot be written");
                Self::unavailable(
                    "the database cannot be written, because the disk is full or permission is denied; nothing was \
                     changed",
                )
                .retry_after(Duration::from_secs(30))
            }
            error => {
                tracing::error!(%error, "the database failed");
                Self::unavailable("the database failed; the log of the service says why")
            }
        }
    }
}

impl From<ReportRefused> for Problem {
    fn from(refused: ReportRefused) -> Self {
        Self::new(Code::Conflict, refused.to_string())
    }
}

impl From<IngestFailed> for Problem {
    fn from(failed: IngestFailed) -> Self {
        match failed {
            IngestFailed::Store(error) => Self::from(error),
            IngestFailed::TooLarge(detail) => Self::new(Code::TooLarge, detail),
            IngestFailed::Invalid(detail) => Self::invalid("/content", detail),
            failed @ IngestFailed::Unsupported(_) => {
                Self::new(Code::UnsupportedMediaType, failed.to_string())
            }
            failed => Self::invalid("/content", failed.to_string()),
        }
    }
}

impl From<ChatFailed> for Problem {
    fn from(failed: ChatFailed) -> Self {
        match failed {
            ChatFailed::Store(error) => Self::from(error),
            ChatFailed::Invalid { path, message } => Self::invalid(path, message),
            ChatFailed::Provider(error) => {
                tracing::warn!(%error, "the chat provider gave no answer");
                let pause = match &error {
                    ChatError::Unavailable { retry_after, .. } => *retry_after,
                    _ => None,
                };
                let problem = Self::new(Code::ProviderFailed, format!("{error}; nothing was stored"));
                pause.into_iter().fold(problem, Self::retry_after)
            }
            failed => {
                tracing::error!(error = %failed, "a chat failed");
                Self::unavailable("the chat failed; the log of the service says why")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_rounded_up() {
        let problem = Problem::unavailable("x").retry_after(Duration::from_millis(1_200));
        let response = problem.into_response();
        assert_eq!(response.headers()["retry-after"], "2");
        assert_eq!(response.headers()["content-type"], "application/problem+json");
    }

    #[test]
    fn the_words_of_a_database_stay_in_the_log() {
        let problem = Problem::from(AgentStoreError::Other("secret words".to_owned()));
        assert_eq!(problem.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(!problem.into_body().detail.contains("secret"));
    }

    #[test]
    fn several_errors_are_counted_in_the_detail() {
        let error = |path: &str| FieldError {
            path: path.to_owned(),
            message: "is missing".to_owned(),
        };
        let body = Problem::invalid_fields(vec![error("/a"), error("/b")]).into_body();
        assert_eq!((body.status, body.errors.len()), (422, 2));
        assert!(
            body.detail.starts_with("/a: is missing (and 1 more)"),
            "{}",
            body.detail
        );
    }
}
