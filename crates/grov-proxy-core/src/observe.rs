//! The seam through which others learn what was answered.

use crate::metrics::Metrics;
use crate::request::MessagesRequest;
use bytes::Bytes;
use grov_domain::Outcome;
use grov_wire::response::{ResponseTap, Turn, TurnEnd};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use time::OffsetDateTime;
use tokio::sync::mpsc;

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

/// Is told of every exchange with the Messages API.
///
/// Called after the response ended, one exchange at a time, in the order in which responses ended. It runs beside
/// the relay, so it must neither block nor wait; a panic is caught, logged and counted, and the next exchange is
/// observed as usual.
pub trait TurnObserver: Send + Sync + 'static {
    /// Name for log and metrics.
    fn name(&self) -> &'static str;

    /// An exchange has ended.
    fn observe(&self, exchange: &ObservedExchange);
}

/// What is known of a response when its last byte has passed.
pub(crate) struct Ended {
    pub(crate) request: Arc<MessagesRequest>,
    pub(crate) status: u16,
    pub(crate) tap: ResponseTap,
    /// The newest bytes, not yet fed: the client gets them first.
    pub(crate) unfed: Option<Bytes>,
    /// The upstream's body came to its proper end.
    pub(crate) body_ended: bool,
    /// The client went away before that.
    pub(crate) client_gone: bool,
    pub(crate) ended_at: OffsetDateTime,
}

/// Hands ended exchanges to the observers.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    queue: mpsc::UnboundedSender<Ended>,
}

impl Observation {
    /// The handle for the relay and the loop that serves it; the loop ends when every handle is gone.
    pub(crate) fn new(
        observers: Vec<Arc<dyn TurnObserver>>,
        metrics: Arc<Metrics>,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (queue, mut ended) = mpsc::unbounded_channel::<Ended>();
        let observing = async move {
            while let Some(ended) = ended.recv().await {
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
        (Self { queue }, observing)
    }

    pub(crate) fn submit(&self, ended: Ended) {
        // Fails only while the process is going down.
        let _ = self.queue.send(ended);
    }
}

fn finish(mut ended: Ended) -> ObservedExchange {
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
