//! From turns to tasks: which task a turn belongs to, when a task is done, and what the team should remember of it.
//!
//! The recorder tells [`TaskOrchestrator`] of every exchange it recorded. Each client session has a mailbox of its own
//! ([`session`]); when its conversation comes to rest the judge is asked, and what follows is one transaction of the
//! store. None of this is on the path of a request.

mod board;
mod exchange;
mod location;
mod persist;
mod session;
mod turn;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub(crate) use board::TaskBoard;
pub(crate) use exchange::{RecordedExchange, SketchedAction, bounded, outcomes, sketch};

use grov_domain::{
    ClientSessionId, Clock, DriftStore, Judge, OrchestrationStore, SessionFilter, SessionId, SessionStatus,
    SessionStore, SwitchStore, time_before,
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
pub trait TaskBackend: SessionStore + OrchestrationStore + DriftStore + SwitchStore {}

impl<T: SessionStore + OrchestrationStore + DriftStore + SwitchStore> TaskBackend for T {}

/// Each task has a row, and abandoned ones are looked for; later verdicts mark what is saved anew.
const POLICY: TaskPolicy = TaskPolicy {
    division: Division::ByVerdict,
    saves_unfinished: false,
    adds_drift_summary: false,
};

/// Sessions followed at once. More are recorded, but not divided into tasks.
const MAX_SESSIONS: usize = 1024;

/// Exchanges that may wait for one session.
const MAILBOX: usize = 1024;

/// Exchanges that may wait for all sessions.
const INBOX: usize = 4096;

/// Interval between two searches for abandoned tasks.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// Delay of the first search.
const FIRST_SWEEP: Duration = Duration::from_secs(5);

/// Tasks taken up per look: verdicts on work that goes on come first.
const SWEEP_LIMIT: u32 = 8;

/// Time for running verdicts at shutdown.
const STOP_LIMIT: Duration = Duration::from_secs(2);

/// Divides the work of client sessions into tasks and saves finished tasks.
#[derive(Clone)]
pub struct TaskOrchestrator {
    inbox: mpsc::Sender<RecordedExchange>,
    board: Arc<TaskBoard>,
}

/// The background work of a [`TaskOrchestrator`].
pub struct TaskWorker {
    inbox: mpsc::Receiver<RecordedExchange>,
    context: Arc<Context>,
}

/// Shared by all sessions.
struct Context {
    judge: Arc<dyn Judge>,
    store: Arc<dyn TaskBackend>,
    clock: Arc<dyn Clock>,
    board: Arc<TaskBoard>,
    abandon_after: Duration,
    /// When this process started.
    started_at: OffsetDateTime,
}

/// An event of a session.
enum Event {
    /// An exchange was recorded.
    Recorded(Box<RecordedExchange>),
    /// A task was idle for long.
    Idle(SessionId),
}

impl TaskOrchestrator {
    /// The handle for the recorder, and the work to be run. A task that is quiet for `abandon_after` is saved as
    /// abandoned.
    pub fn new(
        judge: Arc<dyn Judge>,
        store: Arc<dyn TaskBackend>,
        clock: Arc<dyn Clock>,
        abandon_after: Duration,
    ) -> (Self, TaskWorker) {
        let (sender, inbox) = mpsc::channel(INBOX);
        let board = Arc::new(TaskBoard::default());
        let started_at = clock.now();
        let context = Context {
            judge,
            store,
            clock,
            board: Arc::clone(&board),
            abandon_after,
            started_at,
        };
        let handle = Self { inbox: sender, board };
        let work = TaskWorker {
            inbox,
            context: Arc::new(context),
        };
        (handle, work)
    }

    /// The task in work, under which an exchange of this session is recorded. `None`: nobody has said yet, and it is recorded
    /// under the first one.
    pub(crate) fn task(&self, session: &ClientSessionId) -> Option<SessionId> {
        self.board.task(session)
    }

    /// Hands over an exchange. Returns at once.
    pub(crate) fn recorded(&self, exchange: RecordedExchange) {
        if let Err(mpsc::error::TrySendError::Full(exchange)) = self.inbox.try_send(exchange) {
            tracing::warn!(session = %exchange.client_session_id, "too much to judge: an exchange stays in the task it was recorded in");
        }
    }
}

impl TaskWorker {
    /// Serves until `stop` resolves; verdicts under way then have two seconds.
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
                exchange = self.inbox.recv() => match exchange {
                    Some(exchange) => {
                        let session = exchange.client_session_id.clone();
                        sessions.tell(session, Event::Recorded(Box::new(exchange)));
                    }
                    None => break,
                },
                _ = sweep.tick() => sessions.sweep().await,
                Some(ended) = sessions.running.join_next() => {
                    if let Err(error) = ended && error.is_panic() {
                        tracing::error!("following a session's tasks panicked; it is taken up anew with its next exchange");
                    }
                    sessions.mailboxes.retain(|_, mailbox| !mailbox.is_closed());
                }
            }
        }
        // Closed mailboxes end the sessions once they have read what is in them.
        while let Ok(exchange) = self.inbox.try_recv() {
            let session = exchange.client_session_id.clone();
            sessions.tell(session, Event::Recorded(Box::new(exchange)));
        }
        sessions.mailboxes.clear();
        let all = async { while sessions.running.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_LIMIT, all).await.is_err() {
            tracing::info!(
                "stopped before every turn was judged; those stay in the task they were recorded in"
            );
        }
    }
}

/// The followed sessions.
struct Sessions {
    context: Arc<Context>,
    mailboxes: HashMap<ClientSessionId, mpsc::Sender<Event>>,
    running: JoinSet<()>,
}

impl Sessions {
    /// Puts an event into the session's mailbox, opening one if need be.
    fn tell(&mut self, id: ClientSessionId, event: Event) {
        let mut event = event;
        if let Some(mailbox) = self.mailboxes.get(&id) {
            match mailbox.try_send(event) {
                Ok(()) => return,
                Err(mpsc::error::TrySendError::Full(_)) => {
                    tracing::warn!(session = %id, "the judge is far behind: an exchange stays in the task it was recorded in");
                    return;
                }
                // It went to sleep; it is woken up below.
                Err(mpsc::error::TrySendError::Closed(unread)) => event = unread,
            }
        }
        if self.mailboxes.len() >= MAX_SESSIONS && !self.mailboxes.contains_key(&id) {
            tracing::warn!(session = %id, "too many sessions at once: this one is recorded, but not divided into tasks");
            return;
        }
        let (mailbox, events) = mpsc::channel(MAILBOX);
        // An empty mailbox has room.
        let _ = mailbox.try_send(event);
        let session = Session::new(Arc::clone(&self.context), id.clone());
        self.running.spawn(session.run(events));
        self.mailboxes.insert(id, mailbox);
    }

    /// Looks for tasks that nobody came back to.
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
                    self.tell(state.client_session_id, Event::Idle(state.session_id));
                }
            }
            Err(error) => tracing::debug!(%error, "abandoned tasks could not be looked for"),
        }
    }
}
