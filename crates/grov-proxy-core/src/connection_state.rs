//! What a client connection is doing. Its timeouts, a shutdown and the eviction of idle connections depend on it.
//!
//! One value per connection, shared by the socket, the service, the connection's task and the accept loop. All but the accept
//! loop run in that task, so relaxed loads and stores suffice.

use futures_util::task::AtomicWaker;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::task::Waker;

/// What a client connection is doing.
#[derive(Clone, Default)]
pub(crate) struct ConnectionState(Arc<State>);

struct State {
    /// Whether a request is being served.
    serving: AtomicBool,
    /// Whether part of a response is not flushed. hyper drops a response body before its last bytes are written.
    unflushed: AtomicBool,
    /// Requests that reached the service.
    requests: AtomicU64,
    /// Whether the proxy waits for bytes of the request body.
    awaits_body: AtomicBool,
    /// Whether the head of the response to the current request is ready.
    response_started: AtomicBool,
    /// Whether part of the next request's head was read.
    head_started: AtomicBool,
    /// Whether the client speaks plain HTTP although it should use TLS.
    is_plain_on_tls: AtomicBool,
    /// Whether the response is one of a site, which may be endless.
    is_stream: AtomicBool,
    /// How often the body of such a response was polled.
    stream_polls: AtomicU64,
    /// Reads that returned bytes.
    reads: AtomicU64,
    /// A [`Signal`].
    signal: AtomicU8,
    /// See [`ConnectionState::eviction_rank`].
    eviction_rank: AtomicU64,
    /// The connection's task.
    task: AtomicWaker,
}

/// The eviction rank of a connection that must not be evicted.
pub(crate) const NOT_EVICTABLE: u64 = u64::MAX;

impl Default for State {
    fn default() -> Self {
        Self {
            serving: AtomicBool::new(false),
            unflushed: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            awaits_body: AtomicBool::new(false),
            response_started: AtomicBool::new(false),
            head_started: AtomicBool::new(false),
            is_plain_on_tls: AtomicBool::new(false),
            is_stream: AtomicBool::new(false),
            stream_polls: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            signal: AtomicU8::new(NONE),
            eviction_rank: AtomicU64::new(NOT_EVICTABLE),
            task: AtomicWaker::new(),
        }
    }
}

const NONE: u8 = 0;
const MAKE_ROOM: u8 = 1;
const RETIRE: u8 = 2;
const STOP: u8 = 3;

/// A request of the accept loop to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    None,
    /// Close if idle, so that a new client can connect.
    MakeRoom,
    /// Close after the next response, because another process serves new connections.
    Retire,
    /// Close after the current request.
    Stop,
}

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The first request.
    FirstRequest,
    /// The rest of a request head.
    Head,
    /// The next request.
    NextRequest,
    /// The rest of a request body.
    Body,
    /// The response, or the client reading it.
    Response,
    /// The client reading a response that may be endless.
    Stream,
}

impl ConnectionState {
    /// Notes that a request reached the service. It is served until the guard is dropped, with the response body.
    pub(crate) fn begin_request(&self) -> RequestGuard {
        let state = &self.0;
        state.serving.store(true, Ordering::Relaxed);
        state.unflushed.store(true, Ordering::Relaxed);
        state.head_started.store(false, Ordering::Relaxed);
        state.response_started.store(false, Ordering::Relaxed);
        state.is_stream.store(false, Ordering::Relaxed);
        let requests = state.requests.load(Ordering::Relaxed);
        state.requests.store(requests + 1, Ordering::Relaxed);
        RequestGuard(self.clone())
    }

    /// Notes that everything hyper had to write is written.
    pub(crate) fn flushed(&self) {
        if !self.0.serving.load(Ordering::Relaxed) {
            self.0.unflushed.store(false, Ordering::Relaxed);
        }
    }

    /// Returns whether no request is served and the last response is flushed.
    pub(crate) fn is_idle(&self) -> bool {
        !self.0.unflushed.load(Ordering::Relaxed)
    }

    /// Notes that the client speaks plain HTTP although it should use TLS.
    pub(crate) fn note_plain_on_tls(&self) {
        self.0.is_plain_on_tls.store(true, Ordering::Relaxed);
    }

