//! Streams that the proxy serves and did not accept itself: behind a TLS or CONNECT handshake, or within one process.

use std::fmt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

/// Any stream of bytes in both directions.
pub(crate) trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> ByteStream for S {}

/// A stream of which only the proxy's embedder knows the type.
pub(crate) type BoxedStream = Box<dyn ByteStream>;

/// Streams that may wait for the accept loop.
const WAITING: usize = 16;

/// Hands streams to a proxy, which serves each like a connection that it accepted: within the same limits, on the same threads,
/// and until the same shutdown. See [`Proxy::intake`](crate::Proxy::intake).
#[derive(Clone)]
pub struct Intake(mpsc::Sender<BoxedStream>);

/// The proxy does not serve: it has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the proxy has stopped serving")]
pub struct NotServing;

impl Intake {
    /// The intake, and what comes through it.
    pub(crate) fn new() -> (Self, mpsc::Receiver<BoxedStream>) {
        let (intake, streams) = mpsc::channel(WAITING);
        (Self(intake), streams)
    }

    /// Hands over a stream on which a client speaks HTTP/1.1. Returns when it was taken, not when it ends. A stream handed over
    /// before the proxy serves waits until it does, and so does the caller where many wait.
    ///
    /// # Errors
    /// Where the proxy has stopped. The stream is closed then.
    pub async fn serve_stream(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Result<(), NotServing> {
        self.0.send(Box::new(stream)).await.map_err(|_| NotServing)
    }
}

impl fmt::Debug for Intake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Intake").finish_non_exhaustive()
    }
}
