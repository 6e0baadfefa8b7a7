//! The seam through which others learn what was answered.

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

/// Bytes of exchanges that may wait for slow observers; behind that much, further exchanges go unobserved.
const MAX_WAITING: usize = 256 * 1024 * 1024;

/// One request to the Messages API and what came back, after the client has it all.
pub struct ObservedExchange {
    /// The request as the client sent it.
    pub request: Arc<MessagesRequest>,
    /// Status of the answer.
    pub status: u16,
    /// The answer.
    pub turn: Turn,
    /// How it ended.
    pub outcome: Outcome,
    /// When the answer ended.
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

/// Is told of every exchange with the Messages API.
///
/// Called after the response ended, one exchange at a time, in the order in which responses ended, on a thread of its
/// own: what an observer does never holds up a relay. It should not wait for long all the same, for others wait behind
/// it. A panic is caught, logged and counted, and the next exchange is observed as usual.
pub trait TurnObserver: Send + Sync + 'static {
    /// Name for log and metrics.
    fn name(&self) -> &'static str;

    /// An exchange has ended.
    fn observe(&self, exchange: &ObservedExchange);
}

/// What is known of a response when its last byte has passed.
pub(crate) struct FinishedExchange {
    pub(crate) request: Arc<MessagesRequest>,
    pub(crate) status: u16,
    pub(crate) tap: ResponseTap,
    /// Size of the response as it was relayed, in bytes.
    pub(crate) relayed: usize,
    /// The newest bytes, not yet fed: the client gets them first.
    pub(crate) unfed: Option<Bytes>,
    /// The upstream's body came to its proper end.
    pub(crate) body_ended: bool,
    /// The client went away before that.
    pub(crate) client_gone: bool,
    pub(crate) ended_at: OffsetDateTime,
}

impl FinishedExchange {
    /// Roughly the memory it holds, in bytes.
    fn weight(&self) -> usize {
        self.request.body().len().next_multiple_of(PAGE) + self.relayed
    }
}

/// What a body takes of memory is a multiple of this, in bytes.
const PAGE: usize = 4 * 1024;

/// While more than this waits for the observers, a new request lets them catch up first, in bytes.
const CALM: usize = 512 * 1024;

/// Longest time that a request lets the observers catch up.
const CATCH_UP_LIMIT: Duration = Duration::from_millis(5);

/// With more than this waiting the observers rest no longer, in bytes.
const PRESSING: usize = CALM / 2;

/// How long the observers rest before they wait for the next exchange: being woken for each one costs both sides more
/// than observing it. What comes after a longer silence is observed at once.
const REST: Duration = Duration::from_millis(1);

/// Hands ended exchanges to the observers.
#[derive(Clone, Debug)]
pub(crate) struct ObserverQueue {
    queue: mpsc::UnboundedSender<FinishedExchange>,
    /// Weight of what waits in the queue.
    waiting: Arc<AtomicUsize>,
    /// Told when what waits falls to [`CALM`].
    calm: Arc<Notify>,
    /// The thread of the observers, once it runs.
    observers: Arc<OnceLock<Thread>>,
    metrics: Arc<Metrics>,
}

impl ObserverQueue {
    /// The handle for the relay, and the loop that serves it on a thread of its own; the loop ends when every handle is
    /// gone.
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
        let own_thread = Arc::clone(&handle.observers);
        let observing = move || {
            let _ = own_thread.set(std::thread::current());
            while let Some(ended) = next(&mut ended) {
                let weight = ended.weight();
                let before = waiting.fetch_sub(weight, Ordering::Relaxed);
                if before > CALM && before - weight <= CALM {
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
                metrics.observed();
            }
        };
        (handle, observing)
    }

    /// Returns at once, but for when clients ask faster than exchanges can be observed: then a request waits until that
    /// is no longer so, 5 ms at most. Otherwise the bodies of the past would fill the memory.
    pub(crate) async fn catch_up(&self) {
        if self.waiting.load(Ordering::Relaxed) <= CALM {
            return;
        }
        let calm = self.calm.notified();
        // Registered by now, so a fall between the two looks is not missed.
        if self.waiting.load(Ordering::Relaxed) > CALM {
            // Late is late: the request goes on.
            let _ = tokio::time::timeout(CATCH_UP_LIMIT, calm).await;
        }
    }

    pub(crate) fn submit(&self, ended: FinishedExchange) {
        let weight = ended.weight();
        let before = self.waiting.fetch_add(weight, Ordering::Relaxed);
        if before > MAX_WAITING {
            self.waiting.fetch_sub(weight, Ordering::Relaxed);
            self.metrics.fault("observation_overrun");
            tracing::error!("the observers are too far behind; an exchange is not recorded");
            return;
        }
        // Fails only while the process is going down.
        let _ = self.queue.send(ended);
        if before <= PRESSING
            && before + weight > PRESSING
            && let Some(observers) = self.observers.get()
        {
            observers.unpark();
        }
    }
}

/// The next exchange to observe; `None` when none will follow.
fn next(queue: &mut mpsc::UnboundedReceiver<FinishedExchange>) -> Option<FinishedExchange> {
    if let Ok(ended) = queue.try_recv() {
        return Some(ended);
    }
    std::thread::park_timeout(REST);
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
        // What we could not read to its end may still have reached the client whole.
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
    async fn a_request_waits_five_milliseconds_at_most_for_observers_that_are_behind() {
        let (observation, _observing) =
            ObserverQueue::new(vec![Arc::new(Nothing)], Arc::new(Metrics::default()));
        let start = tokio::time::Instant::now();
        observation.catch_up().await;
        assert_eq!(start.elapsed(), Duration::ZERO);
        observation.waiting.store(CALM + 1, Ordering::Relaxed);
        observation.catch_up().await;
        assert_eq!(start.elapsed(), CATCH_UP_LIMIT);
    }
}
