//! One connection to the upstream, driven by the task that uses it.
//!
//! hyper's own pooled client drives each connection in a task of its own and hands every chunk over between tasks.
//! Here the connection is polled by whoever waits for its answer, so a chunk needs no hand-over.

use super::alarm::Alarm;
use super::pool::Home;
use super::transport::Transport;
use crate::body::UpstreamBody;
use crate::patience::Patience;
use crate::short_reads::ShortReads;
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::time::Instant;

/// Largest head of an answer, in bytes, as far as it is read by then.
const MAX_BUFFER: usize = 32 * 1024;

type Connection = http1::Connection<TokioIo<ShortReads<Transport>>, UpstreamBody>;

/// A connection that speaks HTTP/1.1, one exchange at a time.
pub(crate) struct Link {
    sender: http1::SendRequest<UpstreamBody>,
    /// `None` once it has come to its end: a request that it never took up comes back only when it is dropped.
    connection: Option<Connection>,
    /// For whoever waits on this connection.
    patience: Patience,
    alarm: Alarm,
    home: Home,
}

/// Why a request got no answer.
pub(crate) enum SendError {
    /// The connection was closed and not one byte of the request written: it may be sent again.
    Unsent(Box<Request<UpstreamBody>>, hyper::Error),
    /// The connection broke.
    Broken(hyper::Error),
    /// The upstream said nothing within the limit.
    TimedOut,
}

impl Link {
    /// Prepares a fresh connection for its first request.
    pub(crate) async fn new(transport: Transport, home: Home) -> Result<Self, hyper::Error> {
        let stream = match &transport {
            Transport::Plain(_) => ShortReads::of_answers(transport),
            Transport::Secure(_) => ShortReads::of_records(transport),
        };
        let (sender, connection) = http1::Builder::new()
            .preserve_header_case(true)
            .max_buf_size(MAX_BUFFER)
            .handshake(TokioIo::new(stream))
            .await?;
        let mut link = Self {
            sender,
            connection: Some(connection),
            patience: Patience::default(),
            alarm: Alarm::new(),
            home,
        };
        // The sender reports ready only after the connection was polled once.
        poll_fn(|cx| {
            link.poll_drive(cx);
            link.sender.poll_ready(cx)
        })
        .await?;
        Ok(link)
    }

    /// Where the pool keeps it.
    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    /// Whether the connection is still open and free, found out without waiting.
    pub(crate) fn is_usable(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        !self.poll_drive(&mut cx) && matches!(self.sender.poll_ready(&mut cx), Poll::Ready(Ok(())))
    }

    /// Sends a request and waits for the head of the answer, as long as the upstream is not silent for `limit`: an upload
    /// may take as long as it moves.
    pub(crate) async fn send(
        &mut self,
        request: Request<UpstreamBody>,
        limit: Duration,
    ) -> Result<Response<hyper::body::Incoming>, SendError> {
        let frames = request.body().frames();
        let mut seen = frames.load(Ordering::Relaxed);
        // Beyond the end of time: no limit.
        let mut deadline = Instant::now().checked_add(limit);
        let mut answer = pin!(self.sender.try_send_request(request));
        let (connection, patience) = (&mut self.connection, &mut self.patience);
        poll_fn(|cx| {
            drive(connection, cx);
            if let Poll::Ready(answered) = answer.as_mut().poll(cx) {
                return Poll::Ready(answered.map_err(|mut failed| match failed.take_message() {
                    Some(request) => SendError::Unsent(Box::new(request), failed.into_error()),
                    None => SendError::Broken(failed.into_error()),
                }));
            }
            while let Some(end) = deadline
                && patience.poll(cx, end).is_ready()
            {
                let moved = frames.load(Ordering::Relaxed);
                if moved == seen {
                    return Poll::Ready(Err(SendError::TimedOut));
                }
                seen = moved;
                deadline = Instant::now().checked_add(limit);
            }
            Poll::Pending
        })
        .await
    }

    /// What wakes whoever polls it together with the body of its answer.
    pub(crate) fn alarm(&self) -> Alarm {
        self.alarm.clone()
    }

    /// The timer, for waiting for the rest of an answer.
    pub(crate) fn take_patience(&mut self) -> Patience {
        std::mem::take(&mut self.patience)
    }

    /// Takes the timer back.
    pub(crate) fn put_patience(&mut self, patience: Patience) {
        self.patience = patience;
    }

    /// Moves bytes; `true` when the connection has come to its end.
    pub(crate) fn poll_drive(&mut self, cx: &mut Context<'_>) -> bool {
        drive(&mut self.connection, cx)
    }
}

fn drive(connection: &mut Option<Connection>, cx: &mut Context<'_>) -> bool {
    let ended = connection
        .as_mut()
        .is_none_or(|connection| Pin::new(connection).poll(cx).is_ready());
    if ended {
        *connection = None;
    }
    ended
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    #[tokio::test]
    async fn a_request_on_a_connection_that_just_closed_comes_back_instead_of_waiting_for_ever() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut upstream, _) = listener.accept().await.unwrap();
        let mut link = Link::new(Transport::Plain(stream), Home::among(0, &Arc::default()))
            .await
            .unwrap();
        let request = || Request::new(UpstreamBody::whole("{}".into()));
        let answering = async {
            let mut request = Vec::new();
            while !request.ends_with(b"{}") {
                upstream.read_buf(&mut request).await.unwrap();
            }
            upstream
                .write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
                .await
                .unwrap();
        };
        let limit = Duration::from_secs(60);
        let (sent, ()) = tokio::join!(link.send(request(), limit), answering);
        assert!(sent.is_ok());
        assert!(link.is_usable());
        drop(upstream);
        // The close is to be known to the runtime, not yet to the connection.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let failed = link.send(request(), limit).await.expect_err("no answer");
        assert!(matches!(failed, SendError::Unsent(..)), "it may be sent again");
    }
}
