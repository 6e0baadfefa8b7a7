//! Sends a request to its upstream and waits for the response head.

use crate::body::UpstreamBody;
use crate::codec::{Codec, Decoder, ResponseBody, caught};
use crate::error_response::{ErrorKind, ExchangeError};
use crate::headers::{self, HeaderPolicy};
use crate::metrics::Metrics;
use crate::route::{RouteRequest, Router};
use crate::upstream::{Pool, Pools, SendError, UpstreamConnection};
use http::header::{self, HeaderValue};
use http::{Request, Response, request, response};
use http_body::Body;
use hyper::body::Incoming;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

/// Sends requests to upstreams.
pub(crate) struct Forwarder {
    pub(crate) pools: Arc<Pools>,
    /// Without a router, all requests go to the main upstream.
    pub(crate) router: Option<Arc<dyn Router>>,
    pub(crate) header_policy: HeaderPolicy,
    /// Longest wait for a response head without progress.
    pub(crate) limit: Duration,
    pub(crate) metrics: Arc<Metrics>,
}

/// The route of one exchange.
pub(crate) struct ResolvedRoute<'p> {
    pool: &'p Arc<Pool>,
    codec: Option<Arc<dyn Codec>>,
}

/// The head of a response, translated if the route has a codec, and the connection that its body comes from.
pub(crate) struct UpstreamResponse {
    pub(crate) connection: UpstreamConnection,
    pub(crate) pool: Arc<Pool>,
    pub(crate) head: response::Parts,
    pub(crate) body: ResponseBody,
}

impl ResolvedRoute<'_> {
    /// Returns whether a codec translates the exchange, which needs the whole body.
    pub(crate) fn is_translated(&self) -> bool {
        self.codec.is_some()
    }
}

impl Forwarder {
    /// Returns whether there is a router.
    pub(crate) fn is_routed(&self) -> bool {
        self.router.is_some()
    }

    /// Returns the route of an exchange.
    pub(crate) fn route(&self, request: RouteRequest<'_>) -> Result<ResolvedRoute<'_>, ExchangeError> {
        let main = ResolvedRoute {
            pool: self.pools.main(),
            codec: None,
        };
        let Some(router) = &self.router else {
            return Ok(main);
        };
        let lost = |detail| {
            self.metrics.fault("route_lost");
            ExchangeError::new(ErrorKind::NoRoute, detail)
        };
        let routed = std::panic::catch_unwind(AssertUnwindSafe(|| router.route(&request)));
        let Some(route) = routed.map_err(|_| lost("the router panicked"))? else {
            return Ok(main);
        };
        let pool = self.pools.get(route.upstream);
        Ok(ResolvedRoute {
            pool: pool.ok_or_else(|| lost("the router named an upstream of another proxy"))?,
            codec: route.codec,
        })
    }

    /// Sends a request and waits for the response head.
    ///
    /// Fails if the response has a transfer coding besides `chunked`: hyper would drop its name.
    pub(crate) async fn send(
        &self,
        route: &ResolvedRoute<'_>,
        mut parts: request::Parts,
        mut body: UpstreamBody,
    ) -> Result<UpstreamResponse, ExchangeError> {
        let mut decoder = None;
        let mut policy = self.header_policy;
        if let Some(codec) = &route.codec {
            // Filter the client's headers before the codec adds those of the other API.
            let host = route.pool.connector().upstream().host_header();
            headers::for_upstream(&mut parts.headers, policy, host);
            policy = HeaderPolicy::Open;
            (body, decoder) = self.encoded(codec.as_ref(), &mut parts, body)?;
        }
        let (connection, response) = self.exchange_heads(route.pool, policy, parts, body).await?;
        if !response.body().is_end_stream() && !headers::is_response_coding_understood(response.headers()) {
            self.metrics.fault("upstream_coding");
            let coding = format!("{:?}", response.headers().get(header::TRANSFER_ENCODING));
            return Err(ExchangeError::new(ErrorKind::UnknownResponseCoding, coding));
        }
        let (mut head, body) = response.into_parts();
        if let Some(decoder) = &mut decoder {
            caught(|| decoder.head(&mut head)).map_err(|error| {
                self.metrics.fault("codec_failed");
                ExchangeError::with_public_detail(ErrorKind::UntranslatableResponse, error)
            })?;
            head.headers.remove(header::CONTENT_LENGTH);
        }
        Ok(UpstreamResponse {
            connection,
            pool: Arc::clone(route.pool),
            head,
            body: ResponseBody::new(body, decoder),
        })
    }

    fn encoded(
        &self,
        codec: &dyn Codec,
        parts: &mut request::Parts,
        body: UpstreamBody,
    ) -> Result<(UpstreamBody, Option<Box<dyn Decoder>>), ExchangeError> {
        parts.headers.remove(header::ACCEPT_ENCODING);
        let encoded = match body.collected() {
            Some(body) => caught(|| codec.encode(parts, body)).map_err(|error| {
                self.metrics.fault("codec_failed");
                ExchangeError::with_public_detail(ErrorKind::Untranslatable, error)
            }),
            None => Err(ExchangeError::new(
                ErrorKind::NoRoute,
                "a stream cannot be translated",
            )),
        };
        let (body, decoder) = encoded?;
        parts.headers.remove(header::CONTENT_LENGTH);
        Ok((UpstreamBody::whole(body), Some(decoder)))
    }

    async fn exchange_heads(
        &self,
        pool: &Pool,
        policy: HeaderPolicy,
        mut parts: request::Parts,
        body: UpstreamBody,
    ) -> Result<(UpstreamConnection, Response<Incoming>), ExchangeError> {
        let upstream = pool.connector().upstream();
        parts.uri = upstream
            .request_target(&parts.uri)
            .map_err(|error| ExchangeError::new(ErrorKind::BadFraming, error))?;
        parts.version = http::Version::HTTP_11;
        headers::for_upstream(&mut parts.headers, policy, upstream.host_header());
        if body.size_hint().exact().is_none() {
            // Without this header, hyper omits the body of a GET.
            parts
                .headers
                .insert(header::TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
        let mut request = Request::from_parts(parts, body);
        let limit = self.limit;
        if let Some(mut connection) = pool.take() {
            match connection.send(request, limit).await {
                Ok(response) => return Ok((connection, response)),
                // The upstream closed the idle connection and no byte was written: retry on a new connection.
                Err(SendError::Unsent(unsent, _)) => request = *unsent,
                Err(error) => return Err(self.unanswered(error)),
            }
        }
        let mut connection = pool.open().await.map_err(|error| {
            self.metrics.fault("upstream_unreachable");
            ExchangeError::new(ErrorKind::Unreachable, error)
        })?;
        match connection.send(request, limit).await {
            Ok(response) => Ok((connection, response)),
            Err(error) => Err(self.unanswered(error)),
        }
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
