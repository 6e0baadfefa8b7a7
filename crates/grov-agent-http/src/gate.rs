//! What every request passes: an id, the host check, the key, the size limit, `Idempotency-Key`.

use crate::caller::Caller;
use crate::once;
use crate::problem::{Code, Problem};
use crate::service::Service;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use grov_agent::KeyRole;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::Body as _;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::Instrument;

/// The header with the id of a request, which the log repeats.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The header with the key.
const KEY: &str = "x-agent-key";
/// How long a client may pause while it sends a body.
const BODY_PAUSE: Duration = Duration::from_secs(30);
/// How long a whole body may take.
const BODY_TIME: Duration = Duration::from_secs(60);
/// How long a large body waits until there is memory for it.
const MEMORY_WAIT: Duration = Duration::from_secs(20);
/// The only path with large bodies.
const UPLOAD_PATH: &str = "/projects/{project}/docs";
/// The only path that answers with events.
const CHAT_PATH: &str = "/chat";
/// The most bytes of a body on every other path.
const MAX_SMALL_BODY: usize = 2 * 1024 * 1024;
/// A body larger than this is large.
const LARGE: usize = 1024 * 1024;
/// How much of a refused body is read, so that a client that sends it all at once sees the answer.
const MAX_DRAIN: usize = 100 * 1024 * 1024;
/// How long that may take.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// The response was stored for its `Idempotency-Key` together with what it did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AlreadyStored;

/// The memory of a large body. Whoever parses the body keeps it until then.
#[derive(Clone, Debug)]
pub(crate) struct BodyMemory(
    #[expect(dead_code, reason = "counts until it is dropped")] Arc<OwnedSemaphorePermit>,
);

/// Passes a request to its route. Every answer has a request id, and none is a panic.
pub(crate) async fn pass(State(service): State<Service>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = request_id(request.headers());
    let method = request.method().clone();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "other".to_owned(), |path| path.as_str().to_owned());
    let span = tracing::info_span!("request", id = id.to_str().unwrap_or_default(), %method, route);
    let answered = AssertUnwindSafe(admit(&service, request, next))
        .catch_unwind()
        .instrument(span.clone())
        .await;
    let mut response = match answered {
        Ok(Ok(response)) => response,
        Ok(Err(problem)) => problem.into_response(),
        Err(_) => {
            service.metrics.fault("panic");
            Problem::unavailable("the request failed by a bug of the service; its log says where")
                .into_response()
        }
    };
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id);
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    let status = response.status().as_u16();
    service.metrics.answered(&method, &route, status, began.elapsed());
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    // Not louder: a service manager that does not read standard error must not stop the service.
    span.in_scope(|| match status {
        500.. => tracing::warn!(status, ms, "answered"),
        _ => tracing::debug!(status, ms, "answered"),
    });
    response
}

async fn admit(service: &Service, request: Request, next: Next) -> Result<Response, Problem> {
    service.parts.admission.check(request.uri(), request.headers())?;
    if is_open(request.uri().path()) {
        return Ok(next.run(request).await);
    }
    let caller = authenticate(service, request.headers()).await?;
    tracing::debug!(key = caller.name(), "admitted");
    let (mut parts, body) = request.into_parts();
    let has_body = matches!(parts.method, Method::POST | Method::PATCH | Method::PUT);
    let body = if has_body {
        may_write(&caller, &parts)?;
        if is_large(&parts.headers, &body) {
            let memory = memory(&service.large_bodies, MEMORY_WAIT).await?;
            parts.extensions.insert(memory);
        }
        let read = collect(body, &parts.headers, limit(service, &parts));
        let read = tokio::time::timeout(BODY_TIME, read).await;
        read.unwrap_or_else(|_| Err(late_body()))?
    } else {
        Bytes::new()
    };
    let key = once::key_of(&parts.headers)?.filter(|_| parts.method == Method::POST);
    let turn = match key {
        None => None,
        Some(key) => {
            let fingerprint = once::fingerprint(&parts, &body);
            Some(service.running.enter(caller.id(), key, fingerprint).await?)
        }
    };
    if has_body {
        // The body and the turn may have taken long enough for the key to be revoked meanwhile.
        authenticate(service, &parts.headers).await?;
    }
    parts.extensions.insert(caller);
    let request = Request::from_parts(parts, Body::from(body));
    let response = match turn {
        None => next.run(request).await,
        Some(turn) => pass_once(service, turn, request, next).await?,
    };
    Ok(response)
}

