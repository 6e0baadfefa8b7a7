//! Why a proxy could not be built or could not serve.

/// A proxy could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The upstream's address is not usable.
    #[error("the upstream {given:?} cannot be used: {reason}")]
    Upstream {
        /// What was given, without credentials.
        given: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// A proxy could not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The upstream, or the proxy on the route to it, is this very listener.
    #[error("{what} is this proxy's own address {address}: requests would go round in circles")]
    Loop {
        /// What points at us.
        what: &'static str,
        /// Our address.
        address: std::net::SocketAddr,
    },
    /// The listener failed.
    #[error("the listener failed: {0}")]
    Listener(#[from] std::io::Error),
    /// The threads that serve or observe could not be started.
    #[error("the system gives no more threads: {0}")]
    Threads(std::io::Error),
}
