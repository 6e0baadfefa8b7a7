//! One connection to the upstream, driven by the task that uses it.
//!
//! hyper's own pooled client drives each connection in a task of its own and hands every chunk over between tasks.
//! Here the connection is polled by whoever waits for its answer, so a chunk needs no hand-over.

use super::transport::Transport;
use crate::body::UpstreamBody;
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// Largest read buffer per connection.
const MAX_BUFFER: usize = 256 * 1024;

/// A connection that speaks HTTP/1.1, one exchange at a time.
pub(crate) struct Link {
    sender: http1::SendRequest<UpstreamBody>,
    connection: http1::Connection<TokioIo<Transport>, UpstreamBody>,
}

/// A request that got no answer.
pub(crate) struct SendError {
    /// The request, when not one byte of it was written: it may be sent again.
    pub(crate) unsent: Option<Box<Request<UpstreamBody>>>,
    /// What happened.
    pub(crate) error: hyper::Error,
}

impl Link {
    /// Prepares a fresh connection for its first request.
    pub(crate) async fn new(transport: Transport) -> Result<Self, hyper::Error> {
        let (sender, connection) = http1::Builder::new()
            .preserve_header_case(true)
            .max_buf_size(MAX_BUFFER)
            .handshake(TokioIo::new(transport))
            .await?;
        let mut link = Self { sender, connection };
        // The sender reports ready only after the connection was polled once.
        poll_fn(|cx| {
            if let Poll::Ready(result) = Pin::new(&mut link.connection).poll(cx) {
                return Poll::Ready(result);
            }
            link.sender.poll_ready(cx)
        })
        .await?;
        Ok(link)
    }

    /// Whether the connection is still open and free, found out without waiting.
    pub(crate) fn is_usable(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        Pin::new(&mut self.connection).poll(&mut cx).is_pending()
            && matches!(self.sender.poll_ready(&mut cx), Poll::Ready(Ok(())))
    }

    /// Sends a request and waits for the head of the answer.
    pub(crate) async fn send(
        &mut self,
        request: Request<UpstreamBody>,
    ) -> Result<Response<hyper::body::Incoming>, SendError> {
        let Self { sender, connection } = self;
        let mut answer = pin!(sender.try_send_request(request));
        let mut closed = false;
        let result = poll_fn(|cx| {
            if !closed {
                closed = Pin::new(&mut *connection).poll(cx).is_ready();
            }
            answer.as_mut().poll(cx)
        })
        .await;
        result.map_err(|mut failed| SendError {
            unsent: failed.take_message().map(Box::new),
            error: failed.into_error(),
        })
    }

    /// Moves bytes; `true` when the connection has come to its end.
    pub(crate) fn poll_drive(&mut self, cx: &mut Context<'_>) -> bool {
        Pin::new(&mut self.connection).poll(cx).is_ready()
    }
}