/// Every path with a body changes something, so a key that only reads is refused before its body is read.
fn may_write(caller: &Caller, parts: &Parts) -> Result<(), Problem> {
    match parts.extensions.get::<MatchedPath>() {
        Some(_) => caller.needs(KeyRole::Agent),
        None => Ok(()),
    }
}

/// The most bytes of a body, and what sets them.
fn limit(service: &Service, parts: &Parts) -> (usize, &'static str) {
    let most = service.parts.limits.max_body_bytes;
    let path = parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str);
    if path == Some(UPLOAD_PATH) || most <= MAX_SMALL_BODY {
        (most, "agent.max_body_bytes")
    } else {
        (MAX_SMALL_BODY, "the limit of every path but uploads")
    }
}

fn is_large(headers: &HeaderMap, body: &Body) -> bool {
    !body.is_end_stream() && announced_length(headers).is_none_or(|length| length > LARGE)
}

async fn memory(bodies: &Arc<Semaphore>, wait: Duration) -> Result<BodyMemory, Problem> {
    match tokio::time::timeout(wait, Arc::clone(bodies).acquire_owned()).await {
        Ok(Ok(permit)) => Ok(BodyMemory(Arc::new(permit))),
        // The semaphore is never closed.
        Ok(Err(_)) | Err(_) => Err(Problem::unavailable(
            "too many large bodies are being read; nothing was read of this one, so send it again in a moment",
        )),
    }
}

/// Paths that need no key.
fn is_open(path: &str) -> bool {
    let is_page = |page: &str| {
        path.strip_prefix(page)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    path == "/health" || is_page("/docs") || is_page("/ui")
}

pub(crate) async fn authenticate(service: &Service, headers: &HeaderMap) -> Result<Caller, Problem> {
    let refused = |detail: &str| Problem::new(Code::Unauthorized, detail);
    let mut keys = headers.get_all(KEY).iter();
    let (Some(key), None) = (keys.next(), keys.next()) else {
        return Err(refused("the request needs exactly one header X-AGENT-KEY"));
    };
    let found = match key.to_str() {
        Ok(secret) => service.keys.find(secret).await?,
        Err(_) => None,
    };
    found
        .map(Caller::new)
        .ok_or_else(|| refused("the key in X-AGENT-KEY is not valid, or was revoked"))
}

/// Answers from what is stored, or carries the request out and stores its answer. Only an answer of success is stored: after
/// an error nothing was done, so that the request may be sent again.
async fn pass_once(
    service: &Service,
    turn: once::Once,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let now = service.now();
    let is_chat = request.uri().path() == CHAT_PATH;
    let wants_events = is_chat && wants_events(request.headers());
    if let Some(replay) = service.store().replay(turn.owner(), turn.key(), now).await? {
        return Ok(once::response(turn.check(replay)?, wants_events));
    }
    request.extensions_mut().insert(turn.clone());
    let response = next.run(request).await;
    if response.status() == StatusCode::CONFLICT
        && let Some(replay) = service.store().replay(turn.owner(), turn.key(), now).await?
    {
        // Another instance of the service was faster with the same key.
        return Ok(once::response(turn.check(replay)?, wants_events));
    }
    let is_json = crate::extract::is_json(response.headers());
    let is_stored = response.extensions().get::<AlreadyStored>().is_some();
    if !response.status().is_success() || !is_json || is_stored {
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    let body = body
        .collect()
        .await
        .map_err(|_| Problem::unavailable("the answer was cut off"))?
        .to_bytes();
    let replay = turn.replay(parts.status, &String::from_utf8_lossy(&body));
    if let Err(error) = service.store().store_replay(&replay, service.now()).await {
        // What the request did is done. If it comes again, it is carried out again, with the same effect.
        tracing::warn!(%error, "the answer could not be stored for its Idempotency-Key");
    }
    Ok(Response::from_parts(parts, Body::from(body)))
}

/// Whether the client wants an event stream.
pub(crate) fn wants_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter();
    accepted
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|media| {
            let essence = media.split(';').next().unwrap_or_default();
            essence.trim().eq_ignore_ascii_case("text/event-stream")
        })
}

