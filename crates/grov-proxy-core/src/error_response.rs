//! Error responses of the proxy, in the shape of the Messages API.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use std::borrow::Cow;

/// Why the proxy responds itself. Determines status and message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// The request is not valid HTTP.
    BadFraming,
    /// The listener was used as a forward proxy.
    NotAForwardProxy,
    /// `Host` is neither a loopback address nor an allowed host.
    ForeignHost,
    /// `Origin` is a web page from another host.
    ForeignOrigin,
    /// The request has no valid credential of the proxy.
    Unauthenticated,
    /// An admin route was requested from another machine.
    RemoteAdmin,
    /// The client sends too many requests.
    TooMany,
    /// The client speaks plain HTTP although it should use TLS.
    PlainOnTls,
    /// The gatekeeper panicked.
    GatePanicked,
    /// `Host` is not the server of the intercepted connection.
    Misdirected,
    /// The body has a transfer coding besides `chunked`.
    UnknownCoding,
    /// The body is over the limit.
    TooLarge,
    /// The collected bodies have reached their memory limit.
    NoMemory,
    /// Too many clients are connected, and all are busy.
    Full,
    /// The upstream is unreachable, or closed the connection before it responded.
    Unreachable,
    /// The response has a transfer coding besides `chunked`, or a content coding although it has to be translated.
    UnknownResponseCoding,
    /// The upstream changed to a protocol that was not offered.
    WrongProtocol,
    /// The upstream did not respond in time.
    TimedOut,
    /// No admin route has this path.
    UnknownAdminRoute,
    /// An admin route panicked.
    AdminRoutePanicked,
    /// The router panicked, or its route is invalid.
    NoRoute,
    /// The upstream of another provider answered with a redirect, which the client must not follow with its credentials.
    Redirected,
    /// The codec cannot translate the request.
    Untranslatable,
    /// The codec cannot translate the response.
    UntranslatableResponse,
}

/// An exchange that failed before the upstream responded.
pub(crate) struct ExchangeError {
    pub(crate) kind: ErrorKind,
    pub(crate) detail: String,
    /// Whether the client sees the detail.
    is_public: bool,
    /// The response of the embedder, if it has one.
    answer: Option<Box<Response<Bytes>>>,
    /// Headers to add to the response.
    headers: Vec<(HeaderName, HeaderValue)>,
    /// The index of the target at which it failed.
    pub(crate) target: usize,
}

impl ExchangeError {
    pub(crate) fn new(kind: ErrorKind, detail: impl ToString) -> Self {
        Self {
            kind,
            detail: detail.to_string(),
            is_public: false,
            answer: None,
            headers: Vec::new(),
            target: 0,
        }
    }

    /// Like [`ExchangeError::new`], with a detail that the client sees.
    pub(crate) fn with_public_detail(kind: ErrorKind, detail: impl ToString) -> Self {
        Self {
            is_public: true,
            ..Self::new(kind, detail)
        }
    }

    /// Sets the response, if there is one.
    pub(crate) fn answered_with(mut self, answer: Option<Response<Bytes>>) -> Self {
        self.answer = answer.map(Box::new);
        self
    }

    /// Sets the index of the target.
    pub(crate) fn at_target(mut self, index: usize) -> Self {
        self.target = index;
        self
    }

    /// Adds headers to the response.
    pub(crate) fn with_headers(mut self, headers: &[(HeaderName, HeaderValue)]) -> Self {
        self.headers.extend_from_slice(headers);
        self
    }

    /// Returns the response. `request_id` is also in the log line.
    pub(crate) fn into_response(self, request_id: &str) -> Response<Bytes> {
        let detail = self.is_public.then_some(self.detail.as_str());
        let mut response = match self.answer {
            Some(answer) => *answer,
            None => self.kind.response(detail),
        };
        let headers = response.headers_mut();
        for (name, value) in self.headers {
            headers.insert(name, value);
        }
        if let Ok(value) = HeaderValue::from_str(request_id) {
            headers.insert("x-grov-request-id", value);
        }
        response
    }
}

impl From<hyper::Error> for ExchangeError {
    /// A user error of hyper is an error of the client's body. Other errors come from the upstream.
    fn from(error: hyper::Error) -> Self {
        let kind = if error.is_user() {
            ErrorKind::BadFraming
        } else {
            ErrorKind::Unreachable
        };
        Self::new(kind, error)
    }
}

