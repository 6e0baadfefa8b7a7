//! A client session in memory.

use grov_domain::{ClientSessionId, Correction, CorrectionId, SessionId};
use grov_live::ToolResult;
use grov_session::{IntentReader, JudgeRequest, Policy, SessionEngine};
use hashlink::LruCache;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use time::OffsetDateTime;
use tokio::sync::Notify;

/// Judged tool calls that are remembered. Enough for several responses.
const MAX_CALLS: usize = 256;

/// A session and its notifications.
pub(crate) struct Slot {
    session: Mutex<Session>,
    /// Notified after actions were judged and after the session was loaded.
    pub(crate) changed: Notify,
}

pub(crate) struct Session {
    pub(crate) id: ClientSessionId,
    pub(crate) engine: SessionEngine,
    /// Whether stored data is being loaded.
    pub(crate) is_loading: bool,
    /// Whether an exchange of a project was seen. From then on actions are judged.
    pub(crate) is_observed: bool,
    /// The current task, or the first task while the current one is unknown.
    pub(crate) task: SessionId,
    /// Whether the current task is known.
    pub(crate) is_task_known: bool,
    /// The correction offered to the current request, which may still be sent without it.
    pub(crate) offered: Option<Correction>,
    /// The correction delivered with the newest request.
    pub(crate) delivered_last: Option<CorrectionId>,
    /// Whether a judge is being asked.
    pub(crate) is_judging: bool,
    /// The task and the question that the judge is asked next.
    pub(crate) next_request: Option<(SessionId, Box<JudgeRequest>)>,
    /// Whether the contract is being read again.
    pub(crate) is_refreshing: bool,
    /// Whether the prompts before the first seen exchange were read.
    pub(crate) has_read_history: bool,
    /// The newest judged tool calls.
    assessed_calls: LruCache<String, ()>,
}

impl Slot {
    pub(crate) fn new(
        id: ClientSessionId,
        reader: IntentReader,
        policy: Policy,
        now: OffsetDateTime,
    ) -> Self {
        let session = Session {
            task: id.first_task(),
            engine: SessionEngine::new(id.clone(), None, policy, reader, now),
            id,
            is_loading: false,
            is_observed: false,
            is_task_known: false,
            offered: None,
            delivered_last: None,
            is_judging: false,
            next_request: None,
            is_refreshing: false,
            has_read_history: false,
            assessed_calls: LruCache::new(MAX_CALLS),
        };
        Self {
            session: Mutex::new(session),
            changed: Notify::new(),
        }
    }

    pub(crate) fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the session if its lock is free. A request must not wait for a lock.
    pub(crate) fn try_session(&self) -> Option<MutexGuard<'_, Session>> {
        match self.session.try_lock() {
            Ok(session) => Some(session),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Returns whether an offered correction may still be sent. Also `true` if the session is locked.
    pub(crate) fn has_undelivered(&self) -> bool {
        self.try_session().is_none_or(|session| session.offered.is_some())
    }

    /// Returns the ids of the session and its current task.
    pub(crate) fn ids(&self) -> (ClientSessionId, SessionId) {
        let session = self.session();
        (session.id.clone(), session.task.clone())
    }

    /// Sets the current task, unless it is already known.
    pub(crate) fn set_task_if_unknown(&self, task: &SessionId) {
        let mut session = self.session();
        if !session.is_task_known && !session.engine.is_history_loaded() {
            session.task = task.clone();
        }
    }
}

impl Session {
    /// Returns whether the stored history is being loaded.
    pub(crate) fn is_state_loading(&self) -> bool {
        self.is_loading && !self.engine.is_history_loaded()
    }

    pub(crate) fn mark_assessed(&mut self, call: &str) {
        self.assessed_calls.insert(call.to_owned(), ());
    }

    /// Returns whether all these calls are judged. `false` while the drift state is being loaded.
    pub(crate) fn has_assessed(&self, calls: &[ToolResult]) -> bool {
        let is_known = |call: &ToolResult| self.assessed_calls.contains_key(&call.tool_use_id);
        (self.engine.is_state_loaded() || !self.is_state_loading())
            && (!self.is_observed || calls.iter().all(is_known))
    }
}
