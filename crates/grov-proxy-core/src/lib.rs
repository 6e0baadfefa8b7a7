//! An embeddable proxy for the Anthropic Messages API.
//!
//! The proxy sits between a client, such as a coding agent, and the API. It relays every byte unchanged and as it arrives, in
//! both directions. A program that embeds it can add text to requests, observe the answers, route exchanges to other
//! upstreams and serve its own admin routes:
//!
//! | To | implement | and pass it to |
//! |---|---|---|
//! | add text to requests | [`RequestPolicy`] | [`ProxyBuilder::policy`] |
//! | see requests with their answers | [`TurnObserver`] | [`ProxyBuilder::observer`] |
//! | choose the upstreams of an exchange, or answer it | [`Router`] | [`ProxyBuilder::router`] |
//! | translate for another API | [`Codec`] | [`Target::codec`] |
//! | try another upstream after a failure | [`Failover`] | [`Forward::failover`] |
//! | decide which requests are served, and for whom | [`Gatekeeper`] | [`ProxyBuilder::gatekeeper`] |
//! | answer requests below `/_grov/` | [`AdminRoute`] | [`ProxyBuilder::admin_route`] |
//! | serve pages below `/_grov/` to a browser | [`Site`] | [`ProxyBuilder::site`] |
//!
//! # Example
//!
//! A proxy that logs the output tokens of each answer:
//!
//! ```no_run
//! use grov_proxy_core::{ObservedExchange, Proxy, TurnObserver, Upstream};
//! use tokio::net::TcpListener;
//!
//! struct LogUsage;
//!
//! impl TurnObserver for LogUsage {
//!     fn name(&self) -> &'static str {
//!         "log-usage"
//!     }
//!
//!     fn observe(&self, exchange: &ObservedExchange) {
//!         let tokens = exchange.turn.usage.output;
//!         tracing::info!(status = exchange.status, tokens, "answered");
//!     }
//! }
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let proxy = Proxy::builder(Upstream::parse("https://api.anthropic.com")?)
//!     .observer(LogUsage)
//!     .build()?;
//! let listener = TcpListener::bind("127.0.0.1:8080").await?;
//! let shutdown = async {
//!     let _ = tokio::signal::ctrl_c().await;
//! };
//! proxy.serve(listener, shutdown).await?;
//! # Ok(())
//! # }
//! ```
//!
//! `examples/embed.rs` is a whole program with a policy, an observer and an admin route.
//!
//! # Guarantees
//!
//! - **Bytes pass unchanged.** Without a policy that edits, the upstream receives the client's bytes, and the client the
//!   upstream's. Only hop-by-hop headers, `host`, `x-grov-*` and the framing differ.
//! - **Fail open.** If a policy panics, is late, or proposes edits that do not fit, the request is forwarded without its
//!   edits. If the upstream rejects an edited request, the original is sent once.
//! - **Bounded.** Bodies, connections, waits and the queue of the observers have limits, see [`Limits`].
//! - **Credentials stay.** A target marked as foreign never receives the client's credentials, and its redirects are refused.
//! - **Local.** Requests with a foreign `Host`, or from web pages of other hosts, are refused.
//!
//! # Runtime
//!
//! The proxy needs a Tokio runtime with I/O and time enabled. With [`ProxyBuilder::workers`] it starts worker threads, each with
//! its own runtime. Observers run on one more thread.
//!
//! The crate has no code for sessions, storage, models or configuration files.
#![forbid(unsafe_code)]

mod admin;
mod admission;
mod api_upstreams;
mod body;
mod body_budget;
mod buffers;
mod client_io;
mod codec;
mod connection;
mod connection_state;
mod error;
mod error_response;
mod exchange;
mod failover;
mod forward;
mod gate;
mod headers;
mod intake;
mod limits;
mod metrics;
mod observe;
mod policy;
mod prepared_stream;
mod profile;
mod proxy;
mod read_limiter;
mod relay;
mod request;
mod response_body;
mod route;
mod secure_stream;
mod sent_edits;
mod server;
mod timeout;
mod tunnel;
mod upgrade;
mod upstream;
mod workers;

pub use admin::MetricKind;
pub use admin::{AdminRequest, AdminResponse, AdminRoute, Site, SiteBody};
pub use api_upstreams::ApiUpstreams;
pub use codec::{Codec, CodecError, Decoder, Delivery, Encoded, Interruption};
pub use error::{BuildError, ServeError};
pub use gate::{Admitted, Arrival, Gatekeeper, Peer, Refusal};
pub use headers::{HeaderPolicy, remove_hop_by_hop};
pub use intake::{Intake, NotServing};
pub use limits::Limits;
pub use metrics::Metrics;
pub use observe::{ObservedExchange, Outcome, TurnObserver};
pub use policy::RequestPolicy;
pub use profile::ConnectionProfile;
pub use proxy::{Proxy, ProxyBuilder};
pub use request::MessagesRequest;
pub use route::{
    Answer, Attempt, AttemptResult, Failover, Failure, FailureKind, Forward, Next, Route, RouteRequest,
    Router, Target, Timeouts,
};
pub use sent_edits::{SentChange, SentEdits};
pub use server::{Shutdown, prepare_accepted};
pub use tunnel::copy_both;
pub use upstream::{DialError, Dialer, PlainHttp, ProbeError, Upstream, UpstreamHandle, Upstreams, probe};
