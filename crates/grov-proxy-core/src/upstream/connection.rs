//! One driver to the upstream, driven by the task that uses it.
//!
//! hyper's own pooled client drives each driver in a task of its own and hands every chunk over between tasks.
//! Here the driver is polled by whoever waits for its answer, so a chunk needs no hand-over.

use super::pool::Owner;
use super::transport::Transport;
use super::wake::WakeFilter;
use crate::body::UpstreamBody;
use crate::read_limiter::ReadLimiter;
use crate::timeout::DeadlineTimer;
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

type Driver = http1::Connection<TokioIo<ReadLimiter<Transport>>, UpstreamBody>;

/// A driver that speaks HTTP/1.1, one exchange at a time.
pub(crate) struct UpstreamConnection {
    sender: http1::SendRequest<UpstreamBody>,
    /// `None` once it has come to its end: a request that it never took up comes back only when it is dropped.
    driver: Option<Driver>,
    /// For whoever waits on this driver.
    timer: DeadlineTimer,
    wake_filter: WakeFilter,
    owner: Owner,
}

/// Why a request got no answer.
pub(crate) enum SendError {
    /// The driver was closed and not one byte of the request written: it may be sent again.
    Unsent(Box<Request<UpstreamBody>>, hyper::Error),
    /// The driver broke.
    Broken(hyper::Error),
    /// The upstream said nothing within the limit.
    TimedOut,
}

impl UpstreamConnection {
    /// Prepares a fresh driver for its first request.
    pub(crate) async fn new(transport: Transport, owner: Owner) -> Result<Self, hyper::Error> {
        let stream = match &transport {
            Transport::Plain(_) => ReadLimiter::of_answers(transport),
            Transport::Secure(_) => ReadLimiter::of_records(transport),
        };
        let (sender, driver) = http1::Builder::new()
            .preserve_header_case(true)
            .max_buf_size(MAX_BUFFER)
            .handshake(TokioIo::new(stream))
            .await?;
        let mut connection = Self {
            sender,
            driver: Some(driver),
            timer: DeadlineTimer::default(),
            wake_filter: WakeFilter::new(),
            owner,
        };
        // The sender reports ready only after the driver was polled once.
        poll_fn(|cx| {
            connection.poll_drive(cx);
            connection.sender.poll_ready(cx)
        })
        .await?;
        Ok(connection)
    }

    /// Where the pool keeps it.
    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Whether the driver is still open and free, found out without waiting.
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
        let (driver, timer) = (&mut self.driver, &mut self.timer);
        poll_fn(|cx| {
            drive(driver, cx);
            if let Poll::Ready(answered) = answer.as_mut().poll(cx) {
                return Poll::Ready(answered.map_err(|mut failed| match failed.take_message() {
                    Some(request) => SendError::Unsent(Box::new(request), failed.into_error()),
                    None => SendError::Broken(failed.into_error()),
                }));
            }
            while let Some(end) = deadline
                && timer.poll(cx, end).is_ready()
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
    pub(crate) fn wake_filter(&self) -> WakeFilter {
        self.wake_filter.clone()
    }

    /// The timer, for waiting for the rest of an answer.
    pub(crate) fn take_timer(&mut self) -> DeadlineTimer {
        std::mem::take(&mut self.timer)
    }

    /// Takes the timer back.
    pub(crate) fn put_timer(&mut self, timer: DeadlineTimer) {
        self.timer = timer;
    }

    /// Moves bytes; `true` when the driver has come to its end.
    pub(crate) fn poll_drive(&mut self, cx: &mut Context<'_>) -> bool {
        drive(&mut self.driver, cx)
    }
}

fn drive(driver: &mut Option<Driver>, cx: &mut Context<'_>) -> bool {
    let ended = driver
        .as_mut()
        .is_none_or(|driver| Pin::new(driver).poll(cx).is_ready());
    if ended {
        *driver = None;
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
        let mut connection =
            UpstreamConnection::new(Transport::Plain(stream), Owner::new(0, &Arc::default()))
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
        let (sent, ()) = tokio::join!(connection.send(request(), limit), answering);
        assert!(sent.is_ok());
        assert!(connection.is_usable());
        drop(upstream);
        // The close is to be known to the runtime, not yet to the driver.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let failed = connection.send(request(), limit).await.expect_err("no answer");
        assert!(matches!(failed, SendError::Unsent(..)), "it may be sent again");
    }
}
