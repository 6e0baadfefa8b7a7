//! Deduplicates concurrent calls: identical questions share one call. Each call runs in its own task, so that it is settled in
//! the ledger even if its caller goes away.

use crate::model_client::NoAnswer;
use crate::request::ModelRequest;
use grov_domain::Purpose;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The result of a call: the text of a usable answer.
pub(crate) type Outcome = Result<Arc<str>, NoAnswer>;

/// Questions with the same purpose and text are identical.
type Key = (Purpose, String);

/// Runs calls and shares those in flight.
pub(crate) struct Singleflight {
    in_flight: InFlight,
    /// `None` once closed. Not shared with the tasks: a task that owns the `JoinSet` it runs in would never be aborted, and
    /// dropping a task while it is spawned needs the lock of `in_flight`.
    tasks: Mutex<Option<JoinSet<()>>>,
    /// Becomes true when callers must stop waiting.
    closing: watch::Sender<bool>,
}

/// The calls in flight, and where their outcomes arrive.
type InFlight = Arc<Mutex<HashMap<Key, watch::Receiver<Option<Outcome>>>>>;

/// Waits for the outcome of a call.
pub(crate) struct Waiter {
    outcome: watch::Receiver<Option<Outcome>>,
    closing: watch::Receiver<bool>,
    /// Whether the call was already in flight.
    pub(crate) joined: bool,
}

/// Removes a call from the map when it ends, even by a panic.
struct Removal {
    key: Key,
    in_flight: InFlight,
}

impl Drop for Removal {
    fn drop(&mut self) {
        lock(&self.in_flight).remove(&self.key);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Singleflight {
    fn default() -> Self {
        Self {
            in_flight: Arc::default(),
            tasks: Mutex::new(Some(JoinSet::new())),
            closing: watch::Sender::new(false),
        }
    }
}

impl Singleflight {
    /// Joins the call for `request` in flight, or starts one with `ask`.
    pub(crate) fn join<F>(&self, request: &ModelRequest, ask: impl FnOnce() -> F) -> Result<Waiter, NoAnswer>
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        if self.is_closed() {
            return Err(NoAnswer::Closed);
        }
        let key = (request.purpose, request.user.clone());
        let (sender, outcome) = watch::channel(None);
        let share = |outcome, joined| Waiter {
            outcome,
            closing: self.closing.subscribe(),
            joined,
        };
        match lock(&self.in_flight).entry(key.clone()) {
            Entry::Occupied(known) => return Ok(share(known.get().clone(), true)),
            Entry::Vacant(place) => place.insert(outcome.clone()),
        };
        let removal = Removal {
            key,
            in_flight: Arc::clone(&self.in_flight),
        };
        let asking = ask();
        let flight = async move {
            let outcome = asking.await;
            // Removed before the outcome is published: later callers start a new call.
            drop(removal);
            sender.send_replace(Some(outcome));
        };
        match &mut *lock(&self.tasks) {
            Some(tasks) => {
                while tasks.try_join_next().is_some() {}
                tasks.spawn(flight);
            }
            None => return Err(NoAnswer::Closed),
        }
        Ok(share(outcome, false))
    }

    /// Starts no further calls, releases all waiters, and waits until the calls in flight have ended.
    pub(crate) async fn close(&self) {
        self.closing.send_replace(true);
        let tasks = lock(&self.tasks).take();
        if let Some(mut tasks) = tasks {
            while tasks.join_next().await.is_some() {}
        }
    }

    /// Whether [`close`](Self::close) was called.
    pub(crate) fn is_closed(&self) -> bool {
        *self.closing.borrow()
    }
}

impl Waiter {
    /// The outcome of the call, or [`NoAnswer::Closed`].
    pub(crate) async fn outcome(mut self) -> Outcome {
        tokio::select! {
            // An outcome that is already there wins.
            biased;
            outcome = self.outcome.wait_for(Option::is_some) => match outcome {
                Ok(outcome) => outcome.clone().unwrap_or(Err(NoAnswer::Lost)),
                // The task ended without an outcome: it panicked, or the runtime is shutting down.
                Err(_) => Err(NoAnswer::Lost),
            },
            _ = self.closing.wait_for(|closed| *closed) => Err(NoAnswer::Closed),
        }
    }
}

#[cfg(test)]
mod tests;
