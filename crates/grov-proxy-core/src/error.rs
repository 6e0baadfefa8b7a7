//! Public errors.

/// An error of [`ProxyBuilder::build`](crate::ProxyBuilder::build) or [`Upstream::parse`](crate::Upstream::parse).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The URL of the upstream is not usable.
    #[error("the upstream {given:?} cannot be used: {reason}")]
    Upstream {
        /// The URL, without credentials.
        given: String,
        /// Why it is not usable.
        reason: String,
    },
}

/// An error of [`Proxy::serve`](crate::Proxy::serve).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The upstream, or the HTTP proxy before it, is the listener itself.
    #[error("{what} is this proxy's own address {address}: requests would loop")]
    Loop {
        /// What points to the listener.
        what: &'static str,
        /// The address of the listener.
        address: std::net::SocketAddr,
    },
    /// The listener failed.
    #[error("the listener failed: {0}")]
    Listener(#[from] std::io::Error),
    /// A thread could not be started.
    #[error("a thread cannot be started: {0}")]
    Threads(std::io::Error),
}
