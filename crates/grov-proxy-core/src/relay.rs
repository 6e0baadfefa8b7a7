//! The response body on its way to the client.
//!
//! The upstream connection is driven from here, in the exchange's own task. Frames that are already there leave as
//! one write; a lone frame leaves at once. What was sent is fed to the tap only when the client's write is done.

mod silence;

use crate::body_budget::BodyReservation;
use crate::codec::Interruption;
use crate::metrics::Metrics;
use crate::observe::{FinishedExchange, ObserverQueue};
use crate::read_limiter::SHORT_RESPONSE;
use crate::request::MessagesRequest;
use crate::response_body::{BodyError, ResponseBody};
use crate::timeout::DeadlineTimer;
use crate::upstream::{Pool, UpstreamConnection, WakeFilter, WakeState};
use bytes::{Bytes, BytesMut};
use grov_wire::response::ResponseTap;
use http_body::{Body, Frame, SizeHint};
pub(crate) use silence::SilenceTimer;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use time::OffsetDateTime;

/// Frames are joined up to this size.
const JOIN_LIMIT: usize = SHORT_RESPONSE as usize;

/// Initial capacity for joined frames.
const JOIN_START: usize = 8 * 1024;

/// Up to this many bytes are copied for the observers.
const COPY_LIMIT: usize = 4 * 1024;

/// How long an upstream may take to end a response of which the client has everything.
const END_LIMIT: Duration = Duration::from_millis(500);

/// Why a response body was cut.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RelayError {
    #[error(transparent)]
    Body(#[from] BodyError),
    #[error("the upstream cut the response")]
    Cut,
    #[error(transparent)]
    Interrupted(Interruption),
}

/// The result of polling a relayed body.
pub(crate) type PolledFrame = Poll<Option<Result<Frame<Bytes>, RelayError>>>;

/// The response as the observers will see it.
pub(crate) struct ObservedResponse {
    pub(crate) request: Arc<MessagesRequest>,
    pub(crate) status: u16,
    pub(crate) tap: ResponseTap,
    pub(crate) observation: ObserverQueue,
}

/// Where the response body comes from.
pub(crate) struct RelaySource {
    /// `None` if the whole body is in memory.
    pub(crate) connection: Option<UpstreamConnection>,
    pub(crate) body: ResponseBody,
    pub(crate) pool: Arc<Pool>,
    /// Maximum pause of the upstream.
    pub(crate) idle: Duration,
    /// The interval of pings while the upstream is silent.
    pub(crate) ping: Option<Duration>,
}

/// A response body on its way to the client.
pub(crate) struct Relay {
    connection: Option<UpstreamConnection>,
    wake_filter: Option<WakeFilter>,
    body: ResponseBody,
    pool: Arc<Pool>,
    metrics: Arc<Metrics>,
    observed: Option<ObservedResponse>,
    /// Bytes relayed so far.
    relayed: usize,
    /// Sent to the client, not yet fed to the tap.
    unfed: Option<Bytes>,
    /// Trailers that follow data still to be sent.
    trailers: Option<Frame<Bytes>>,
    /// Whether the connection could flush since the last frame.
    yielded: bool,
    /// Whether the upstream had no further frame: the task will be woken.
    drained: bool,
    /// Whether the last frame is a copy.
    joined: bool,
    state: State,
    silence: SilenceTimer,
    /// Memory of the request body, which observers read.
    _reservation: Option<BodyReservation>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Flowing,
    Ended,
    Broken,
}

impl Relay {
    pub(crate) fn new(
        source: RelaySource,
        metrics: Arc<Metrics>,
        observed: Option<ObservedResponse>,
        reservation: Option<BodyReservation>,
    ) -> Self {
        let RelaySource {
            mut connection,
            body,
            pool,
            idle,
            ping,
        } = source;
        metrics.streams.inc();
        let (wake_filter, timer) = match &mut connection {
            Some(connection) => (connection.wake_filter(), connection.take_timer()),
            None => (WakeFilter::new(), DeadlineTimer::default()),
        };
        Self {
            wake_filter: Some(wake_filter),
            connection,
            body,
            pool,
            metrics,
            observed,
            relayed: 0,
            unfed: None,
            trailers: None,
            yielded: false,
            drained: false,
            joined: false,
            state: State::Flowing,
            silence: SilenceTimer::new(timer, idle, ping),
            _reservation: reservation,
        }
    }

