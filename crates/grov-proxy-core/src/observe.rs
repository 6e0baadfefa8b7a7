//! Observers: they see each exchange after its response ended.

use crate::metrics::Metrics;
use crate::request::MessagesRequest;
use bytes::Bytes;
use grov_wire::response::{ResponseTap, Turn, TurnEnd};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::{Notify, mpsc};

/// Bytes of exchanges that may wait for slow observers. Further exchanges are dropped and counted.
const MAX_WAITING: usize = 256 * 1024 * 1024;

/// A request to the Messages API and its response, after the response ended.
pub struct ObservedExchange {
    /// The request, as the client sent it.
    pub request: Arc<MessagesRequest>,
    /// The status of the response.
    pub status: u16,
    /// The parsed response: content blocks, usage, stop reason.
    pub turn: Turn,
    /// How the exchange ended.
    pub outcome: Outcome,
    /// When the response ended.
    pub ended_at: OffsetDateTime,
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The response arrived whole.
    Complete,
    /// The upstream ended or broke the response early.
    Truncated,
    /// The client went away before the end.
    ClientGone,
    /// The upstream answered with an error, as a status or as an event in the stream.
    UpstreamError,
}

/// Observes the exchanges with the Messages API.
///
/// Observers run on a separate thread, so they never delay a relay. They see one exchange at a time, in the order in
/// which responses ended. A slow observer delays the others; beyond 256 MiB of waiting exchanges, further ones are dropped
/// and counted as the fault `observation_overrun`. A panic is caught, logged and counted as `observer_panic`.
///
/// Requests with the header `x-grov-bypass: 1` and requests other than `POST /v1/messages` are not observed.
pub trait TurnObserver: Send + Sync + 'static {
    /// Returns the name for log lines.
    fn name(&self) -> &'static str;

    /// Called after each exchange, on the observers' thread. It may block, but delays later exchanges.
    fn observe(&self, exchange: &ObservedExchange);
}

/// A finished exchange that waits for the observers.
pub(crate) struct FinishedExchange {
    pub(crate) request: Arc<MessagesRequest>,
    pub(crate) status: u16,
    pub(crate) tap: ResponseTap,
    /// Size of the response as it was relayed, in bytes.
    pub(crate) relayed: usize,
    /// The last bytes, not yet fed to the tap.
    pub(crate) unfed: Option<Bytes>,
    /// Whether the upstream's body ended properly.
    pub(crate) body_ended: bool,
    /// Whether the client disconnected before that.
    pub(crate) client_gone: bool,
    pub(crate) ended_at: OffsetDateTime,
}

impl FinishedExchange {
    /// Returns the approximate memory of the exchange, in bytes.
    fn weight(&self) -> usize {
        self.request.body().len().next_multiple_of(PAGE) + self.relayed
    }
}

/// Bodies take a multiple of this, in bytes.
const PAGE: usize = 4 * 1024;

/// While more than this waits for the observers, new requests wait for them, in bytes.
const CATCH_UP_ABOVE: usize = 512 * 1024;

/// Longest time that a request waits for the observers.
const CATCH_UP_LIMIT: Duration = Duration::from_millis(5);

/// With more than this waiting, the observers are woken at once, in bytes.
const WAKE_ABOVE: usize = CATCH_UP_ABOVE / 2;

/// How long the observers park before they wait for the next exchange. Waking them for each exchange costs more than
/// observing it.
const PARK_TIME: Duration = Duration::from_millis(1);

/// Hands finished exchanges to the observers.
#[derive(Clone, Debug)]
pub(crate) struct ObserverQueue {
    queue: mpsc::UnboundedSender<FinishedExchange>,
    /// Weight of the queued exchanges.
    waiting: Arc<AtomicUsize>,
    /// Notified when the weight falls to [`CATCH_UP_ABOVE`].
    calm: Arc<Notify>,
    /// The observers' thread, once it runs.
    observers: Arc<OnceLock<Thread>>,
    metrics: Arc<Metrics>,
}

impl ObserverQueue {
    /// Returns the handle for the relay and the loop for the observers' thread. The loop ends when every handle is dropped.
    pub(crate) fn new(
        observers: Vec<Arc<dyn TurnObserver>>,
        metrics: Arc<Metrics>,
    ) -> (Self, impl FnOnce() + Send + 'static) {
        let (queue, mut ended) = mpsc::unbounded_channel::<FinishedExchange>();
        let handle = Self {
            queue,
            waiting: Arc::default(),
            calm: Arc::default(),
            observers: Arc::default(),
            metrics: Arc::clone(&metrics),
        };
        // Only the count: another handle would keep the queue open.
        let waiting = Arc::clone(&handle.waiting);
        let calm = Arc::clone(&handle.calm);
        let thread = Arc::clone(&handle.observers);
        let observing = move || {
            let _ = thread.set(std::thread::current());
            while let Some(ended) = next(&mut ended) {
                let weight = ended.weight();
                let before = waiting.fetch_sub(weight, Ordering::Relaxed);
                if before > CATCH_UP_ABOVE && before - weight <= CATCH_UP_ABOVE {
                    calm.notify_waiters();
                }
                let complete = std::panic::catch_unwind(AssertUnwindSafe(|| finish(ended)));
                let Ok(exchange) = complete else {
                    metrics.fault("response_parser_panic");
                    tracing::error!("the response parser panicked; the exchange is not recorded");
                    continue;
                };
                for observer in &observers {
                    if std::panic::catch_unwind(AssertUnwindSafe(|| observer.observe(&exchange))).is_err() {
                        metrics.fault("observer_panic");
                        tracing::error!(observer = observer.name(), "an observer panicked");
                    }
                }
                metrics.observed.inc();
            }
        };
        (handle, observing)
    }

