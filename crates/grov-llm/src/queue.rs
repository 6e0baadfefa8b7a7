//! The one queue to the provider: so many calls at once, so many waiting, no more.

use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// How many questions may wait for their turn. More would be answered too late to be of use.
const MAX_WAITING: usize = 32;

/// Turns at the provider.
#[derive(Debug)]
pub(crate) struct Queue {
    turns: Semaphore,
    waiting: AtomicUsize,
}

/// There is no turn for this question: too many wait, it waited too long, or the queue was closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many questions are waiting for the model")]
pub(crate) struct TurnedAway;

/// Counted as waiting until dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Queue {
    /// A queue with `concurrency` turns at once, at least one.
    pub(crate) fn new(concurrency: usize) -> Self {
        Self {
            turns: Semaphore::new(concurrency.clamp(1, 64)),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Waits for a turn, in order, until `deadline`.
    pub(crate) async fn turn(&self, deadline: Instant) -> Result<SemaphorePermit<'_>, TurnedAway> {
        if let Ok(turn) = self.turns.try_acquire() {
            return Ok(turn);
        }
        let before = self.waiting.fetch_add(1, Ordering::AcqRel);
        let _waiting = Waiting(&self.waiting);
        if before >= MAX_WAITING {
            return Err(TurnedAway);
        }
        match tokio::time::timeout_at(deadline, self.turns.acquire()).await {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(_)) | Err(_) => Err(TurnedAway),
        }
    }

    /// Gives no more turns; whoever waits is turned away.
    pub(crate) fn close(&self) {
        self.turns.close();
    }

    /// Whether the queue was closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.turns.is_closed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;
    use std::task::Poll;
    use std::time::Duration;

    async fn is_pending<F: Future + Unpin>(future: &mut F) -> bool {
        std::future::poll_fn(|context| Poll::Ready(Pin::new(&mut *future).poll(context).is_pending())).await
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(1)
    }

    #[tokio::test(start_paused = true)]
    async fn turns_and_waiting_are_bounded() {
        let queue = Queue::new(2);
        let held = (
            queue.turn(soon()).await.unwrap(),
            queue.turn(soon()).await.unwrap(),
        );
        let mut waiting: Vec<_> = (0..MAX_WAITING).map(|_| Box::pin(queue.turn(soon()))).collect();
        for turn in &mut waiting {
            assert!(is_pending(turn).await);
        }
        assert_eq!(queue.turn(soon()).await.unwrap_err(), TurnedAway);
        drop(held);
        assert!(waiting.remove(0).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_ever() {
        let queue = Queue::new(0);
        let _held = queue.turn(soon()).await.unwrap();
        assert_eq!(queue.turn(soon()).await.unwrap_err(), TurnedAway);
        let mut waiting = Box::pin(queue.turn(soon()));
        assert!(is_pending(&mut waiting).await);
        queue.close();
        assert_eq!(waiting.await.unwrap_err(), TurnedAway);
    }
}
