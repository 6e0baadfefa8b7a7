//! Which task each client session is in, for whoever records.

use grov_domain::{ClientSessionId, SessionId};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The task in work per client session. What is not on it is in its first task.
#[derive(Debug, Default)]
pub(crate) struct TaskBoard {
    current: Mutex<HashMap<ClientSessionId, SessionId>>,
}

impl TaskBoard {
    /// The task in work, if somebody knows.
    pub(crate) fn task(&self, session: &ClientSessionId) -> Option<SessionId> {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.get(session).cloned()
    }

    pub(super) fn set(&self, session: &ClientSessionId, task: SessionId) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.insert(session.clone(), task);
    }

    pub(super) fn forget(&self, session: &ClientSessionId) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.remove(session);
    }
}
