//! Questions under way: each in a task of its own, so that a caller who goes away leaves no call unsettled, and each once,
//! so that identical questions share one answer.

use crate::ask::Unanswered;
use crate::request::ModelRequest;
use grov_domain::Purpose;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What came of a question: the text of an answer that was found usable.
pub(crate) type Outcome = Result<Arc<str>, Unanswered>;

/// Two questions are identical when they are put in the same words.
type Key = (Purpose, String);

/// Questions under way.
#[derive(Default)]
pub(crate) struct Flights {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    under_way: HashMap<Key, watch::Receiver<Option<Outcome>>>,
    tasks: JoinSet<()>,
    closed: bool,
}

/// One asker's share in a question.
pub(crate) struct Share {
    outcome: watch::Receiver<Option<Outcome>>,
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

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Flights {
    /// Takes part in the question `request`: begins it by `ask`, or joins the one that is under way.
    pub(crate) fn join<F>(&self, request: &ModelRequest, ask: impl FnOnce() -> F) -> Result<Share, Unanswered>
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let key = (request.purpose, request.user.clone());
        let mut state = lock(&self.state);
        if state.closed {
            return Err(Unanswered::Closed);
        }
        if let Some(outcome) = state.under_way.get(&key) {
            return Ok(Share {
                outcome: outcome.clone(),
                joined: true,
            });
        }
        while state.tasks.try_join_next().is_some() {}
        let (sender, outcome) = watch::channel(None);
        state.under_way.insert(key.clone(), outcome.clone());
        let landing = Landing {
            key,
            state: Arc::clone(&self.state),
        };
        let asking = ask();
        state.tasks.spawn(async move {
            let outcome = asking.await;
            // Off the list before the answer is known: who asks from now on asks anew.
            drop(landing);
            sender.send_replace(Some(outcome));
        });
        Ok(Share {
            outcome,
            joined: false,
        })
    }

    /// Begins nothing any more and waits for what is under way.
    pub(crate) async fn close(&self) {
        let mut tasks = {
            let mut state = lock(&self.state);
            state.closed = true;
            std::mem::take(&mut state.tasks)
        };
        while tasks.join_next().await.is_some() {}
    }

    /// Whether the flights were closed.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.state).closed
    }
}

impl Share {
    /// The outcome, once it is there.
    pub(crate) async fn outcome(mut self) -> Outcome {
        match self.outcome.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or(Err(Unanswered::Lost)),
            // The task ended without an outcome: it panicked, or its runtime is going down.
            Err(_) => Err(Unanswered::Lost),
        }
    }
}