    /// Waits up to 5 ms while too many exchanges wait for the observers, so that their bodies do not fill the memory.
    pub(crate) async fn catch_up(&self) {
        if self.waiting.load(Ordering::Relaxed) <= CATCH_UP_ABOVE {
            return;
        }
        let calm = self.calm.notified();
        // Registered, so a notification from here on is not missed.
        if self.waiting.load(Ordering::Relaxed) > CATCH_UP_ABOVE {
            let _ = tokio::time::timeout(CATCH_UP_LIMIT, calm).await;
        }
    }

    pub(crate) fn submit(&self, ended: FinishedExchange) {
        let weight = ended.weight();
        let before = self.waiting.fetch_add(weight, Ordering::Relaxed);
        if before > MAX_WAITING {
            self.waiting.fetch_sub(weight, Ordering::Relaxed);
            self.metrics.fault("observation_overrun");
            tracing::error!("the observers are too slow; an exchange is not observed");
            return;
        }
        // Fails only while the process is going down.
        let _ = self.queue.send(ended);
        if before <= WAKE_ABOVE
            && before + weight > WAKE_ABOVE
            && let Some(observers) = self.observers.get()
        {
            observers.unpark();
        }
    }
}

/// Returns the next exchange, or `None` when every handle is dropped.
fn next(queue: &mut mpsc::UnboundedReceiver<FinishedExchange>) -> Option<FinishedExchange> {
    if let Ok(ended) = queue.try_recv() {
        return Some(ended);
    }
    std::thread::park_timeout(PARK_TIME);
    queue.blocking_recv()
}

fn finish(mut ended: FinishedExchange) -> ObservedExchange {
    if let Some(bytes) = ended.unfed.take() {
        ended.tap.feed(&bytes);
    }
    let turn = ended.tap.finish(ended.body_ended);
    let outcome = if ended.status >= 400 || turn.error.is_some() {
        Outcome::UpstreamError
    } else if turn.end == TurnEnd::Complete || (ended.body_ended && turn.end != TurnEnd::Truncated) {
        // A body that the tap could not parse to its end may still have arrived whole.
        Outcome::Complete
    } else if ended.client_gone {
        Outcome::ClientGone
    } else {
        Outcome::Truncated
    };
    ObservedExchange {
        request: ended.request,
        status: ended.status,
        turn,
        outcome,
        ended_at: ended.ended_at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderMap;

    struct Nothing;

    impl TurnObserver for Nothing {
        fn name(&self) -> &'static str {
            "nothing"
        }

        fn observe(&self, _: &ObservedExchange) {}
    }

    #[test]
    fn exchanges_waiting_for_slow_observers_are_bounded() {
        let metrics = Arc::new(Metrics::default());
        let (observation, observing) = ObserverQueue::new(vec![Arc::new(Nothing)], Arc::clone(&metrics));
        let body = Bytes::from(vec![b' '; MAX_WAITING / 8]);
        let now = OffsetDateTime::UNIX_EPOCH;
        for _ in 0..20 {
            observation.submit(FinishedExchange {
                request: Arc::new(MessagesRequest::new(HeaderMap::new(), body.clone(), now)),
                status: 200,
                tap: ResponseTap::new(200, None, None),
                relayed: 1,
                unfed: None,
                body_ended: true,
                client_gone: false,
                ended_at: now,
            });
        }
        let waiting = Arc::clone(&observation.waiting);
        drop(observation);
        observing();
        assert_eq!(
            (
                metrics.exchanges_observed(),
                metrics.faults("observation_overrun")
            ),
            (8, 12)
        );
        assert_eq!(waiting.load(Ordering::Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn request_waits_at_most_5_ms_for_slow_observers() {
        let (observation, _observing) =
            ObserverQueue::new(vec![Arc::new(Nothing)], Arc::new(Metrics::default()));
        let start = tokio::time::Instant::now();
        observation.catch_up().await;
        assert_eq!(start.elapsed(), Duration::ZERO);
        observation.waiting.store(CATCH_UP_ABOVE + 1, Ordering::Relaxed);
        observation.catch_up().await;
        assert_eq!(start.elapsed(), CATCH_UP_LIMIT);
    }
}