impl ErrorKind {
    /// Returns whether the gatekeeper refused the request.
    pub(crate) fn is_refusal(self) -> bool {
        matches!(
            self,
            Self::Unauthenticated | Self::RemoteAdmin | Self::TooMany | Self::PlainOnTls
        )
    }

    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::BadFraming | Self::NotAForwardProxy | Self::Untranslatable | Self::PlainOnTls => {
                StatusCode::BAD_REQUEST
            }
            Self::Unauthenticated => StatusCode::UNAUTHORIZED,
            Self::ForeignHost | Self::ForeignOrigin | Self::RemoteAdmin => StatusCode::FORBIDDEN,
            Self::Misdirected => StatusCode::MISDIRECTED_REQUEST,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Self::UnknownCoding => StatusCode::NOT_IMPLEMENTED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NoMemory | Self::Full => StatusCode::SERVICE_UNAVAILABLE,
            Self::Unreachable
            | Self::UnknownResponseCoding
            | Self::WrongProtocol
            | Self::UntranslatableResponse
            | Self::Redirected => StatusCode::BAD_GATEWAY,
            Self::TimedOut => StatusCode::GATEWAY_TIMEOUT,
            Self::UnknownAdminRoute => StatusCode::NOT_FOUND,
            Self::AdminRoutePanicked | Self::NoRoute | Self::GatePanicked => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::BadFraming
            | Self::NotAForwardProxy
            | Self::Misdirected
            | Self::UnknownCoding
            | Self::Untranslatable
            | Self::PlainOnTls => "invalid_request_error",
            Self::Unauthenticated => "authentication_error",
            Self::ForeignHost | Self::ForeignOrigin | Self::RemoteAdmin => "permission_error",
            Self::TooMany => "rate_limit_error",
            Self::TooLarge => "request_too_large",
            // Not `overloaded_error`: a client may switch the model for it.
            Self::NoMemory
            | Self::Full
            | Self::Unreachable
            | Self::UnknownResponseCoding
            | Self::WrongProtocol
            | Self::AdminRoutePanicked
            | Self::GatePanicked
            | Self::NoRoute
            | Self::Redirected
            | Self::UntranslatableResponse => "api_error",
            Self::TimedOut => "timeout_error",
            Self::UnknownAdminRoute => "not_found_error",
        }
    }

    /// Returns the message for the client. Details are in the log line with the same request id.
    fn message(self) -> &'static str {
        match self {
            Self::BadFraming => "grov-proxyd: the request is not valid HTTP/1.1.",
            Self::NotAForwardProxy => {
                "grov-proxyd: this port takes API requests (ANTHROPIC_BASE_URL), not forward-proxy requests. \
                 Add 127.0.0.1 and localhost to NO_PROXY."
            }
            Self::ForeignHost => {
                "grov-proxyd: the Host header is neither a loopback address nor in proxy.allowed_hosts."
            }
            Self::Misdirected => {
                "grov-proxyd: the Host header names another server than the one that this connection was opened to."
            }
            Self::ForeignOrigin => "grov-proxyd: web pages from other hosts cannot use this proxy.",
            Self::Unauthenticated => {
                "grov-proxyd: the header x-grov-token is missing, or its token is wrong, expired or revoked. \
                 `grov token create NAME` on the proxy's machine creates one."
            }
            Self::RemoteAdmin => "grov-proxyd: paths below /_grov/ are served on the proxy's machine only.",
            Self::TooMany => "grov-proxyd: too many requests. Try again after the time in Retry-After.",
            Self::PlainOnTls => "grov-proxyd: this port speaks HTTPS. Use https:// in the base URL.",
            Self::GatePanicked => "grov-proxyd: the request could not be checked. See the log for details.",
            Self::UnknownCoding => {
                "grov-proxyd: chunked is the only supported transfer coding. Send the body without other codings."
            }
            Self::NoMemory => {
                "grov-proxyd: the request bodies in memory have reached their limit. Try again in a moment."
            }
            Self::Full => {
                "grov-proxyd: too many clients are connected and all are busy. Try again in a moment."
            }
            Self::UnknownResponseCoding => {
                "grov-proxyd: the upstream responded with an unsupported transfer or content coding."
            }
            Self::WrongProtocol => {
                "grov-proxyd: the upstream changed to a protocol that was not offered to it."
            }
            Self::TooLarge => {
                "grov-proxyd: the request body is larger than proxy.body_limit, which `grov config set proxy.body_limit` raises."
            }
            Self::Unreachable => "grov-proxyd: the upstream is unreachable or closed the connection.",
            Self::TimedOut => "grov-proxyd: the upstream did not respond in time.",
            Self::UnknownAdminRoute => "grov-proxyd: no such admin route.",
            Self::AdminRoutePanicked => "grov-proxyd: an admin route failed. See the log for details.",
            Self::NoRoute => "grov-proxyd: no upstream was found for the request.",
            Self::Redirected => "grov-proxyd: the upstream answered with a redirect, which is not followed.",
            Self::Untranslatable => "grov-proxyd: the request cannot be translated for its upstream.",
            Self::UntranslatableResponse => "grov-proxyd: the upstream's response cannot be translated.",
        }
    }

    /// Returns the body, in the error shape of the Messages API.
    pub(crate) fn body(self, detail: Option<&str>) -> Bytes {
        let message = self.message();
        let message = match detail {
            None => Cow::Borrowed(message),
            Some(detail) if self == Self::Unreachable => {
                format!("grov-proxyd: the upstream is unreachable: {detail}.").into()
            }
            Some(detail) => format!("{message} {detail}").into(),
        };
        let shape = serde_json::json!({
            "type": "error",
            "error": { "type": self.kind(), "message": message },
        });
        Bytes::from(shape.to_string())
    }

    fn response(self, detail: Option<&str>) -> Response<Bytes> {
        let mut response = Response::new(self.body(detail));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(
            http::header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        if matches!(
            self,
            Self::TooLarge
                | Self::BadFraming
                | Self::UnknownCoding
                | Self::NoMemory
                | Self::Full
                | Self::PlainOnTls
        ) {
            headers.insert(http::header::CONNECTION, HeaderValue::from_static("close"));
        }
        if self == Self::Unauthenticated {
            // The client would try again, or log in anew with the upstream.
            headers.insert("x-should-retry", HeaderValue::from_static("false"));
        }
        if self.status() == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(http::header::RETRY_AFTER, HeaderValue::from_static("1"));
            // The client checks this before the status.
            headers.insert("x-should-retry", HeaderValue::from_static("true"));
        }
        response
    }
}

