//! The server over a pair of streams, such as standard input and output.

use crate::GrovServer;
use crate::bounded::Bounded;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};

/// Maximum bytes of a message. Longer ones are dropped; the client's request stays unanswered.
const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// Why serving ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The client closed its end before it sent a request, or began with a message that no protocol version allows.
    #[error("the client began no session: {0}")]
    Opening(String),
    /// The server's task failed.
    #[error("the server stopped: {0}")]
    Stopped(String),
}

/// Serves one client on standard input and output until it closes standard input.
///
/// # Errors
/// As [`serve`].
pub async fn serve_stdio(server: GrovServer) -> Result<(), ServeError> {
    let (input, output) = rmcp::transport::io::stdio();
    serve(server, input, output).await
}

/// Serves one client until it closes its end.
///
/// # Errors
/// Returns why serving ended early.
pub async fn serve<R, W>(server: GrovServer, input: R, output: W) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let running = match server.serve(Bounded::new(input, output, MAX_MESSAGE)).await {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        // Without the message, which may have megabytes.
        Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
            return Err(ServeError::Opening("its first message is no request".to_owned()));
        }
        Err(error) => return Err(ServeError::Opening(error.to_string())),
    };
    running
        .waiting()
        .await
        .map(drop)
        .map_err(|error| ServeError::Stopped(error.to_string()))
}
