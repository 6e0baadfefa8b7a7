//! Replaces hyper's responses to invalid HTTP by errors in the shape of the Messages API.
//!
//! hyper answers a request that it cannot parse with an empty body. This stream sits between hyper and the socket and writes the
//! proxy's error instead. It checks a write only while the connection is idle, for the exact bytes that hyper writes. It also notes
//! reads and flushes in the [`ConnectionState`].

use crate::connection_state::ConnectionState;
use crate::error_response::{ErrorKind, request_id};
use http::StatusCode;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A client socket that replaces hyper's error responses.
pub(crate) struct ClientIo<S> {
    socket: S,
    state: ConnectionState,
    /// The response being written, and the number of bytes written.
    own: Option<(Vec<u8>, usize)>,
}

impl<S> ClientIo<S> {
    pub(crate) fn new(socket: S, state: ConnectionState) -> Self {
        Self {
            socket,
            state,
            own: None,
        }
    }
}

/// The statuses of hyper's own error responses.
const REFUSALS: [StatusCode; 3] = [
    StatusCode::BAD_REQUEST,
    StatusCode::URI_TOO_LONG,
    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
];

/// Returns the replacement if `bytes` is an error response of hyper.
fn replacement(bytes: &[u8]) -> Option<Vec<u8>> {
    let status = REFUSALS.into_iter().find(|status| {
        let reason = status.canonical_reason().unwrap_or_default();
        [
            "connection: close\r\ncontent-length: 0",
            "content-length: 0\r\nconnection: close",
            "content-length: 0",
        ]
        .iter()
        .any(|fields| {
            bytes == format!("HTTP/1.1 {} {reason}\r\n{fields}\r\n\r\n", status.as_u16()).as_bytes()
        })
    })?;
    let id = request_id();
    tracing::warn!(
        request_id = id,
        status = status.as_u16(),
        "refused a request that is not valid HTTP/1.1"
    );
    let body = ErrorKind::BadFraming.body(None);
    let mut answer = format!(
        "HTTP/1.1 {} {}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         x-grov-request-id: {id}\r\ncontent-length: {}\r\n\r\n",
        status.as_u16(),
        status.canonical_reason().unwrap_or_default(),
        body.len()
    )
    .into_bytes();
    answer.extend_from_slice(&body);
    Some(answer)
}

impl<S: AsyncRead + Unpin> AsyncRead for ClientIo<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.socket).poll_read(cx, buf);
        if read.is_ready() && buf.filled().len() > before {
            self.state.read();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ClientIo<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.own.is_none() && this.state.is_idle() {
            this.own = replacement(buf).map(|answer| (answer, 0));
        }
        let Some((answer, written)) = &mut this.own else {
            return Pin::new(&mut this.socket).poll_write(cx, buf);
        };
        while *written < answer.len() {
            match Pin::new(&mut this.socket).poll_write(cx, &answer[*written..]) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(count)) => *written += count,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
        this.own = None;
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.own.is_some() || self.state.is_idle() {
            // hyper writes its error response in one piece.
            let first = bufs
                .iter()
                .find(|piece| !piece.is_empty())
                .map_or(&[][..], |piece| piece);
            return self.poll_write(cx, first);
        }
        Pin::new(&mut self.socket).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.socket).poll_flush(cx);
        if matches!(flushed, Poll::Ready(Ok(()))) {
            self.state.flushed();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
