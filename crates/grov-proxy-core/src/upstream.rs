//! Upstreams: their addresses, connecting to them, and the connection pool.

mod connect;
mod connection;
mod dial;
mod pool;
mod pools;
mod probe;
mod target;
mod wake;

pub(crate) use connect::Connector;
pub(crate) use connection::{SendError, UpstreamConnection};
pub use dial::{DialError, Dialer, PlainHttp};
pub(crate) use pool::Pool;
pub(crate) use pools::{Pools, Shared};
pub use pools::{UpstreamHandle, Upstreams};
pub use probe::{ProbeError, probe};
pub use target::Upstream;
pub(crate) use wake::{WakeFilter, WakeState};

use rustls::pki_types::InvalidDnsNameError;
use std::io;
use std::time::Duration;
use tokio::task::JoinError;

/// An error while connecting to an upstream.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error(transparent)]
    Dial(#[from] DialError),
    /// The connection was opened and is not usable.
    #[error("cannot connect to {to}: {reason}")]
    Connect {
        /// The host and port.
        to: String,
        /// The error and its causes.
        reason: String,
    },
    #[error("no connection to {to} within {limit:?}")]
    TimedOut { to: String, limit: Duration },
    /// The upstream, or the HTTP proxy in front of it, is the proxy itself.
    #[error("{0} is this proxy's own address: requests would loop")]
    Loop(&'static str),
    #[error("no secure connection to {to}: {source}")]
    Tls {
        /// The host.
        to: String,
        source: TlsError,
    },
}

/// Why a connection could not be secured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    /// The host is not a valid DNS name.
    #[error(transparent)]
    Host(#[from] InvalidDnsNameError),
    /// The certificates of this machine could not be used.
    #[error(transparent)]
    Certificates(#[from] rustls::Error),
    #[error(transparent)]
    Handshake(#[from] io::Error),
    #[error("the certificates were not read: {0}")]
    Cancelled(#[from] JoinError),
}
