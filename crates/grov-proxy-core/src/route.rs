//! Routing of exchanges to other upstreams.

use crate::codec::Codec;
use crate::request::MessagesRequest;
use crate::upstream::UpstreamId;
use http::{HeaderMap, Method, Uri};
use std::sync::Arc;

/// The request that a [`Router`] routes.
#[derive(Clone, Copy)]
pub struct RouteRequest<'a> {
    /// The method.
    pub method: &'a Method,
    /// Path and query, as the client sent them.
    pub uri: &'a Uri,
    /// The headers, as the client sent them.
    pub headers: &'a HeaderMap,
    /// The message, or `None` for paths other than `/v1/messages` and below, whose bodies stream.
    pub message: Option<&'a MessagesRequest>,
}

/// The upstream of an exchange, and its codec.
#[derive(Clone)]
pub struct Route {
    /// The upstream. It receives the client's headers, including credentials, unless the codec removes them.
    pub upstream: UpstreamId,
    /// Translates the exchange. With `None`, all bytes pass unchanged. Policies edit the request before it is translated, and
    /// observers see the translated response. The body of a translated request is always collected.
    pub codec: Option<Arc<dyn Codec>>,
}

/// Chooses the upstream of each exchange.
///
/// Called before the policies. Must not block. If it panics, the request is answered with status 500.
pub trait Router: Send + Sync + 'static {
    /// Returns the route, or `None` for the main upstream without a codec.
    fn route(&self, request: &RouteRequest<'_>) -> Option<Route>;
}
