//! Questions under way: each in a task of its own, so that a caller who goes away leaves no call unsettled, and each once,
//! so that identical questions share one answer.

use crate::ask::Unanswered;
use crate::request::ModelRequest;
use grov_domain::Purpose;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What came of a question: the text of an answer that was found usable.
pub(crate) type Outcome = Result<Arc<str>, Unanswered>;

/// Two questions are identical when they are put in the same words.
type Key = (Purpose, String);

/// Questions under way.
pub(crate) struct Flights {
    state: Arc<Mutex<State>>,
    /// `None` once closed. Apart from the state that the tasks share: a task that holds what holds it would never be broken
    /// off, and one that is dropped while it is spawned locks the state.
    tasks: Mutex<Option<JoinSet<()>>>,
    /// Whether nobody waits any more.
    closing: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    under_way: HashMap<Key, watch::Receiver<Option<Outcome>>>,
}

/// One asker's share in a question.
pub(crate) struct Share {
    outcome: watch::Receiver<Option<Outcome>>,
    closing: watch::Receiver<bool>,
    /// Whether the question was under way already.
    pub(crate) joined: bool,
}

/// Takes a question off the list when it ends, however it ends.
struct Landing {
    key: Key,
    state: Arc<Mutex<State>>,
}

impl Drop for Landing {
    fn drop(&mut self) {
        lock(&self.state).under_way.remove(&self.key);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Flights {
    fn default() -> Self {
        Self {
            state: Arc::default(),
            tasks: Mutex::new(Some(JoinSet::new())),
            closing: watch::Sender::new(false),
        }
    }
}

impl Flights {
    /// Takes part in the question `request`: begins it by `ask`, or joins the one that is under way.
    pub(crate) fn join<F>(&self, request: &ModelRequest, ask: impl FnOnce() -> F) -> Result<Share, Unanswered>
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        if self.is_closed() {
            return Err(Unanswered::Closed);
        }
        let key = (request.purpose, request.user.clone());
        let (sender, outcome) = watch::channel(None);
        let share = |outcome, joined| Share {
            outcome,
            closing: self.closing.subscribe(),
            joined,
        };
        match lock(&self.state).under_way.entry(key.clone()) {
            Entry::Occupied(known) => return Ok(share(known.get().clone(), true)),
            Entry::Vacant(place) => place.insert(outcome.clone()),
        };
        let landing = Landing {
            key,
            state: Arc::clone(&self.state),
        };
        let asking = ask();
        let flight = async move {
            let outcome = asking.await;
            // Off the list before the answer is known: who asks from now on asks anew.
            drop(landing);
            sender.send_replace(Some(outcome));
        };
        match &mut *lock(&self.tasks) {
            Some(tasks) => {
                while tasks.try_join_next().is_some() {}
                tasks.spawn(flight);
            }
            None => return Err(Unanswered::Closed),
        }
        Ok(share(outcome, false))
    }

    /// Begins nothing any more, tells those who wait that they wait in vain, and waits for what is under way.
    pub(crate) async fn close(&self) {
        self.closing.send_replace(true);
        let tasks = lock(&self.tasks).take();
        if let Some(mut tasks) = tasks {
            while tasks.join_next().await.is_some() {}
        }
    }

    /// Whether the flights were closed.
    pub(crate) fn is_closed(&self) -> bool {
        *self.closing.borrow()
    }
}

impl Share {
    /// The outcome, once it is there, or that the flights were closed before.
    pub(crate) async fn outcome(mut self) -> Outcome {
        tokio::select! {
            // An answer that is there is taken.
            biased;
            outcome = self.outcome.wait_for(Option::is_some) => match outcome {
                Ok(outcome) => outcome.clone().unwrap_or(Err(Unanswered::Lost)),
                // The task ended without an outcome: it panicked, or its runtime is going down.
                Err(_) => Err(Unanswered::Lost),
            },
            _ = self.closing.wait_for(|closed| *closed) => Err(Unanswered::Closed),
        }
    }
}

#[cfg(test)]
mod tests;
