//! Routing of exchanges: to other upstreams, with fallbacks, or to an answer of the embedder.

use crate::codec::Codec;
use crate::request::MessagesRequest;
use crate::upstream::UpstreamHandle;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, Uri, response};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

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

/// Chooses what answers each exchange.
///
/// Called before the policies. Must not block. If it panics, the request is answered with status 500.
///
/// # Example
///
/// Requests for one model go to another upstream, and to the main one if it fails:
///
/// ```
/// use grov_proxy_core::{
///     Attempt, AttemptResult, Failover, Forward, Next, Proxy, Route, RouteRequest, Router, Target, Upstream, UpstreamHandle,
/// };
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// struct ByModel(UpstreamHandle);
///
/// impl Router for ByModel {
///     fn route(&self, request: &RouteRequest<'_>) -> Option<Route> {
///         let model = request.message?.index()?.model()?;
///         (model == "small").then(|| {
///             Route::Forward(Forward {
///                 targets: vec![Target::new(self.0.clone()), Target::new(UpstreamHandle::MAIN)],
///                 failover: Some(Arc::new(AfterFailures)),
///             })
///         })
///     }
/// }
///
/// struct AfterFailures;
///
/// impl Failover for AfterFailures {
///     fn attempted(&self, attempt: &Attempt<'_>) -> Next {
///         match attempt.result {
///             AttemptResult::Answered(head) if !head.status.is_server_error() => Next::Stop,
///             _ => Next::Try,
///         }
///     }
/// }
///
/// let builder = Proxy::builder(Upstream::parse("https://api.anthropic.com")?);
/// let other = Upstream::parse("http://127.0.0.1:9000")?;
/// let other = builder.upstreams().add(other, Duration::from_secs(5));
/// let proxy = builder.router(ByModel(other)).build()?;
/// # Ok::<(), grov_proxy_core::BuildError>(())
/// ```
pub trait Router: Send + Sync + 'static {
    /// Returns the route, or `None` for the main upstream without a codec.
    fn route(&self, request: &RouteRequest<'_>) -> Option<Route>;
}

/// A response that the embedder computes.
pub type Answer = Pin<Box<dyn Future<Output = Response<Bytes>> + Send>>;

/// What answers an exchange.
pub enum Route {
    /// No upstream: the proxy sends this response. The future runs on the thread that serves the connection and must not block
    /// it. Policies do not edit such a request, and observers do not see it.
    Answer(Answer),
    /// The first of these targets that answers.
    Forward(Forward),
}

impl Route {
    /// Returns the route to a single target.
    pub fn to(target: Target) -> Self {
        Self::Forward(Forward {
            targets: vec![target],
            failover: None,
        })
    }

    /// Returns the route to a response that is ready.
    pub fn answer(response: Response<Bytes>) -> Self {
        Self::Answer(Box::pin(std::future::ready(response)))
    }
}

/// Targets, in the order in which they are tried.
///
/// The next target is tried only before a byte of a response was sent to the client. With more than one target or a codec, the
/// body of the request is collected.
pub struct Forward {
    /// The targets. With none, the request is answered with status 500.
    pub targets: Vec<Target>,
    /// Follows the attempts and decides whether the next target is tried. Without it, the first target is the only one.
    pub failover: Option<Arc<dyn Failover>>,
}

/// An upstream, and how it is used.
#[derive(Clone)]
pub struct Target {
    /// The upstream.
    pub upstream: UpstreamHandle,
    /// Translates the exchange. With `None`, all bytes pass unchanged. Policies edit the request before it is translated, and
    /// observers see the translated response.
    pub codec: Option<Arc<dyn Codec>>,
    /// Whether the upstream belongs to another provider than the client's credentials.
    ///
    /// Then it receives only `content-type` and `accept` of the client's headers, and those that the codec adds. Redirects are
    /// errors and cookies are removed, because the client would take them for those of the main upstream.
    pub is_foreign: bool,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Headers to add to the response, also to an error response of the proxy itself.
    pub response_headers: Vec<(HeaderName, HeaderValue)>,
    /// After so long without a byte for the client in a translated stream, [`Decoder::ping`](crate::Decoder::ping) is sent.
    pub ping: Option<Duration>,
}

impl Target {
    /// Returns a target of the same provider, without a codec, and with the limits of the proxy.
    pub fn new(upstream: UpstreamHandle) -> Self {
        Self {
            upstream,
            codec: None,
            is_foreign: false,
            timeouts: Timeouts::default(),
            response_headers: Vec::new(),
            ping: None,
        }
    }
}

/// Time limits of a target. `None` is the limit of the proxy, see [`Limits`](crate::Limits). There is no limit for the whole
/// exchange. The limit for connecting belongs to the upstream, see [`Upstreams::add`](crate::Upstreams::add).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// Maximum wait for a response head, counted from the last progress of the request.
    pub first_byte: Option<Duration>,
    /// Maximum pause of the upstream inside a response body.
    pub idle: Option<Duration>,
}

/// Follows the attempts of one routed exchange.
///
/// Its methods run on the thread that serves the connection and must not block. A panic counts as [`Next::Stop`] or `None`.
pub trait Failover: Send + Sync + 'static {
    /// Called for each attempt, when its response head arrived or it failed. Called again if the head cannot be
    /// translated or a collected response fails after it. Returns whether another target is tried. The answer is ignored for the last
    /// target and for an abandoned attempt.
    fn attempted(&self, attempt: &Attempt<'_>) -> Next;

    /// Returns the response if the last attempt failed, or `None` for the response of the proxy.
    fn exhausted(&self, failure: &Failure) -> Option<Response<Bytes>> {
        let _ = failure;
        None
    }
}

/// Whether another target is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Keep this result.
    Stop,
    /// Try the next target.
    Try,
    /// Try the target with this index. Must be greater than that of this attempt; otherwise it means [`Next::Stop`].
    TryAt(usize),
}

/// An attempt to get a response from a target.
pub struct Attempt<'a> {
    /// The index of the target in [`Forward::targets`].
    pub target: usize,
    /// The time since the attempt began.
    pub elapsed: Duration,
    /// The result.
    pub result: AttemptResult<'a>,
}

/// The result of an attempt.
pub enum AttemptResult<'a> {
    /// The upstream answered. This is its head, before the codec translates it. Once more, with the translated head, if the status
    /// was a success and the codec makes an error of the collected answer.
    Answered(&'a response::Parts),
    /// It gave no usable response.
    Failed(&'a Failure),
    /// The client disconnected, or the proxy stopped, before a response head arrived.
    Abandoned,
}

/// Why an attempt gave no usable response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The details, for the log. They may name hosts and addresses, never credentials or text of the request.
    pub detail: String,
}

/// The kind of a [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The upstream is unreachable, or closed the connection before it responded.
    Unreachable,
    /// It did not respond in time.
    TimedOut,
    /// The codec cannot translate the request.
    Request,
    /// The response cannot be translated, is a redirect, or has an unsupported coding.
    Response,
}
