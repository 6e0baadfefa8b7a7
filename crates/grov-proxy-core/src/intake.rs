//! Streams that the embedder accepted, for example after a TLS handshake.

use crate::profile::ConnectionProfile;
use futures_util::future::BoxFuture;
use std::fmt;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

/// A byte stream in both directions.
pub(crate) trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> ByteStream for S {}

/// A stream of any type.
pub(crate) type BoxedStream = Box<dyn ByteStream>;

/// What the embedder handed over.
pub(crate) enum Taken {
    /// A stream on which the client speaks to the proxy itself.
    Stream(BoxedStream),
    /// An intercepted connection.
    Intercepted {
        socket: TcpStream,
        prepare: Prepare,
        profile: Arc<ConnectionProfile>,
    },
}

/// Makes the stream of requests from a socket. `None` ends the connection.
pub(crate) type Prepare = Box<dyn FnOnce(TcpStream) -> BoxFuture<'static, Option<BoxedStream>> + Send>;

/// Streams that may wait for the accept loop.
const WAITING: usize = 16;

/// Hands streams to a proxy.
///
/// They are served like accepted connections: with the same limits, on the same threads, until the same shutdown. Created by
/// [`Proxy::intake`](crate::Proxy::intake).
#[derive(Clone)]
pub struct Intake(mpsc::Sender<Taken>);

/// The proxy has stopped serving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the proxy has stopped serving")]
pub struct NotServing;

impl Intake {
    /// Returns the intake and the receiver of its streams.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Taken>) {
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
        self.take(Taken::Stream(Box::new(stream))).await
    }

    /// Hands over the socket of a client that believes to be connected to the server that `profile` names. `prepare` makes the
    /// stream on which it speaks HTTP/1.1, or returns `None` if it cannot. Otherwise like [`Intake::serve_stream`].
    ///
    /// `prepare` runs on the thread that serves the connection, and within [`Limits::head`](crate::Limits::head).
    ///
    /// # Errors
    /// If the proxy has stopped. The socket is closed.
    pub async fn serve_intercepted<S, F>(
        &self,
        socket: TcpStream,
        profile: Arc<ConnectionProfile>,
        prepare: impl FnOnce(TcpStream) -> F + Send + 'static,
    ) -> Result<(), NotServing>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        F: Future<Output = Option<S>> + Send + 'static,
    {
        let prepare: Prepare = Box::new(|socket| {
            let prepared = prepare(socket);
            Box::pin(async { prepared.await.map(|stream| Box::new(stream) as BoxedStream) })
        });
        self.take(Taken::Intercepted {
            socket,
            prepare,
            profile,
        })
        .await
    }

    async fn take(&self, taken: Taken) -> Result<(), NotServing> {
        self.0.send(taken).await.map_err(|_| NotServing)
    }
}

impl fmt::Debug for Intake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Intake").finish_non_exhaustive()
    }
}
