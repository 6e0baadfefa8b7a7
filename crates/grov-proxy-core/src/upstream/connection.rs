//! One connection to the upstream, polled by the task that uses it.
//!
//! hyper's pooled client drives each connection in a separate task and hands every chunk over between tasks. Here the task that
//! waits for the response polls the connection.

use super::pool::Owner;
use super::wake::WakeFilter;
use crate::body::UpstreamBody;
use crate::intake::BoxedStream;
use crate::read_limiter::ReadLimiter;
use crate::timeout::DeadlineTimer;
use hyper::client::conn::http1;
use hyper::upgrade::Upgraded;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::time::Instant;

/// Largest response head, in bytes.
const MAX_BUFFER: usize = 32 * 1024;

/// hyper's connection. Its type with support for upgrades has no public name.
type Driver = Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>;

/// An HTTP/1.1 connection for one exchange at a time.
pub(crate) struct UpstreamConnection {
    sender: http1::SendRequest<UpstreamBody>,
    /// `None` once it ended. A request that it never sent is returned only when it is dropped.
    driver: Option<Driver>,
    /// For the deadline of the current wait.
    timer: DeadlineTimer,
    wake_filter: WakeFilter,
    owner: Owner,
}

/// Why a request got no response.
pub(crate) enum SendError {
    /// The connection was closed before one byte was written: the request can be sent again.
    Unsent(Box<Request<UpstreamBody>>, hyper::Error),
    /// The connection broke.
    Broken(hyper::Error),
    /// The upstream did not respond in time.
    TimedOut,
}

impl UpstreamConnection {
    /// Prepares a new connection for its first request.
    pub(crate) async fn new(stream: ReadLimiter<BoxedStream>, owner: Owner) -> Result<Self, hyper::Error> {
        let (sender, driver) = http1::Builder::new()
            .preserve_header_case(true)
            .max_buf_size(MAX_BUFFER)
            .handshake(TokioIo::new(stream))
            .await?;
        let mut connection = Self {
            sender,
            driver: Some(Box::pin(driver.with_upgrades())),
            timer: DeadlineTimer::default(),
            wake_filter: WakeFilter::new(),
            owner,
        };
        // The sender is ready only after the connection was polled once.
        poll_fn(|cx| {
            connection.poll_drive(cx);
            connection.sender.poll_ready(cx)
        })
        .await?;
        Ok(connection)
    }

    /// Returns the worker that opened it.
    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Returns whether the connection is open and free. Does not wait.
    pub(crate) fn is_usable(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        !self.poll_drive(&mut cx) && matches!(self.sender.poll_ready(&mut cx), Poll::Ready(Ok(())))
    }

    /// Sends a request and waits for the response head. Times out when nothing moved for `limit`; a slow upload may continue.
    pub(crate) async fn send(
        &mut self,
        request: Request<UpstreamBody>,
        limit: Duration,
    ) -> Result<Response<hyper::body::Incoming>, SendError> {
        let frames = request.body().frames();
        let mut seen = frames.load(Ordering::Relaxed);
        // An overflow means no limit.
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

    /// Returns the stream after a response with status 101.
    pub(crate) async fn upgraded(
        mut self,
        response: &mut Response<hyper::body::Incoming>,
    ) -> Result<Upgraded, hyper::Error> {
        let upgraded = hyper::upgrade::on(response);
        poll_fn(|cx| match self.poll_drive(cx) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
        upgraded.await
    }

    /// Returns the filter for polling the connection together with its response body.
    pub(crate) fn wake_filter(&self) -> WakeFilter {
        self.wake_filter.clone()
    }

    /// Takes the timer, for waiting for the rest of a response.
    pub(crate) fn take_timer(&mut self) -> DeadlineTimer {
        std::mem::take(&mut self.timer)
    }

    /// Returns the timer.
    pub(crate) fn put_timer(&mut self, timer: DeadlineTimer) {
        self.timer = timer;
    }

    /// Polls the connection. Returns `true` when it ended.
    pub(crate) fn poll_drive(&mut self, cx: &mut Context<'_>) -> bool {
        drive(&mut self.driver, cx)
    }
}

fn drive(driver: &mut Option<Driver>, cx: &mut Context<'_>) -> bool {
    let ended = driver
        .as_mut()
        .is_none_or(|driver| driver.as_mut().poll(cx).is_ready());
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
    async fn request_on_a_closed_connection_is_returned_unsent() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut upstream, _) = listener.accept().await.unwrap();
        let mut connection = UpstreamConnection::new(
            ReadLimiter::of_responses(Box::new(stream)),
            Owner::new(0, &Arc::default()),
        )
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
