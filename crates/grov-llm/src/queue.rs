//! Limits concurrent calls to the provider, and the number of those waiting.

use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// The maximum number of waiting questions. Further ones would be answered too late to be useful.
const MAX_WAITING: usize = 32;

/// A semaphore with a bounded number of waiters.
#[derive(Debug)]
pub(crate) struct Queue {
    turns: Semaphore,
    waiting: AtomicUsize,
}

/// No permit: too many questions wait, the deadline has passed, or the queue was closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many questions are waiting for the model")]
pub(crate) struct QueueFull;

/// Counts as waiting until dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Queue {
    /// A queue that permits `concurrency` calls at a time, at least one.
    pub(crate) fn new(concurrency: usize) -> Self {
        Self {
            turns: Semaphore::new(concurrency.clamp(1, 64)),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Waits for a permit, first come first served, until `deadline`.
    pub(crate) async fn acquire(&self, deadline: Instant) -> Result<SemaphorePermit<'_>, QueueFull> {
        if let Ok(turn) = self.turns.try_acquire() {
            return Ok(turn);
        }
        let before = self.waiting.fetch_add(1, Ordering::AcqRel);
        let _waiting = Waiting(&self.waiting);
        if before >= MAX_WAITING {
            return Err(QueueFull);
        }
        match tokio::time::timeout_at(deadline, self.turns.acquire()).await {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(_)) | Err(_) => Err(QueueFull),
        }
    }

    /// Grants no more permits; waiters get [`QueueFull`].
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
    async fn permits_and_waiters_are_bounded() {
        let queue = Queue::new(2);
        let permits = (
            queue.acquire(soon()).await.unwrap(),
            queue.acquire(soon()).await.unwrap(),
        );
        let mut waiting: Vec<_> = (0..MAX_WAITING)
            .map(|_| Box::pin(queue.acquire(soon())))
            .collect();
        for turn in &mut waiting {
            assert!(is_pending(turn).await);
        }
        assert_eq!(queue.acquire(soon()).await.unwrap_err(), QueueFull);
        drop(permits);
        assert!(waiting.remove(0).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_ends_at_the_deadline() {
        let queue = Queue::new(0);
        let _permit = queue.acquire(soon()).await.unwrap();
        assert_eq!(queue.acquire(soon()).await.unwrap_err(), QueueFull);
        let mut waiting = Box::pin(queue.acquire(soon()));
        assert!(is_pending(&mut waiting).await);
        queue.close();
        assert_eq!(waiting.await.unwrap_err(), QueueFull);
    }
}
