//! The embeddable proxy: relay, exchange, identity and the recorder, between a coding agent and its model.
//!
//! Entry points: [`Proxy::builder`] takes an [`Upstream`], any number of [`RequestPolicy`] (what may be added to a
//! request) and [`TurnObserver`] (who is told what was answered), and [`Proxy::serve`] runs it on a listener. Streams that
//! come from elsewhere, such as a TLS handshake, are handed over by an [`Intake`].
//! A [`Router`] sends exchanges to other upstreams, and a [`Codec`] translates them where these speak another dialect.
//! Everything Grov does on the wire is one of these; a program that embeds the proxy brings its own.
//! [`Recorder`] is the observer that turns exchanges into records, [`TaskOrchestrator`] divides what it records into
//! tasks and saves those that are done, an [`ActionWatch`] judges what the agent did before it is recorded.
//!
//! It knows HTTP and the ports of `grov-domain`. It does not know SQL, hooks, configuration files or the terminal.
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
mod identity;
mod intake;
mod ledger;
mod limits;
mod memory;
mod metrics;
mod observe;
mod own;
mod page;
mod pages;
mod patience;
mod places;
mod policy;
mod progress;
mod prompts;
mod proxy;
mod recorder;
mod relay;
mod request;
mod rescue;
mod route;
mod server;
mod short_reads;
mod tasks;
pub mod upstream;
mod watch;
mod workers;
mod working_directory;

pub use codec::{Codec, CodecError, Decoder};
pub use error::{BuildError, ServeError};
pub use grov_domain::Lineage;
pub use headers::HeaderPolicy;
pub use identity::Identity;
pub use intake::{Intake, NotServing};
pub use ledger::{
    Answered, ContextSource, Counters as InjectionCounters, Injection, InjectionWork, LedgerBackend,
    Occasion, Words,
};
pub use limits::Limits;
pub use memory::{MemoryBackend, MemorySource};
pub use metrics::Metrics;
pub use observe::{ObservedExchange, TurnObserver};
pub use page::{Page, PageAnswer, PageRequest};
pub use places::Location;
pub use policy::RequestPolicy;
pub use proxy::{Proxy, ProxyBuilder};
pub use recorder::{Recorder, UserNaming};
pub use request::MessagesRequest;
pub use route::{Route, RouteRequest, Router};
pub use tasks::{TaskLedger, TaskOrchestration, TaskOrchestrator};
pub use upstream::{Upstream, UpstreamId};
pub use watch::{ActionWatch, Question, ToolOutcome, Watched, WatchedExchange};
