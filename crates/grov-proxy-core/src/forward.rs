//! Sends a request to its upstream and waits for the response head.

use crate::body::UpstreamBody;
use crate::error_response::{ErrorKind, ExchangeError};
use crate::headers::{self, HeaderPolicy};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::response_body::ResponseBody;
use crate::route::{Answer, Forward, Route, RouteRequest, Router};
use crate::upgrade::Protocols;
use crate::upstream::{Pool, Pools, SendError, UpstreamConnection, UpstreamHandle};
use bytes::Bytes;
use futures_util::FutureExt;
use http::header::{self, HeaderValue};
use http::{Request, Response, StatusCode, request, response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::upgrade::Upgraded;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

/// Sends requests to upstreams.
pub(crate) struct Forwarder {
    pub(crate) pools: Arc<Pools>,
    /// Without a router, all requests go to the main upstream.
    pub(crate) router: Option<Arc<dyn Router>>,
    pub(crate) header_policy: HeaderPolicy,
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
}

/// The route of one exchange.
pub(crate) enum ResolvedRoute {
    /// An upstream without a codec: the main one, or that of the connection.
    Default(UpstreamHandle),
    /// The embedder's targets.
    Forward(Forward),
}

/// What answers an exchange.
pub(crate) enum Resolved {
    Upstream(ResolvedRoute),
    /// The embedder.
    Answer(Answer),
}

/// The head of a response, translated if the route has a codec, and where its body comes from.
pub(crate) struct UpstreamResponse {
    /// `None` if the whole body is in memory.
    pub(crate) connection: Option<UpstreamConnection>,
    pub(crate) pool: Arc<Pool>,
    /// The index of the target that answered.
    pub(crate) target: usize,
    /// The status before the codec translated it.
    pub(crate) upstream_status: StatusCode,
    pub(crate) head: response::Parts,
    pub(crate) body: ResponseBody,
    /// Maximum pause inside the body.
    pub(crate) idle: Duration,
    /// The interval of pings.
    pub(crate) ping: Option<Duration>,
}

/// What an upstream says to a request for another protocol.
pub(crate) enum SwitchAnswer {
    /// It has changed to protocols that were offered, and the head names them.
    Switched {
        head: response::Parts,
        upstream: Upgraded,
    },
    /// An ordinary response.
    Declined(Box<UpstreamResponse>),
}

impl ResolvedRoute {
    /// Returns whether the route needs the whole body: a codec translates it, or it may be sent several times.
    pub(crate) fn needs_whole_body(&self) -> bool {
        match self {
            Self::Default(_) => false,
            Self::Forward(forward) => {
                forward.targets.len() > 1 || forward.targets.iter().any(|target| target.codec.is_some())
            }
        }
    }
}

impl Forwarder {
    /// Returns whether there is a router.
    pub(crate) fn is_routed(&self) -> bool {
        self.router.is_some()
    }

    /// Returns the route of an exchange. `default` is the upstream of its connection, and stands in for the main one.
    pub(crate) fn route(
        &self,
        request: RouteRequest<'_>,
        default: UpstreamHandle,
    ) -> Result<Resolved, ExchangeError> {
        let Some(router) = &self.router else {
            return Ok(Resolved::Upstream(ResolvedRoute::Default(default)));
        };
        let routed = std::panic::catch_unwind(AssertUnwindSafe(|| router.route(&request)));
        match routed {
            Ok(None) => Ok(Resolved::Upstream(ResolvedRoute::Default(default))),
            Ok(Some(Route::Forward(mut forward))) => {
                for target in forward
                    .targets
                    .iter_mut()
                    .filter(|target| target.upstream.is_main())
                {
                    target.upstream = default.clone();
                }
                Ok(Resolved::Upstream(ResolvedRoute::Forward(forward)))
            }
            Ok(Some(Route::Answer(answer))) => Ok(Resolved::Answer(answer)),
            Err(_) => Err(self.lost("the router panicked")),
        }
    }

    /// Returns the response of the embedder.
    pub(crate) async fn answer(&self, answer: Answer) -> Result<Response<Bytes>, ExchangeError> {
        let answered = AssertUnwindSafe(answer).catch_unwind().await;
        answered.map_err(|_| self.lost("the answer of a route panicked"))
    }

    fn lost(&self, detail: &str) -> ExchangeError {
        self.metrics.fault("route_lost");
        ExchangeError::new(ErrorKind::NoRoute, detail)
    }

    /// Sends a request and waits for the response head.
    ///
    /// Fails if the response has a transfer coding besides `chunked`: hyper would drop its name.
    pub(crate) async fn send(
        &self,
        route: &ResolvedRoute,
        parts: request::Parts,
        body: UpstreamBody,
    ) -> Result<UpstreamResponse, ExchangeError> {
        self.send_from(route, 0, parts, body).await
    }

    /// Like [`Forwarder::send`], without the targets before the one with the index `first`.
    pub(crate) async fn send_from(
        &self,
        route: &ResolvedRoute,
        first: usize,
        parts: request::Parts,
        body: UpstreamBody,
    ) -> Result<UpstreamResponse, ExchangeError> {
        let upstream = match route {
            ResolvedRoute::Default(upstream) => upstream,
            // Boxed: other exchanges must not pay for the memory of its state.
            ResolvedRoute::Forward(forward) => {
                return Box::pin(self.send_to_targets(forward, first, parts, body)).await;
            }
        };
        let pool = self.pools.get(upstream);
        let (connection, response) = self
            .exchanged(pool, self.header_policy, self.limits.response, parts, body)
            .await?;
        self.default_response(pool, connection, response)
    }

    /// Sends a request with filtered headers, and waits for the response head.
    pub(crate) async fn exchange_heads(
        &self,
        pool: &Pool,
        policy: HeaderPolicy,
        limit: Duration,
        parts: request::Parts,
        body: UpstreamBody,
    ) -> Result<(UpstreamConnection, Response<Incoming>), ExchangeError> {
        let (connection, response) = self.exchanged(pool, policy, limit, parts, body).await?;
        self.check_head(&response)?;
        Ok((connection, response))
    }

    async fn exchanged(
        &self,
        pool: &Pool,
        policy: HeaderPolicy,
        limit: Duration,
        mut parts: request::Parts,
        body: UpstreamBody,
    ) -> Result<(UpstreamConnection, Response<Incoming>), ExchangeError> {
        address(&mut parts, pool, policy)?;
        if body.size_hint().exact().is_none() {
            // Without this header, hyper omits the body of a GET.
            parts
                .headers
                .insert(header::TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
        let mut request = Request::from_parts(parts, body);
        if let Some(mut connection) = pool.take() {
            match connection.send(request, limit).await {
                Ok(response) => return Ok((connection, response)),
                // The upstream closed the idle connection and no byte was written: retry on a new connection.
                Err(SendError::Unsent(unsent, _)) => request = *unsent,
                Err(error) => return Err(self.unanswered(error)),
            }
        }
        self.exchanged_on_new(pool, limit, request).await
    }

    /// Sends a request on a connection that nothing else used.
    async fn exchanged_on_new(
        &self,
        pool: &Pool,
        limit: Duration,
        request: Request<UpstreamBody>,
    ) -> Result<(UpstreamConnection, Response<Incoming>), ExchangeError> {
        let mut connection = pool.open().await.map_err(|error| {
            self.metrics.fault("upstream_unreachable");
            // It names the host and port, which tell a reader without a log what to check.
            ExchangeError::with_public_detail(ErrorKind::Unreachable, error)
        })?;
        match connection.send(request, limit).await {
            Ok(response) => Ok((connection, response)),
            Err(error) => Err(self.unanswered(error)),
        }
    }

    /// Asks the upstream for another protocol, on a new connection.
    pub(crate) async fn ask_to_switch(
        &self,
        upstream: &UpstreamHandle,
        protocols: &Protocols,
        mut parts: request::Parts,
    ) -> Result<SwitchAnswer, ExchangeError> {
        let pool = self.pools.get(upstream);
        address(&mut parts, pool, self.header_policy)?;
        protocols.announce(&mut parts.headers);
        let request = Request::from_parts(parts, UpstreamBody::whole(Bytes::new()));
        let limit = self.limits.response.min(self.limits.connect);
        let (connection, mut response) = self.exchanged_on_new(pool, limit, request).await?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            let response = self.default_response(pool, connection, response)?;
            return Ok(SwitchAnswer::Declined(Box::new(response)));
        }
        let chosen = Protocols::named(response.headers());
        if !chosen.is_some_and(|chosen| protocols.include(&chosen)) {
            return Err(self.wrong_protocol(&response));
        }
        let upstream = connection
            .upgraded(&mut response)
            .await
            .map_err(|error| ExchangeError::new(ErrorKind::Unreachable, error))?;
        let head = response.into_parts().0;
        Ok(SwitchAnswer::Switched { head, upstream })
    }

    /// Returns the response of an upstream without a codec.
    fn default_response(
        &self,
        pool: &Arc<Pool>,
        connection: UpstreamConnection,
        response: Response<Incoming>,
    ) -> Result<UpstreamResponse, ExchangeError> {
        self.check_head(&response)?;
        let (head, body) = response.into_parts();
        Ok(UpstreamResponse {
            connection: Some(connection),
            pool: Arc::clone(pool),
            target: 0,
            upstream_status: head.status,
            head,
            body: ResponseBody::Plain(body),
            idle: self.limits.idle,
            ping: None,
        })
    }

    /// Fails if hyper dropped the name of a response's transfer coding, or the upstream left HTTP unasked.
    fn check_head(&self, response: &Response<Incoming>) -> Result<(), ExchangeError> {
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            return Err(self.wrong_protocol(response));
        }
        if response.body().is_end_stream() || headers::is_response_coding_understood(response.headers()) {
            return Ok(());
        }
        self.metrics.fault("upstream_coding");
        let coding = format!("{:?}", response.headers().get(header::TRANSFER_ENCODING));
        Err(ExchangeError::new(ErrorKind::UnknownResponseCoding, coding))
    }

    fn wrong_protocol(&self, response: &Response<Incoming>) -> ExchangeError {
        self.metrics.fault("upstream_protocol");
        let named = format!("{:?}", response.headers().get(header::UPGRADE));
        ExchangeError::new(ErrorKind::WrongProtocol, named)
    }

    /// Counts the fault and returns the error for a request that got no response.
    fn unanswered(&self, error: SendError) -> ExchangeError {
        let failure = match error {
            SendError::Unsent(_, error) | SendError::Broken(error) => ExchangeError::from(error),
            SendError::TimedOut => {
                self.metrics.fault("upstream_timeout");
                ExchangeError::new(ErrorKind::TimedOut, "no response head within the limit")
            }
        };
        if failure.kind == ErrorKind::Unreachable {
            self.metrics.fault("upstream_unreachable");
        }
        failure
    }
}

/// Addresses a request to the upstream of a pool, with filtered headers.
fn address(parts: &mut request::Parts, pool: &Pool, policy: HeaderPolicy) -> Result<(), ExchangeError> {
    let upstream = pool.connector().upstream();
    parts.uri = upstream
        .request_target(&parts.uri)
        .map_err(|error| ExchangeError::new(ErrorKind::BadFraming, error))?;
    parts.version = http::Version::HTTP_11;
    headers::for_upstream(&mut parts.headers, policy, upstream.host_header());
    Ok(())
}
