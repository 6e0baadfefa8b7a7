//! Responses that are made here, without asking a provider.

use bytes::Bytes;
use grov_proxy_core::{Answer, Route};
use grov_route::translate::Failure;
use grov_route::{LocalAnswer, Problem, count_tokens};
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use std::path::Path;
use std::sync::Arc;

use crate::plan::AllOpen;
use crate::provider::Provider;

/// The header that tells which model a request was routed to.
pub(crate) const ROUTE_HEADER: HeaderName = HeaderName::from_static("x-grov-route");

/// Returns the value of [`ROUTE_HEADER`], or `None` if the label cannot be written in a header.
pub(crate) fn route_header(label: &str, answered_by: &str, reason: &str) -> Option<HeaderValue> {
    HeaderValue::from_bytes(format!("{label}; {answered_by}; {reason}").as_bytes()).ok()
}

/// Returns a response with the route header.
pub(crate) fn response(answer: LocalAnswer, label: &str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(answer.body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(answer.content_type),
    );
    if let Some(value) = route_header(label, "grov", "answered locally") {
        headers.insert(ROUTE_HEADER, value);
    }
    response
}

/// Returns the response for a failure.
pub(crate) fn failure(failure: &Failure) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(failure.body().to_string()));
    *response.status_mut() = StatusCode::from_u16(failure.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// Returns the answer to a marked request while the provider file has problems and there was no good one before.
pub(crate) fn broken_file(path: Option<&Path>, problems: &[Problem]) -> LocalAnswer {
    let path = path.map(|path| path.display().to_string()).unwrap_or_default();
    let problem = problems.first().map(ToString::to_string).unwrap_or_default();
    let message = format!(
        "Grov: the provider file {path} cannot be used: {problem}. `grov route check` shows all problems."
    );
    LocalAnswer::error(400, "invalid_request_error", &message)
}

/// Returns the answer to a request whose models cannot be used.
pub(crate) fn unusable(reason: &str) -> LocalAnswer {
    LocalAnswer::error(400, "invalid_request_error", &format!("Grov: {reason}."))
}

/// Returns the answer to a request that would take too much memory to translate.
pub(crate) fn too_many_values() -> LocalAnswer {
    let message = "Grov: the request has too many JSON values to be translated for another model.";
    LocalAnswer::error(413, "request_too_large", message)
}

/// Returns the answer to a marked request that is no valid JSON.
pub(crate) fn unreadable() -> LocalAnswer {
    let message = "Grov: the request is marked for another model but unreadable: its body is no valid JSON.";
    LocalAnswer::error(400, "invalid_request_error", message)
}

/// Returns the answer to a routed request for anything but a message or a token count.
pub(crate) fn unsupported(path: &str) -> LocalAnswer {
    let message = format!(
        "Grov: {path} cannot be routed to another model, only /v1/messages and its count_tokens can."
    );
    LocalAnswer::error(400, "invalid_request_error", &message)
}

/// Returns the response while the circuit of every target is open.
pub(crate) fn circuit_open(label: &str, open: &AllOpen) -> Response<Bytes> {
    let seconds = open.remaining.as_secs() + 1;
    let providers = &open.providers;
    let reason = match open.are_limited {
        true => "[HTTP_429] Grov: the request limit is reached at",
        false => "[CONNECTION] Grov: several requests in a row failed at",
    };
    let message = format!(
        "{reason} {providers}; requests are sent again in {seconds} s. A `fallback` of the label would answer meanwhile."
    );
    let mut response = response(LocalAnswer::error(503, "api_error", &message), label);
    let headers = response.headers_mut();
    headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    // The client checks this before the status.
    headers.insert("x-should-retry", HeaderValue::from_static("true"));
    response
}

/// Returns the route of a request for a token count.
pub(crate) fn token_count(body: Bytes, label: String, provider: Option<Arc<Provider>>) -> Route {
    let answer: Answer = Box::pin(async move {
        let counting = move || {
            let counted = count_tokens(&body)?;
            Some(provider.map_or(counted, |provider| provider.adjust(counted)))
        };
        // Counting takes too long for the thread that serves the connection.
        let counted = tokio::task::spawn_blocking(counting).await.ok().flatten();
        let answer = counted.map_or_else(
            || {
                LocalAnswer::error(
                    400,
                    "invalid_request_error",
                    "Grov: the body is not a JSON object.",
                )
            },
            LocalAnswer::token_count,
        );
        response(answer, &label)
    });
    Route::Answer(answer)
}
