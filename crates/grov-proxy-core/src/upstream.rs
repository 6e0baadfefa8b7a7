//! The route to the model's API: where it is, how it is connected to, and the connections kept ready.

mod connect;
mod connection;
mod pool;
mod pools;
mod target;
mod transport;
mod wake;

pub use connect::Connector;
pub(crate) use connection::{SendError, UpstreamConnection};
pub(crate) use pool::Pool;
pub(crate) use pools::Pools;
pub use pools::UpstreamId;
pub use target::Upstream;
pub(crate) use wake::{WakeFilter, WakeState};

use std::time::Duration;

/// Why no connection to the upstream could be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The upstream, or the proxy before it, refused or could not be found.
    #[error("cannot connect to {to}: {reason}")]
    Connect {
        /// Host and port tried.
        to: String,
        /// What the system or the proxy said.
        reason: String,
    },
    /// No connection within the time allowed.
    #[error("no connection to {to} within {limit:?}")]
    TimedOut {
        /// Host and port tried.
        to: String,
        /// Time allowed.
        limit: Duration,
    },
    /// The certificates of this machine could not be used, or the upstream's was refused.
    #[error("no secure connection to {to}: {reason}")]
    Tls {
        /// Host tried.
        to: String,
        /// What the TLS library said.
        reason: String,
    },
}
