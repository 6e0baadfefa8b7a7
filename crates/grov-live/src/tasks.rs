//! Assigns turns to tasks, detects finished tasks and saves them to team memory.
//!
//! The recorder passes every recorded exchange to [`TaskOrchestrator`]. Each client session has a mailbox
//! ([`session`]). At the end of a turn the judge is asked, and the consequences are written in one transaction. No
//! request waits for any of this.

mod current_tasks;
mod exchange;
mod location;
mod persist;
mod session;
mod turn;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub(crate) use current_tasks::CurrentTasks;
pub(crate) use exchange::{RecordedExchange, SketchedAction, outcomes, shortened, sketch, title};

use grov_domain::{
    ClientSessionId, Clock, DriftStore, ItemStore, Judge, OrchestrationStore, SessionFilter, SessionId,
    SessionStatus, SessionStore, SwitchStore, TaskStore, time_before,
};
use grov_session::tasks::{Division, TaskPolicy};
use session::Session;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The stores that task orchestration needs.
pub trait TaskBackend:
    SessionStore + TaskStore + OrchestrationStore + ItemStore + DriftStore + SwitchStore
{
}

impl<T: SessionStore + TaskStore + OrchestrationStore + ItemStore + DriftStore + SwitchStore> TaskBackend
    for T
{
}

/// Tasks have separate rows. Later verdicts on a saved task are written to its memory.
const POLICY: TaskPolicy = TaskPolicy {
    division: Division::ByVerdict,
    saves_unfinished: true,
    adds_drift_summary: false,
};

/// Sessions handled at the same time. The exchanges of further sessions are recorded, but not divided into tasks.
const MAX_SESSIONS: usize = 1024;

/// Queued exchanges of a session.
const MAX_SESSION_QUEUE: usize = 1024;

/// Queued exchanges of all sessions.
const MAX_QUEUE: usize = 4096;

/// Interval between two searches for abandoned tasks.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// Delay of the first search.
const FIRST_SWEEP: Duration = Duration::from_secs(5);

/// Tasks per search, so that sessions in progress are not delayed.
const SWEEP_LIMIT: u32 = 8;

/// Time for pending verdicts at shutdown.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// Divides the work of client sessions into tasks and saves finished tasks.
#[derive(Clone)]
pub struct TaskOrchestrator {
    inbox: mpsc::Sender<(ClientSessionId, Event)>,
    current_tasks: Arc<CurrentTasks>,
}

/// The background work of a [`TaskOrchestrator`].
pub struct TaskWorker {
    inbox: mpsc::Receiver<(ClientSessionId, Event)>,
    context: Arc<Context>,
}

/// Shared by all sessions.
struct Context {
    judge: Arc<dyn Judge>,
    store: Arc<dyn TaskBackend>,
    clock: Arc<dyn Clock>,
    current_tasks: Arc<CurrentTasks>,
    abandon_after: Duration,
    /// When this process started.
    started_at: OffsetDateTime,
}

/// An event of a session.
enum Event {
    /// An exchange was recorded.
    Recorded(Box<RecordedExchange>),
    /// A task was inactive for long.
    Idle(SessionId),
    /// The context was cleared.
    Cleared,
}

impl TaskOrchestrator {
    /// Creates the handle for the recorder and the background work. A task that is inactive for `abandon_after` is
    /// saved as abandoned.
    pub fn new(
        judge: Arc<dyn Judge>,
        store: Arc<dyn TaskBackend>,
        clock: Arc<dyn Clock>,
        abandon_after: Duration,
    ) -> (Self, TaskWorker) {
        let (sender, inbox) = mpsc::channel(MAX_QUEUE);
        let current_tasks = Arc::new(CurrentTasks::default());
        let started_at = clock.now();
        let context = Context {
            judge,
            store,
            clock,
            current_tasks: Arc::clone(&current_tasks),
            abandon_after,
            started_at,
        };
        let handle = Self {
            inbox: sender,
            current_tasks,
        };
        let work = TaskWorker {
            inbox,
            context: Arc::new(context),
        };
        (handle, work)
    }

    /// Returns the current task of a session, under which its exchanges are recorded. `None` if it is unknown; then
    /// they are recorded under the first task.
    pub(crate) fn current_task(&self, session: &ClientSessionId) -> Option<SessionId> {
        self.current_tasks.get(session)
    }

