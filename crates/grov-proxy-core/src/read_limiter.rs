//! Limits the size of reads, so that hyper's read buffers stay small.
//!
//! hyper doubles a connection's read buffer whenever a read fills it, and keeps the larger one. Its own limit would limit the size
//! of heads as well. Short reads do not fill a larger buffer.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf, Take};

/// Largest short read of a response, in bytes: hyper grows its buffer above.
pub(crate) const SHORT_RESPONSE: u64 = 16 * 1024 - 1;

/// Largest short read of a request, in bytes: a small request arrives in one read (docs/performance.md).
const SHORT_REQUEST: u64 = 24 * 1024 - 1;

/// After this many bytes without a pause, reads are no longer limited: short reads cost a fifth more for 1 MB
/// (docs/performance.md).
const LARGE: u64 = 8 * SHORT_RESPONSE;

/// Limits the reads of `S` except for large messages. Writes pass through.
pub(crate) struct ReadLimiter<S> {
    stream: Take<S>,
    /// Largest short read, in bytes.
    short: u64,
    /// Bytes read since the stream was last pending.
    run: u64,
}

impl<S: AsyncRead> ReadLimiter<S> {
    fn new(stream: S, short: u64) -> Self {
        Self {
            stream: stream.take(short),
            short,
            run: 0,
        }
    }

    /// For a stream of requests.
    pub(crate) fn of_requests(stream: S) -> Self {
        Self::new(stream, SHORT_REQUEST)
    }

    /// For a stream of responses.
    pub(crate) fn of_responses(stream: S) -> Self {
        Self::new(stream, SHORT_RESPONSE)
    }

    /// For a stream that hands over records of 16 KiB: shorter reads would leave a byte of each.
    pub(crate) fn of_records(stream: S) -> Self {
        Self::new(stream, u64::MAX)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ReadLimiter<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let limit = if self.run < LARGE { self.short } else { u64::MAX };
        self.stream.set_limit(limit);
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        let count = (buf.filled().len() - before) as u64;
        self.run = if read.is_ready() {
            self.run.saturating_add(count)
        } else {
            0
        };
        read
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for ReadLimiter<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(self.stream.get_mut()).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(self.stream.get_mut()).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.get_ref().is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.stream.get_mut()).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.stream.get_mut()).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncWriteExt, DuplexStream};

    async fn reads_of(length: u32, wrap: fn(DuplexStream) -> ReadLimiter<DuplexStream>) -> Vec<usize> {
        let (mut near, far) = tokio::io::duplex(1024 * 1024);
        let sent: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
        near.write_all(&sent).await.unwrap();
        drop(near);
        let mut stream = wrap(far);
        let mut got = Vec::new();
        let mut reads = Vec::new();
        loop {
            let mut buffer = Vec::with_capacity(64 * 1024);
            let count = stream.read_buf(&mut buffer).await.unwrap();
            if count == 0 {
                assert_eq!(got, sent);
                return reads;
            }
            got.extend_from_slice(&buffer);
            reads.push(count);
        }
    }

    #[tokio::test]
    async fn small_messages_are_read_in_short_pieces() {
        let reads = reads_of(100_000, ReadLimiter::of_responses).await;
        assert!(reads.iter().all(|count| *count < 16 * 1024), "{reads:?}");
        let reads = reads_of(100_000, ReadLimiter::of_requests).await;
        assert!(reads.iter().all(|count| *count < 24 * 1024), "{reads:?}");
        assert_eq!(reads_of(21_000, ReadLimiter::of_requests).await, [21_000]);
    }

    #[tokio::test]
    async fn large_messages_are_read_in_large_pieces() {
        let reads = reads_of(1_000_000, ReadLimiter::of_responses).await;
        assert!(reads.contains(&(64 * 1024)), "{reads:?}");
    }

    #[tokio::test]
    async fn tls_records_are_read_completely() {
        let reads = reads_of(100_000, ReadLimiter::of_records).await;
        assert_eq!(reads[0], 64 * 1024, "as much as there is room for");
    }
}
