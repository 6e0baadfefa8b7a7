//! The server over streamable HTTP, without sessions: every request is answered on its own.

use crate::GrovServer;
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use rmcp::model::ErrorCode;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::de::IgnoredAny;
use serde_json::json;
use std::sync::Arc;

/// Maximum bytes of an error's text, which may quote the client's message.
const MAX_MESSAGE: usize = 300;

/// Answers a request. Host, origin and token are the caller's business. If the future is dropped, the call is cancelled.
pub async fn answer(server: &GrovServer, request: Request<Bytes>) -> Response<Bytes> {
    if request.method() == Method::POST
        && let Err(error) = serde_json::from_slice::<IgnoredAny>(request.body())
    {
        return failure(
            StatusCode::BAD_REQUEST,
            ErrorCode::PARSE_ERROR,
            &format!("the message is no JSON: {error}"),
        );
    }
    let is_json = is_json(request.headers());
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        // The response is complete when it is sent, so that nothing has to be kept alive.
        .with_sse_keep_alive(None)
        .with_sse_retry(None);
    let server = server.clone();
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let (parts, body) = service.handle(request.map(Full::new)).await.into_parts();
    let body = match body.collect().await {
        Ok(body) => body.to_bytes(),
        Err(impossible) => match impossible {},
    };
    let is_plain_text = !parts.status.is_success() && serde_json::from_slice::<IgnoredAny>(&body).is_err();
    if is_plain_text {
        // JSON that is no message of the protocol counts as an unsupported media type there.
        let status = match parts.status {
            StatusCode::UNSUPPORTED_MEDIA_TYPE if is_json => StatusCode::BAD_REQUEST,
            status => status,
        };
        return failure(
            status,
            ErrorCode::INVALID_REQUEST,
            &String::from_utf8_lossy(&body),
        );
    }
    Response::from_parts(parts, body)
}

/// Whether the client declares its message as JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"))
}

/// A response to a message whose id is not known.
fn failure(status: StatusCode, code: ErrorCode, message: &str) -> Response<Bytes> {
    let message = &message[..message.floor_char_boundary(MAX_MESSAGE)];
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code.0, "message": message}});
    let mut response = Response::new(Bytes::from(error.to_string()));
    *response.status_mut() = status;
    response
}
