//! Upstreams: their addresses, connecting to them, and the connection pool.

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

/// An error while connecting to an upstream.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The upstream, or the HTTP proxy before it, refused or was not found.
    #[error("cannot connect to {to}: {reason}")]
    Connect {
        /// Host and port tried.
        to: String,
        /// The error of the system or the proxy.
        reason: String,
    },
    /// The connection was not made in time.
    #[error("no connection to {to} within {limit:?}")]
    TimedOut {
        /// Host and port tried.
        to: String,
        /// The time limit.
        limit: Duration,
    },
    /// The TLS handshake failed, or the certificates of this machine could not be read.
    #[error("no secure connection to {to}: {reason}")]
    Tls {
        /// Host tried.
        to: String,
        /// The error of the TLS library.
        reason: String,
    },
}
