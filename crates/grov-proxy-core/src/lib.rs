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

mod admission;
mod answer;
mod body;
mod body_memory;
mod codec;
mod connection;
mod error;
mod exchange;
mod forward;
mod headers;
mod intake;
mod limits;
mod metrics;
mod observe;
mod own;
mod page;
mod pages;
mod patience;
mod policy;
mod progress;
mod proxy;
mod relay;
mod request;
mod rescue;
mod route;
mod server;
mod short_reads;
pub mod upstream;
mod workers;

pub use codec::{Codec, CodecError, Decoder};
pub use error::{BuildError, ServeError};
pub use headers::HeaderPolicy;
pub use intake::{Intake, NotServing};
pub use limits::Limits;
pub use metrics::Metrics;
pub use observe::{ObservedExchange, Outcome, TurnObserver};
pub use own::MetricKind;
pub use page::{Page, PageAnswer, PageRequest};
pub use policy::RequestPolicy;
pub use proxy::{Proxy, ProxyBuilder};
pub use request::MessagesRequest;
pub use route::{Route, RouteRequest, Router};
pub use upstream::{Upstream, UpstreamId};