/// Returns a short id, unique within this process.
pub(crate) fn request_id() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let ordinal = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("grov-{:x}-{ordinal:x}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreachable_upstream_is_named_with_the_reason() {
        let detail = "cannot connect to localhost:9: connection refused";
        let error = ExchangeError::with_public_detail(ErrorKind::Unreachable, detail);
        let response = error.into_response("grov-1-2");
        let value: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
        assert_eq!(
            value["error"]["message"],
            format!("grov-proxyd: the upstream is unreachable: {detail}.")
        );
    }

    #[test]
    fn errors_have_the_shape_of_the_messages_api() {
        for kind in [
            ErrorKind::BadFraming,
            ErrorKind::UnknownCoding,
            ErrorKind::TooLarge,
            ErrorKind::NoMemory,
            ErrorKind::Full,
            ErrorKind::Unreachable,
            ErrorKind::UnknownResponseCoding,
            ErrorKind::TimedOut,
        ] {
            let response = ExchangeError::new(kind, "").into_response("grov-1-2");
            let value: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
            assert_eq!(value["type"], "error");
            assert!(value["error"]["type"].is_string());
            assert!(value["error"]["message"].is_string());
            assert_eq!(response.headers()["x-grov-request-id"], "grov-1-2");
        }
        assert_eq!(ErrorKind::UnknownCoding.status(), 501);
        assert_eq!(ErrorKind::TooLarge.status(), 413);
        assert_eq!(ErrorKind::NoMemory.status(), 503);
        let full = ErrorKind::Full.response(None);
        assert_eq!(full.headers()["retry-after"], "1");
        assert_eq!(full.headers()["x-should-retry"], "true");
        assert_eq!(ErrorKind::Unreachable.status(), 502);
        assert_eq!(ErrorKind::TimedOut.status(), 504);
    }
}