    /// Returns the available frames, joined. `Pending` if there are none.
    fn poll_ready_frames(&mut self, cx: &mut Context<'_>) -> PolledFrame {
        let Some(wake_filter) = self.wake_filter.take() else {
            return Poll::Pending;
        };
        let polled = wake_filter.poll(cx, |state, cx| self.poll_connection(state, cx));
        self.wake_filter = Some(wake_filter);
        polled
    }

    fn poll_connection(&mut self, state: &WakeState, cx: &mut Context<'_>) -> PolledFrame {
        let mut first: Option<Bytes> = None;
        let mut joined = BytesMut::new();
        self.drained = false;
        let mut again = false;
        loop {
            state.clear();
            if self
                .connection
                .as_mut()
                .is_some_and(|connection| connection.poll_drive(cx))
            {
                self.connection = None;
            }
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    // A codec may return nothing for a chunk: the upstream is not idle.
                    Ok(data) if data.is_empty() => self.silence.received(),
                    Ok(data) => {
                        match first.take() {
                            None if joined.is_empty() => first = Some(data),
                            head => {
                                if let Some(head) = head {
                                    joined.reserve(JOIN_START.max(head.len() + data.len()));
                                    joined.extend_from_slice(&head);
                                }
                                joined.extend_from_slice(&data);
                            }
                        }
                        if joined.len().max(first.as_ref().map_or(0, Bytes::len)) >= JOIN_LIMIT {
                            break;
                        }
                    }
                    Err(trailers) if first.is_none() && joined.is_empty() => {
                        return Poll::Ready(Some(Ok(trailers)));
                    }
                    // Joined data is sent first.
                    Err(trailers) => {
                        self.trailers = Some(trailers);
                        break;
                    }
                },
                Poll::Ready(Some(Err(error))) => {
                    self.state = State::Broken;
                    self.broke(&error);
                    let is_flushed = self.relayed == 0 || self.yielded;
                    if first.is_none() && joined.is_empty() && is_flushed {
                        return Poll::Ready(Some(Err(error.into())));
                    }
                    // Data before the error is sent first. The next poll returns the error.
                    cx.waker().wake_by_ref();
                    break;
                }
                Poll::Ready(None) => {
                    if let Some(error) = self.body.take_told() {
                        self.broke(&error);
                    }
                    self.end();
                    // The client connection may have buffered the next request. It looks for it when polled again.
                    cx.waker().wake_by_ref();
                    break;
                }
                // Once: when tokio's budget is spent, every poll wakes.
                Poll::Pending if state.is_woken() && !again => again = true,
                Poll::Pending => {
                    self.drained = true;
                    break;
                }
            }
        }
        self.joined = first.is_none();
        let data = first.or_else(|| (!joined.is_empty()).then(|| joined.freeze()));
        match data {
            Some(data) => Poll::Ready(Some(Ok(Frame::data(data)))),
            None if self.state == State::Ended => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    /// Counts and logs an error of the body.
    fn broke(&mut self, error: &BodyError) {
        self.connection = None;
        self.metrics.fault(match error {
            BodyError::Upstream(_) => "upstream_broke",
            BodyError::Codec(_) => "codec_failed",
        });
        tracing::warn!(%error, "a response broke off");
    }

    fn end(&mut self) {
        self.state = State::Ended;
        if let Some(mut connection) = self.connection.take() {
            connection.put_timer(self.silence.take_timer());
            self.pool.give_back(connection);
        }
    }

    fn feed(&mut self, bytes: &Bytes) {
        let Some(observed) = &mut self.observed else {
            return;
        };
        let fed = std::panic::catch_unwind(AssertUnwindSafe(|| observed.tap.feed(bytes)));
        if fed.is_err() {
            self.metrics.fault("response_parser_panic");
            tracing::error!("the response parser panicked; the exchange is not recorded");
            self.observed = None;
        }
    }

    /// Returns whether the unfed bytes can wait: they are a copy, or small enough to be copied.
    fn is_apart(&self) -> bool {
        self.joined || self.unfed.as_ref().is_none_or(|bytes| bytes.len() <= COPY_LIMIT)
    }

    /// Returns pending once, so that the connection flushes. Wakes the task only if nothing else will.
    fn poll_yield<T>(&mut self, cx: &mut Context<'_>) -> Poll<T> {
        self.yielded = true;
        if !self.drained || self.silence.poll(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Returns a frame that did not come from the upstream.
    fn own_frame(&mut self, bytes: Bytes) -> Frame<Bytes> {
        self.joined = true;
        self.sending(&bytes);
        Frame::data(bytes)
    }

    fn sending(&mut self, bytes: &Bytes) {
        self.yielded = false;
        self.relayed += bytes.len();
        if self.observed.is_some() {
            self.unfed = Some(bytes.clone());
        }
    }
}

impl Body for Relay {
    type Data = Bytes;
    type Error = RelayError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame {
        let this = self.get_mut();
        if this.state == State::Ended && this.trailers.is_none() && this.is_apart() {
            // The end is written together with the last frame. The observers feed that frame.
            return Poll::Ready(None);
        }
        if let Some(bytes) = this.unfed.take() {
            if !this.yielded {
                // Lets the connection flush before the tap reads the bytes.
                this.unfed = Some(bytes);
                return this.poll_yield(cx);
            }
            this.feed(&bytes);
        }
        if let Some(trailers) = this.trailers.take() {
            return Poll::Ready(Some(Ok(trailers)));
        }
        match this.state {
            State::Flowing => {}
            State::Ended => return Poll::Ready(None),
            State::Broken if !this.yielded => {
                // Data before the error is sent first. The next poll returns the error.
                return this.poll_yield(cx);
            }
            State::Broken => return Poll::Ready(Some(Err(RelayError::Cut))),
        }
        let polled = this.poll_ready_frames(cx);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                this.silence.relayed();
                if this.body.is_done() {
                    this.silence.limit_to(END_LIMIT);
                }
                this.yielded = false;
                if let Some(bytes) = frame.data_ref() {
                    this.sending(bytes);
                }
            }
            Poll::Ready(_) => {}
            Poll::Pending => return this.poll_silence(cx),
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.state == State::Flowing && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Copies the bytes if they are few: a slice would hold the whole read buffer of the connection.
fn apart(bytes: Bytes) -> Bytes {
    if bytes.len() <= COPY_LIMIT {
        return Bytes::copy_from_slice(&bytes);
    }
    bytes
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.metrics.streams.dec();
        if self.state == State::Flowing {
            // With a known length, hyper stops polling at the last byte.
            if let Some(connection) = self.connection.as_mut() {
                let _ = connection.poll_drive(&mut Context::from_waker(Waker::noop()));
            }
            if self.body.is_end_stream() {
                self.end();
            }
        }
        let client_gone = self.state == State::Flowing;
        if client_gone {
            self.metrics.clients_gone.inc();
        }
        if let Some(observed) = self.observed.take() {
            let ObservedResponse {
                request,
                status,
                tap,
                observation,
            } = observed;
            observation.submit(FinishedExchange {
                request,
                status,
                tap,
                relayed: self.relayed,
                unfed: self.unfed.take().map(apart),
                body_ended: self.state == State::Ended,
                client_gone,
                ended_at: OffsetDateTime::now_utc(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_bytes_for_the_observers_do_not_hold_the_read_buffer() {
        for (length, is_apart) in [(1, true), (COPY_LIMIT, true), (COPY_LIMIT + 1, false)] {
            let buffer = Bytes::from(vec![7; 16 * 1024]);
            let kept = apart(buffer.slice(..length));
            assert_eq!(kept, vec![7; length]);
            assert_eq!(buffer.is_unique(), is_apart, "{length}");
        }
    }
}
