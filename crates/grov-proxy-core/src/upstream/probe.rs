//! Tries an upstream without sending a request.

use super::{ConnectError, Connector, Upstream};
use std::sync::Arc;
use std::time::Duration;

/// Why an upstream cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// No connection: the network, the name, or the HTTP proxy before it.
    #[error("{0}")]
    Unreachable(String),
    /// A connection that cannot be secured: the certificate is not trusted, or the server speaks no TLS.
    #[error("{0}")]
    NotSecure(String),
}

/// Opens a connection to an upstream as the proxy does, with TLS for `https` and through the user's HTTP proxy, and closes it.
///
/// # Errors
/// There is no usable connection within the limit.
pub async fn probe(upstream: Upstream, limit: Duration) -> Result<(), ProbeError> {
    let connector = Connector::new(upstream, limit, Arc::default());
    match connector.connect().await {
        Ok(_) => Ok(()),
        Err(error @ ConnectError::Tls { .. }) => Err(ProbeError::NotSecure(error.to_string())),
        Err(error) => Err(ProbeError::Unreachable(error.to_string())),
    }
}