    /// Notes a read that returned bytes.
    pub(crate) fn read(&self) {
        let state = &self.0;
        let reads = state.reads.load(Ordering::Relaxed);
        state.reads.store(reads + 1, Ordering::Relaxed);
        if self.is_idle() {
            state.head_started.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the number of reads that returned bytes.
    pub(crate) fn reads(&self) -> u64 {
        self.0.reads.load(Ordering::Relaxed)
    }

    /// Returns what the connection waits for.
    pub(crate) fn phase(&self) -> Phase {
        let state = &self.0;
        match self.is_idle() {
            true if state.head_started.load(Ordering::Relaxed) => Phase::Head,
            true if self.requests() == 0 => Phase::FirstRequest,
            true => Phase::NextRequest,
            false if state.is_stream.load(Ordering::Relaxed) => Phase::Stream,
            // Once the response has started, the client may take its time with the rest of its body.
            false if state.response_started.load(Ordering::Relaxed) => Phase::Response,
            false if state.awaits_body.load(Ordering::Relaxed) => Phase::Body,
            false => Phase::Response,
        }
    }

    /// Returns a number that grows while the client reads an endless response.
    pub(crate) fn stream_polls(&self) -> u64 {
        self.0.stream_polls.load(Ordering::Relaxed)
    }

    /// Returns the number of requests that reached the service.
    pub(crate) fn requests(&self) -> u64 {
        self.0.requests.load(Ordering::Relaxed)
    }

    /// Registers the task to wake for a signal.
    pub(crate) fn register(&self, task: &Waker) {
        self.0.task.register(task);
    }

    /// Returns the pending signal.
    pub(crate) fn signal(&self) -> Signal {
        match self.0.signal.load(Ordering::Acquire) {
            NONE => Signal::None,
            MAKE_ROOM => Signal::MakeRoom,
            RETIRE => Signal::Retire,
            _ => Signal::Stop,
        }
    }

    /// Clears [`Signal::MakeRoom`]. Other signals stay.
    pub(crate) fn decline_eviction(&self) {
        let signal = &self.0.signal;
        let _ = signal.compare_exchange(MAKE_ROOM, NONE, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Asks the connection to close if it is idle.
    pub(crate) fn signal_make_room(&self) {
        let signal = &self.0.signal;
        let _ = signal.compare_exchange(NONE, MAKE_ROOM, Ordering::AcqRel, Ordering::Acquire);
        self.0.task.wake();
    }

    /// Asks the connection to close after the next response, which says so to the client.
    pub(crate) fn signal_retire(&self) {
        self.0.signal.store(RETIRE, Ordering::Release);
        self.0.task.wake();
    }

    /// Asks the connection to close after the current request.
    pub(crate) fn signal_stop(&self) {
        self.0.signal.store(STOP, Ordering::Release);
        self.0.task.wake();
    }

    /// Returns the eviction rank: connections with a smaller rank are evicted first.
    pub(crate) fn eviction_rank(&self) -> u64 {
        match self.signal() {
            Signal::None => self.0.eviction_rank.load(Ordering::Relaxed),
            // Closing already.
            Signal::MakeRoom | Signal::Retire | Signal::Stop => NOT_EVICTABLE,
        }
    }

    /// Sets the eviction rank.
    pub(crate) fn set_eviction_rank(&self, rank: u64) {
        self.0.eviction_rank.store(rank, Ordering::Relaxed);
    }
}

/// A request being served, see [`ConnectionState::begin_request`].
pub(crate) struct RequestGuard(ConnectionState);

impl RequestGuard {
    /// Notes that the proxy waits for the request body until the guard is dropped.
    pub(crate) fn expect_body(&self) -> BodyProgress {
        let progress = self.stream_body();
        progress.set_starved(true);
        progress
    }

    /// Tracks a request body that is read as fast as the upstream takes it.
    pub(crate) fn stream_body(&self) -> BodyProgress {
        BodyProgress(self.0.clone())
    }

    /// Tracks a response that may be endless.
    pub(crate) fn stream(&self) -> StreamProgress {
        self.0.0.is_stream.store(true, Ordering::Relaxed);
        StreamProgress(self.0.clone())
    }

    /// Returns whether the client speaks plain HTTP although it should use TLS.
    pub(crate) fn is_plain_on_tls(&self) -> bool {
        self.0.0.is_plain_on_tls.load(Ordering::Relaxed)
    }

    /// Notes that the head of the response is ready.
    pub(crate) fn response_started(&self) {
        self.0.0.response_started.store(true, Ordering::Relaxed);
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.0.serving.store(false, Ordering::Relaxed);
    }
}

/// The progress of a response that may be endless.
pub(crate) struct StreamProgress(ConnectionState);

impl StreamProgress {
    /// Notes that the connection is ready for more of it.
    pub(crate) fn polled(&self) {
        self.0.0.stream_polls.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns whether the connection is to close.
    pub(crate) fn must_end(&self) -> bool {
        matches!(self.0.signal(), Signal::Retire | Signal::Stop)
    }
}

/// The progress of a request body.
pub(crate) struct BodyProgress(ConnectionState);

impl BodyProgress {
    /// Sets whether the proxy waits for bytes that the client has not sent.
    pub(crate) fn set_starved(&self, starved: bool) {
        self.0.0.awaits_body.store(starved, Ordering::Relaxed);
    }
}

impl Drop for BodyProgress {
    fn drop(&mut self) {
        self.0.0.awaits_body.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_change_with_the_exchange() {
        let state = ConnectionState::default();
        assert_eq!(state.phase(), Phase::FirstRequest);
        state.read();
        assert_eq!(state.phase(), Phase::Head);
        let serving = state.begin_request();
        let receiving = serving.expect_body();
        assert_eq!(state.phase(), Phase::Body);
        state.read();
        drop(receiving);
        assert_eq!(state.phase(), Phase::Response);
        drop(serving);
        assert_eq!(state.phase(), Phase::Response, "the end of it is not written yet");
        state.flushed();
        assert_eq!((state.phase(), state.requests()), (Phase::NextRequest, 1));
        state.read();
        assert_eq!(state.phase(), Phase::Head);
    }

    #[test]
    fn signalled_connection_is_not_evictable_and_stop_wins() {
        let state = ConnectionState::default();
        assert_eq!(state.eviction_rank(), NOT_EVICTABLE);
        state.set_eviction_rank(7);
        assert_eq!(state.eviction_rank(), 7);
        state.signal_make_room();
        assert_eq!(
            (state.signal(), state.eviction_rank()),
            (Signal::MakeRoom, NOT_EVICTABLE)
        );
        state.decline_eviction();
        assert_eq!((state.signal(), state.eviction_rank()), (Signal::None, 7));
        state.signal_retire();
        state.signal_make_room();
        state.decline_eviction();
        assert_eq!(
            (state.signal(), state.eviction_rank()),
            (Signal::Retire, NOT_EVICTABLE)
        );
        state.signal_stop();
        state.signal_make_room();
        state.decline_eviction();
        assert_eq!(state.signal(), Signal::Stop);
    }
}
