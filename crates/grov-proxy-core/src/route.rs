//! The seam through which an exchange goes to another upstream than the proxy's own.

use crate::codec::Codec;
use crate::request::MessagesRequest;
use crate::upstream::UpstreamId;
use http::{HeaderMap, Method, Uri};
use std::sync::Arc;

/// What a router goes by.
#[derive(Clone, Copy)]
pub struct RouteRequest<'a> {
    /// The method.
    pub method: &'a Method,
    /// Path and query, as the client sent them.
    pub uri: &'a Uri,
    /// The headers, as the client sent them.
    pub headers: &'a HeaderMap,
    /// The body, indexed when somebody asks; `None` for paths other than `/v1/messages` and below, whose bodies stream.
    pub message: Option<&'a MessagesRequest>,
}

/// Where an exchange goes.
#[derive(Clone)]
pub struct Route {
    /// The upstream. It gets the client's headers, credentials among them, as far as the codec leaves them.
    pub upstream: UpstreamId,
    /// What translates between the client and the upstream; `None`: they speak the same dialect, and every byte passes as it is.
    /// Policies add to the request before it is translated, and observers see what the client was sent. The body of a request that
    /// is translated is collected, whatever its path.
    pub codec: Option<Arc<dyn Codec>>,
}

/// Names the route of each exchange. It is asked before the policies are, on the request's route: it must not wait for anything. Where
/// it panics, the request is not sent anywhere.
pub trait Router: Send + Sync + 'static {
    /// The route; `None`: to the proxy's own upstream, untranslated.
    fn route(&self, request: &RouteRequest<'_>) -> Option<Route>;
}
