//! A stream of which some bytes were already read.

use bytes::{Buf, Bytes};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A socket, after the bytes that were read from it before.
pub(crate) struct Prefixed {
    prefix: Bytes,
    socket: TcpStream,
}

impl Prefixed {
    pub(crate) fn new(prefix: Bytes, socket: TcpStream) -> Self {
        Self { prefix, socket }
    }

    /// Returns the bytes that were read before, and the socket.
    pub(crate) fn into_parts(self) -> (Bytes, TcpStream) {
        (self.prefix, self.socket)
    }

    /// Returns the next byte and leaves it in the stream. `None` at the end.
    pub(crate) async fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.prefix.is_empty() {
            let mut first = [0];
            let count = self.socket.peek(&mut first).await?;
            return Ok((count > 0).then_some(first[0]));
        }
        Ok(self.prefix.first().copied())
    }

    /// Reads and drops what still arrives, at most `limit` bytes, so that closing the socket does not discard what was written.
    pub(crate) async fn discard(&mut self, limit: usize) {
        let mut buffer = [0; 4096];
        let mut left = limit;
        while left > 0 {
            match self.read(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(count) => left = left.saturating_sub(count),
            }
        }
    }
}

impl AsyncRead for Prefixed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.prefix.is_empty() {
            return Pin::new(&mut self.socket).poll_read(cx, buf);
        }
        let count = self.prefix.len().min(buf.remaining());
        buf.put_slice(&self.prefix[..count]);
        self.prefix.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Prefixed {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
