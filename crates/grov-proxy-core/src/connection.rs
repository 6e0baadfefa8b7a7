//! One client connection: served by hyper, closed on a timeout, for eviction or at shutdown.

use crate::admission::{Access, Client};
use crate::client_io::ClientIo;
use crate::connection_state::{ConnectionState, NOT_EVICTABLE, Phase, Signal};
use crate::exchange::Service;
use crate::limits::Limits;
use crate::read_limiter::ReadLimiter;
use crate::timeout::DeadlineTimer;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

/// Largest request head, in bytes.
const MAX_HEAD: usize = 32 * 1024;

/// Longest pause inside a request body after shutdown began. A body that keeps coming has the grace period.
const SHUTDOWN_BODY_PAUSE: Duration = Duration::from_secs(1);

/// A client that reads nothing of an endless response for this long loses its connection.
const STREAM_PAUSE: Duration = Duration::from_secs(60);

/// Longest wait for a head, and longest pause inside a body, on a connection beyond the limit.
const ADMIN_ONLY_WAIT: Duration = Duration::from_secs(2);

/// Before a connection without any request closes, it waits this long: the request that its client sent at once may not have
/// been read yet.
const LAST_CHANCE: Duration = Duration::from_millis(2);

/// Why the proxy closed a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CloseReason {
    TimedOut(Phase),
    MadeRoom,
    Stopped,
}

