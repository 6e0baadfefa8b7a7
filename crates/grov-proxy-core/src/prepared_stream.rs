//! A stream that is made during its first read.

use crate::intake::BoxedStream;
use futures_util::future::BoxFuture;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream that a future makes, such as a TLS handshake. The limits of a connection that waits for its first request apply to it.
pub(crate) enum PreparedStream {
    Preparing(BoxFuture<'static, Option<BoxedStream>>),
    Ready(BoxedStream),
    /// There is no stream: the end of the connection.
    Ended,
}

impl PreparedStream {
    /// Returns the stream once it is there, or `None` if there is none.
    fn poll_stream(&mut self, cx: &mut Context<'_>) -> Poll<Option<&mut BoxedStream>> {
        if let Self::Preparing(prepared) = self {
            *self = match ready!(prepared.as_mut().poll(cx)) {
                Some(stream) => Self::Ready(stream),
                None => Self::Ended,
            };
        }
        Poll::Ready(self.stream())
    }

    fn stream(&mut self) -> Option<&mut BoxedStream> {
        match self {
            Self::Ready(stream) => Some(stream),
            Self::Preparing(_) | Self::Ended => None,
        }
    }
}

impl AsyncRead for PreparedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match ready!(self.poll_stream(cx)) {
            Some(stream) => Pin::new(stream).poll_read(cx, buf),
            None => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncWrite for PreparedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match ready!(self.poll_stream(cx)) {
            Some(stream) => Pin::new(stream).poll_write(cx, buf),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match ready!(self.poll_stream(cx)) {
            Some(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Ready(stream) => stream.is_write_vectored(),
            Self::Preparing(_) | Self::Ended => true,
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.stream() {
            Some(stream) => Pin::new(stream).poll_flush(cx),
            // Nothing was written.
            None => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.stream() {
            Some(stream) => Pin::new(stream).poll_shutdown(cx),
            // Dropping it closes the socket.
            None => Poll::Ready(Ok(())),
        }
    }
}
