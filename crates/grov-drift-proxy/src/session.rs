//! One client session in memory: the engine that follows it, and what delivering and asking need beside.

use grov_domain::{ClientSessionId, Correction, CorrectionId, SessionId};
use grov_live::ToolResult;
use grov_session::{IntentReader, JudgeRequest, Policy, SessionEngine};
use hashlink::LruCache;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use time::OffsetDateTime;
use tokio::sync::Notify;

/// Tool calls whose assessment is remembered: those of some responses.
const MAX_CALLS: usize = 256;

/// A session, and who waits for it.
pub(crate) struct Slot {
    session: Mutex<Session>,
    /// Notified when actions were assessed, and when the session is loaded.
    pub(crate) changed: Notify,
}

pub(crate) struct Session {
    pub(crate) id: ClientSessionId,
    pub(crate) engine: SessionEngine,
    /// What is stored of it is being read.
    pub(crate) is_loading: bool,
    /// An exchange with a project was seen: actions are assessed.
    pub(crate) is_followed: bool,
    /// The task in work; the first one as long as it is not known.
    pub(crate) task: SessionId,
    /// It is known which task is in work.
    pub(crate) is_task_known: bool,
    /// What was handed out to be said.
    pub(crate) offered: Option<Correction>,
    /// What was said at the place that was decided last.
    pub(crate) delivered_last: Option<CorrectionId>,
    /// A judge is being asked.
    pub(crate) is_judging: bool,
    /// What the judge is to be asked next, and the task it is about.
    pub(crate) next_request: Option<(SessionId, Box<JudgeRequest>)>,
    /// What is known of the contract is being read again.
    pub(crate) is_refreshing: bool,
    /// It was looked for what was typed before anything of the session was seen.
    pub(crate) has_read_history: bool,
    /// The newest tool calls that were assessed.
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
            is_followed: false,
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

    /// The session, if its lock is free: on the path of a request there is no waiting for a lock.
    pub(crate) fn try_session(&self) -> Option<MutexGuard<'_, Session>> {
        match self.session.try_lock() {
            Ok(session) => Some(session),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Whether words of it were handed out that were not said yet, or its lock is taken.
    pub(crate) fn has_undelivered(&self) -> bool {
        self.try_session().is_none_or(|session| session.offered.is_some())
    }

    /// The session and its task in work.
    pub(crate) fn ids(&self) -> (ClientSessionId, SessionId) {
        let session = self.session();
        (session.id.clone(), session.task.clone())
    }

    /// The session is in this task, if it is not known better.
    pub(crate) fn set_task_if_unknown(&self, task: &SessionId) {
        let mut session = self.session();
        if !session.is_task_known && !session.engine.is_history_loaded() {
            session.task = task.clone();
        }
    }
}

impl Session {
    /// Whether what is stored of it is being brought into memory.
    pub(crate) fn is_state_loading(&self) -> bool {
        self.is_loading && !self.engine.is_history_loaded()
    }

    pub(crate) fn assessed(&mut self, call: &str) {
        self.assessed_calls.insert(call.to_owned(), ());
    }

    /// Whether all these calls were assessed, and nothing is being loaded that bears on it.
    pub(crate) fn has_assessed(&self, calls: &[ToolResult]) -> bool {
        let is_known = |call: &ToolResult| self.assessed_calls.contains_key(&call.tool_use_id);
        (self.engine.is_state_loaded() || !self.is_state_loading())
            && (!self.is_followed || calls.iter().all(is_known))
    }
}
