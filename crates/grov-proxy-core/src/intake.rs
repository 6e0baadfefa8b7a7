//! Streams that the embedder accepted, for example after a TLS handshake.

use crate::profile::ConnectionProfile;
use std::fmt;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

/// A byte stream in both directions.
pub(crate) trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> ByteStream for S {}

/// A stream of any type.
pub(crate) type BoxedStream = Box<dyn ByteStream>;

/// A stream of the intake, and how its requests are treated.
pub(crate) struct TakenStream {
    pub(crate) stream: BoxedStream,
    /// `None` for requests to the proxy itself.
    pub(crate) profile: Option<Arc<ConnectionProfile>>,
}

/// Streams that may wait for the accept loop.
const WAITING: usize = 16;

/// Hands streams to a proxy.
///
/// They are served like accepted connections: with the same limits, on the same threads, until the same shutdown. Created by
/// [`Proxy::intake`](crate::Proxy::intake).
#[derive(Clone)]
pub struct Intake(mpsc::Sender<TakenStream>);

/// The proxy has stopped serving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the proxy has stopped serving")]
pub struct NotServing;

impl Intake {
    /// Returns the intake and the receiver of its streams.
    pub(crate) fn new() -> (Self, mpsc::Receiver<TakenStream>) {
        let (intake, streams) = mpsc::channel(WAITING);
        (Self(intake), streams)
    }

    /// Hands over a stream on which a client speaks HTTP/1.1 to the proxy.
    ///
    /// Returns when the stream is queued, not when it ends. Up to 16 streams are queued; further calls wait.
    ///
    /// # Errors
    /// If the proxy has stopped. The stream is closed.
    ///
    /// # Cancellation
    /// If the future is dropped before it completes, the stream is closed.
    pub async fn serve_stream(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Result<(), NotServing> {
        self.take(Box::new(stream), None).await
    }

    /// Hands over a stream on which a client speaks HTTP/1.1 to the server that `profile` names. Otherwise like
    /// [`Intake::serve_stream`].
    ///
    /// # Errors
    /// If the proxy has stopped. The stream is closed.
    pub async fn serve_intercepted(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        profile: Arc<ConnectionProfile>,
    ) -> Result<(), NotServing> {
        self.take(Box::new(stream), Some(profile)).await
    }

    async fn take(
        &self,
        stream: BoxedStream,
        profile: Option<Arc<ConnectionProfile>>,
    ) -> Result<(), NotServing> {
        let taken = TakenStream { stream, profile };
        self.0.send(taken).await.map_err(|_| NotServing)
    }
}

impl fmt::Debug for Intake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Intake").finish_non_exhaustive()
    }
}
