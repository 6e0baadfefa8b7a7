//! The server over streamable HTTP, without sessions: every request is answered on its own.

use crate::GrovServer;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;

/// Answers a request. Host, origin and token are the caller's business. If the future is dropped, the call is cancelled.
pub async fn answer(server: &GrovServer, request: Request<Bytes>) -> Response<Bytes> {
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
    Response::from_parts(parts, body)
}