fn announced_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn late_body() -> Problem {
    Problem::invalid("", "the body did not arrive in time")
}

/// Reads a body up to the limit.
async fn collect(body: Body, headers: &HeaderMap, (limit, name): (usize, &str)) -> Result<Bytes, Problem> {
    let too_large = || {
        let detail = format!("the body is larger than {limit} bytes ({name})");
        Problem::new(Code::TooLarge, detail)
    };
    let announced = announced_length(headers);
    if announced.is_some_and(|length| length > limit) {
        drain(body).await;
        return Err(too_large());
    }
    let mut body = body;
    let mut bytes = BytesMut::with_capacity(announced.unwrap_or(0));
    loop {
        match tokio::time::timeout(BODY_PAUSE, body.frame()).await {
            Ok(None) => return Ok(bytes.freeze()),
            Ok(Some(Ok(frame))) => {
                let Ok(data) = frame.into_data() else { continue };
                if bytes.len() + data.len() > limit {
                    drop(bytes);
                    drain(body).await;
                    return Err(too_large());
                }
                bytes.extend_from_slice(&data);
            }
            Ok(Some(Err(_))) => return Err(Problem::invalid("", "the body ended too early")),
            Err(_) => return Err(late_body()),
        }
    }
}

/// Reads and forgets a refused body: most clients read no answer before they have sent everything.
async fn drain(mut body: Body) {
    let read = async {
        let mut length = 0;
        while length < MAX_DRAIN {
            let Some(Ok(frame)) = body.frame().await else {
                return;
            };
            length += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    // The answer is the same whether the whole body came or not.
    let _ = tokio::time::timeout(DRAIN_TIMEOUT, read).await;
}

/// The client's own id if it is a plain one, else a new one.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let is_plain = |value: &&HeaderValue| {
        (1..=64).contains(&value.len())
            && value
                .as_bytes()
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
    };
    let given = headers.get(REQUEST_ID).filter(is_plain).cloned();
    given.unwrap_or_else(|| {
        let fresh = uuid::Uuid::now_v7().to_string();
        HeaderValue::from_str(&fresh).unwrap_or_else(|_| HeaderValue::from_static("-"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_stream_is_asked_for_by_accept() {
        let wants = |accept: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
            wants_events(&headers)
        };
        assert!(wants("text/event-stream") && wants("application/json;q=0.5, Text/Event-Stream;q=1"));
        assert!(!wants("*/*") && !wants("application/json"));
    }

    #[test]
    fn a_foreign_request_id_does_not_reach_the_log() {
        let id = |given: &'static [u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_bytes(given).unwrap());
            request_id(&headers)
        };
        assert_eq!(id(b"abc-1_2.3"), "abc-1_2.3");
        for odd in [&b"a b"[..], b"", b"a\xffb", &[b'x'; 65]] {
            assert_eq!(id(odd).len(), 36);
        }
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_the_limit() {
        let read =
            async |length, limit| collect(Body::from(vec![0; length]), &HeaderMap::new(), (limit, "x")).await;
        assert_eq!(read(10, 10).await.unwrap().len(), 10);
        assert_eq!(read(11, 10).await.unwrap_err().code(), Code::TooLarge);
    }

    #[test]
    fn a_body_that_is_empty_is_not_large() {
        let large = |body, length: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            if let Some(length) = length {
                headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static(length));
            }
            is_large(&headers, &body)
        };
        assert!(!large(Body::empty(), None));
        assert!(!large(Body::from("a"), Some("1")));
        assert!(large(Body::from("a"), None));
        assert!(large(Body::from("a"), Some("1048577")));
    }

    #[tokio::test]
    async fn a_large_body_does_not_wait_for_memory_without_end() {
        let bodies = Arc::new(Semaphore::new(1));
        let wait = Duration::from_millis(20);
        let first = memory(&bodies, wait).await.unwrap();
        assert_eq!(memory(&bodies, wait).await.unwrap_err().code(), Code::Unavailable);
        drop(first);
        assert!(memory(&bodies, wait).await.is_ok());
    }
}