    /// Queues an exchange.
    pub(crate) fn submit(&self, exchange: RecordedExchange) {
        let session = exchange.client_session_id.clone();
        let event = Event::Recorded(Box::new(exchange));
        if let Err(mpsc::error::TrySendError::Full((session, _))) = self.inbox.try_send((session, event)) {
            tracing::warn!(%session, "too many exchanges are queued; one stays in the task it was recorded in");
        }
    }

    /// Saves the current task of a session to team memory, because its context was cleared. The task goes on.
    pub(crate) fn save_at_threshold(&self, session: &ClientSessionId) {
        if self.inbox.try_send((session.clone(), Event::Cleared)).is_err() {
            tracing::warn!(%session, "too many exchanges are queued; the task is saved when it ends");
        }
    }
}

impl TaskWorker {
    /// Runs until `stop` resolves. Pending verdicts then have two seconds.
    pub async fn run(mut self, stop: impl Future<Output = ()> + Send) {
        let mut sessions = Sessions {
            context: self.context,
            mailboxes: HashMap::new(),
            running: JoinSet::new(),
        };
        let mut sweep = tokio::time::interval_at(tokio::time::Instant::now() + FIRST_SWEEP, SWEEP_INTERVAL);
        sweep.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        tokio::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                event = self.inbox.recv() => match event {
                    Some((session, event)) => sessions.send(session, event),
                    None => break,
                },
                _ = sweep.tick() => sessions.sweep().await,
                Some(ended) = sessions.running.join_next() => {
                    if let Err(error) = ended && error.is_panic() {
                        tracing::error!("the task handling of a session panicked; its next exchange restarts it");
                    }
                    sessions.mailboxes.retain(|_, mailbox| !mailbox.is_closed());
                }
            }
        }
        // Sessions end when they have read their closed mailboxes.
        while let Ok((session, event)) = self.inbox.try_recv() {
            sessions.send(session, event);
        }
        sessions.mailboxes.clear();
        let all = async { while sessions.running.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_TIMEOUT, all).await.is_err() {
            tracing::info!(
                "stopped before every turn was judged; those stay in the task they were recorded in"
            );
        }
    }
}

/// The running sessions.
struct Sessions {
    context: Arc<Context>,
    mailboxes: HashMap<ClientSessionId, mpsc::Sender<Event>>,
    running: JoinSet<()>,
}

impl Sessions {
    /// Sends an event to a session, which is started if needed.
    fn send(&mut self, id: ClientSessionId, event: Event) {
        let mut event = event;
        if let Some(mailbox) = self.mailboxes.get(&id) {
            match mailbox.try_send(event) {
                Ok(()) => return,
                Err(mpsc::error::TrySendError::Full(_)) => {
                    tracing::warn!(session = %id, "too many exchanges of this session are queued; one stays in the task it was recorded in");
                    return;
                }
                // The session has ended. A new one is started below.
                Err(mpsc::error::TrySendError::Closed(unread)) => event = unread,
            }
        }
        if self.mailboxes.len() >= MAX_SESSIONS && !self.mailboxes.contains_key(&id) {
            tracing::warn!(session = %id, "too many sessions; this one is recorded but not divided into tasks");
            return;
        }
        let (mailbox, events) = mpsc::channel(MAX_SESSION_QUEUE);
        // Cannot fail: the mailbox is empty.
        let _ = mailbox.try_send(event);
        let session = Session::new(Arc::clone(&self.context), id.clone());
        self.running.spawn(session.run(events));
        self.mailboxes.insert(id, mailbox);
    }

    /// Sends an event to the sessions of inactive tasks.
    async fn sweep(&mut self) {
        let filter = SessionFilter {
            status: Some(SessionStatus::Active),
            updated_before: Some(time_before(self.context.clock.now(), self.context.abandon_after)),
            limit: Some(SWEEP_LIMIT),
            ..SessionFilter::default()
        };
        match self.context.store.sessions(&filter).await {
            Ok(idle) => {
                for task in idle {
                    let state = task.state;
                    self.send(state.client_session_id, Event::Idle(state.session_id));
                }
            }
            Err(error) => tracing::debug!(%error, "cannot search for abandoned tasks"),
        }
    }
}