/// Serves a connection until it ends. `start` is when the server started.
pub(crate) async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    socket: S,
    service: Arc<Service>,
    state: ConnectionState,
    client: Client,
    start: Instant,
) {
    let access = client.access;
    let mut timeouts = ConnectionTimeouts::new(state.clone(), &service.limits, access, start);
    let io = TokioIo::new(ReadLimiter::of_requests(ClientIo::new(socket, state.clone())));
    // What follows HTTP, if it ends with a change of protocol.
    let switched = Arc::new(Mutex::new(None));
    let (own, next) = (state.clone(), Arc::clone(&switched));
    let respond = service_fn(move |request| {
        let service = Arc::clone(&service);
        let guard = state.begin_request();
        let client = client.clone();
        let (state, next) = (state.clone(), Arc::clone(&next));
        async move {
            let mut response = service.serve(request, guard, &client).await;
            if let Some(follows) = response.body_mut().take_switched() {
                *next.lock().unwrap_or_else(PoisonError::into_inner) = Some(follows);
            } else if state.signal() == Signal::Retire {
                let close = http::HeaderValue::from_static("close");
                response.headers_mut().insert(http::header::CONNECTION, close);
            }
            Ok::<_, Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .preserve_header_case(true)
        .auto_date_header(false)
        .max_buf_size(MAX_HEAD)
        .keep_alive(access == Access::Everything)
        .serve_connection(io, respond)
        .with_upgrades();
    let mut connection = pin!(connection);
    let ended = poll_fn(|cx| {
        loop {
            if let Poll::Ready(result) = connection.as_mut().poll(cx) {
                return Poll::Ready(Ok(result));
            }
            match timeouts.poll(cx) {
                Poll::Ready(Action::FinishRequest) => connection.as_mut().graceful_shutdown(),
                Poll::Ready(Action::Close(reason)) => return Poll::Ready(Err(reason)),
                Poll::Pending => return Poll::Pending,
            }
        }
    });
    match ended.await {
        Ok(Ok(())) => {
            let follows = switched.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some((switched, serving)) = follows {
                // Boxed: other connections must not pay for the memory of its state.
                Box::pin(switched.relay(serving, &own)).await;
            }
        }
        Ok(Err(error)) => tracing::debug!(%error, "a client connection ended early"),
        Err(reason) => tracing::debug!(?reason, "closed a client connection"),
    }
}

/// Makes hyper render its date on this thread. It does so with the first connection of a thread, and panics if the clock is
/// before 1970; a clock that is set back later does no harm.
pub(crate) async fn render_date() {
    let service = service_fn(|_| async { Ok::<_, Infallible>(http::Response::new(String::new())) });
    let no_client = TokioIo::new(tokio::io::empty());
    // Ends at once, without a request.
    let _ = http1::Builder::new().serve_connection(no_client, service).await;
}

/// What must happen to a connection.
enum Action {
    /// The current request must be the last one.
    FinishRequest,
    Close(CloseReason),
}

/// Checks the deadlines and signals of a connection each time it waits. It has one timer, and none while a response is on its
/// way.
struct ConnectionTimeouts {
    state: ConnectionState,
    /// For [`Phase::FirstRequest`] and [`Phase::Head`].
    head: Duration,
    /// For [`Phase::NextRequest`].
    keep_alive: Duration,
    /// For [`Phase::Body`].
    body_pause: Duration,
    start: Instant,
    /// The phase that the deadline is for, and the number of requests before it.
    phase: Option<(Phase, u64)>,
    /// `None` for no limit.
    deadline: Option<Instant>,
    /// [`ConnectionState::reads`] when the deadline was set.
    reads: u64,
    /// [`ConnectionState::stream_polls`] then.
    stream_polls: u64,
    timer: DeadlineTimer,
    stopping: bool,
    last_chance: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl ConnectionTimeouts {
    fn new(state: ConnectionState, limits: &Limits, access: Access, start: Instant) -> Self {
        let most = match access {
            Access::Everything => Duration::MAX,
            Access::AdminOnly => ADMIN_ONLY_WAIT,
        };
        Self {
            state,
            head: limits.head.min(most),
            keep_alive: limits.keep_alive,
            body_pause: limits.body_silence.min(most),
            start,
            phase: None,
            deadline: None,
            reads: 0,
            stream_polls: 0,
            timer: DeadlineTimer::default(),
            stopping: false,
            last_chance: None,
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Action> {
        self.state.register(cx.waker());
        match self.state.signal() {
            Signal::None | Signal::Retire => {}
            Signal::MakeRoom if self.state.is_idle() => {
                if self.poll_last_chance(cx).is_ready() {
                    return Poll::Ready(Action::Close(CloseReason::MadeRoom));
                }
            }
            Signal::MakeRoom => {
                self.last_chance = None;
                self.state.decline_eviction();
            }
            // hyper would wait for the rest of a partial head.
            Signal::Stop if self.state.is_idle() => {
                if self.state.phase() != Phase::FirstRequest || self.poll_last_chance(cx).is_ready() {
                    return Poll::Ready(Action::Close(CloseReason::Stopped));
                }
            }
            Signal::Stop if self.stopping => {}
            Signal::Stop => {
                self.stopping = true;
                self.phase = None;
                return Poll::Ready(Action::FinishRequest);
            }
        }
        let phase = self.state.phase();
        let current = (phase, self.state.requests());
        if self.phase != Some(current) {
            self.phase = Some(current);
            self.start_phase(phase);
        }
        while let Some(deadline) = self.deadline {
            if self.timer.poll(cx, deadline).is_pending() {
                break;
            }
            // A slow body may go on, and so may a stream.
            let has_moved = match phase {
                Phase::Body => self.state.reads() != self.reads,
                Phase::Stream => self.state.stream_polls() != self.stream_polls,
                _ => false,
            };
            if !has_moved {
                return Poll::Ready(Action::Close(CloseReason::TimedOut(phase)));
            }
            self.start_phase(phase);
        }
        Poll::Pending
    }

    /// Lets the runtime read once more before an idle connection closes: a request may have arrived.
    fn poll_last_chance(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let is_first = self.state.phase() == Phase::FirstRequest;
        let last_chance = self.last_chance.get_or_insert_with(|| match is_first {
            true => Box::pin(tokio::time::sleep(LAST_CHANCE)),
            false => Box::pin(tokio::task::yield_now()),
        });
        last_chance.as_mut().poll(cx)
    }

    /// Sets the deadline and the eviction rank of a phase.
    fn start_phase(&mut self, phase: Phase) {
        let limit = match phase {
            Phase::FirstRequest | Phase::Head => Some(self.head),
            Phase::NextRequest => Some(self.keep_alive),
            Phase::Body if self.stopping => Some(SHUTDOWN_BODY_PAUSE),
            Phase::Body => Some(self.body_pause),
            Phase::Stream => Some(STREAM_PAUSE),
            Phase::Response => None,
        };
        let Some(limit) = limit else {
            self.deadline = None;
            self.state.set_eviction_rank(NOT_EVICTABLE);
            return;
        };
        let now = Instant::now();
        // An overflow means no limit.
        self.deadline = now.checked_add(limit);
        self.reads = self.state.reads();
        self.stream_polls = self.state.stream_polls();
        let rank = eviction_rank(phase, now - self.start);
        self.state.set_eviction_rank(rank);
    }
}

/// Returns the [eviction rank](ConnectionState::eviction_rank) of a connection whose phase began at `since`: idle connections
/// come first, the longest idle before the others, then those with a partial head.
pub(crate) fn eviction_rank(phase: Phase, since: Duration) -> u64 {
    let since = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
    match phase {
        Phase::FirstRequest | Phase::NextRequest => since.min(NOT_EVICTABLE / 2),
        Phase::Head => (NOT_EVICTABLE / 2 + since).min(NOT_EVICTABLE - 1),
        Phase::Body | Phase::Response | Phase::Stream => NOT_EVICTABLE,
    }
}

#[cfg(test)]
mod tests;
