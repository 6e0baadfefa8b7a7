//! Admin routes of the embedder: for programs on this machine, never for a browser.

use crate::body::{CollectError, Collector};
use crate::connection_state::RequestGuard;
use crate::error_response::{ErrorKind, ExchangeError};
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use std::panic::AssertUnwindSafe;

/// A request to an [`AdminRoute`].
#[derive(Debug)]
pub struct AdminRequest {
    /// The method.
    pub method: Method,
    /// The path after the prefix of the route.
    pub rest: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, or `None` if it is longer than [`AdminRoute::body_limit`].
    pub body: Option<Bytes>,
}

/// The response of an [`AdminRoute`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdminResponse {
    /// The status.
    pub status: StatusCode,
    /// The value of the `content-type` header.
    pub content_type: &'static str,
    /// The body.
    pub body: Bytes,
}

/// Handles the requests below a prefix of `/_grov/`.
///
/// Requests with an `Origin` header are refused before the route sees them: browsers send one, programs do not. A panic is
/// answered with status 500.
#[async_trait]
pub trait AdminRoute: Send + Sync + 'static {
    /// Returns the largest accepted body, in bytes.
    fn body_limit(&self) -> u64;

    /// Checks the headers before the body is read. Must not block.
    ///
    /// # Errors
    /// Returns the response for a request that is refused.
    fn authorize(&self, _headers: &HeaderMap) -> Result<(), AdminResponse> {
        Ok(())
    }

    /// Handles a request. The future is dropped if the client disconnects.
    async fn handle(&self, request: AdminRequest) -> AdminResponse;
}

/// Serves a request to a route of the embedder. `rest` is the path after the prefix of the route.
pub(super) async fn serve(
    route: &dyn AdminRoute,
    rest: String,
    request: Request<Incoming>,
    collector: &Collector,
    serving: &RequestGuard,
) -> Result<Response<Bytes>, ExchangeError> {
    let (parts, body) = request.into_parts();
    if parts.headers.contains_key(header::ORIGIN) {
        let detail = "an admin route was requested with an origin";
        return Err(ExchangeError::new(ErrorKind::ForeignOrigin, detail));
    }
    let authorized = std::panic::catch_unwind(AssertUnwindSafe(|| route.authorize(&parts.headers)));
    if let Err(refused) = authorized.map_err(|_| panicked())? {
        return Ok(response(refused));
    }
    let collected = collector.collect(body, route.body_limit(), serving).await;
    let (body, _reservation) = match collected {
        Ok(body) => (Some(body.bytes), Some(body.reservation)),
        Err(CollectError::TooLarge) => (None, None),
        Err(CollectError::NoMemory) => {
            let detail = "no memory for the body of an admin request";
            return Err(ExchangeError::new(ErrorKind::NoMemory, detail));
        }
        Err(CollectError::Broken(error)) => return Err(ExchangeError::new(ErrorKind::BadFraming, error)),
    };
    let request = AdminRequest {
        method: parts.method,
        rest,
        headers: parts.headers,
        body,
    };
    let handled = AssertUnwindSafe(route.handle(request)).catch_unwind().await;
    handled.map(response).map_err(|_| panicked())
}

fn panicked() -> ExchangeError {
    ExchangeError::new(ErrorKind::AdminRoutePanicked, "an admin route panicked")
}

fn response(answer: AdminResponse) -> Response<Bytes> {
    let mut response = Response::new(answer.body);
    *response.status_mut() = answer.status;
    let content_type = HeaderValue::from_static(answer.content_type);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}
