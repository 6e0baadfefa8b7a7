//! The embeddable proxy between a coding agent and its model.
//!
//! Entry points: [`Proxy::builder`] takes an [`Upstream`], any number of [`RequestPolicy`] (what may be added to a
//! request) and [`TurnObserver`] (who is told what was answered), and [`Proxy::serve`] runs it on a listener. Streams that
//! come from elsewhere, such as a TLS handshake, are handed over by an [`Intake`].
//! A [`Router`] sends exchanges to other upstreams, and a [`Codec`] translates them where these speak another dialect.
//! Everything Grov does on the wire is one of these; a program that embeds the proxy brings its own.
//!
//! It knows HTTP and `grov-wire`. It does not know sessions, stores, models, hooks, configuration files or the terminal.
#![forbid(unsafe_code)]

mod admin;
mod admission;
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
mod forward;
mod headers;
mod intake;
mod limits;
mod metrics;
mod observe;
mod policy;
mod proxy;
mod read_limiter;
mod relay;
mod request;
mod route;
mod server;
mod timeout;
pub mod upstream;
mod workers;

pub use admin::MetricKind;
pub use admin::{AdminRequest, AdminResponse, AdminRoute};
pub use codec::{Codec, CodecError, Decoder};
pub use error::{BuildError, ServeError};
pub use headers::HeaderPolicy;
pub use intake::{Intake, NotServing};
pub use limits::Limits;
pub use metrics::Metrics;
pub use observe::{ObservedExchange, Outcome, TurnObserver};
pub use policy::RequestPolicy;
pub use proxy::{Proxy, ProxyBuilder};
pub use request::MessagesRequest;
pub use route::{Route, RouteRequest, Router};
pub use upstream::{Upstream, UpstreamId};
