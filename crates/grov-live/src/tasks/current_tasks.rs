//! The current task of each client session.

use grov_domain::{ClientSessionId, SessionId};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The current tasks, shared with the recorder.
#[derive(Debug, Default)]
pub(crate) struct CurrentTasks {
    current: Mutex<HashMap<ClientSessionId, SessionId>>,
}

impl CurrentTasks {
    /// Returns the current task, if it is known.
    pub(crate) fn get(&self, session: &ClientSessionId) -> Option<SessionId> {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.get(session).cloned()
    }

    pub(super) fn set(&self, session: &ClientSessionId, task: SessionId) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.insert(session.clone(), task);
    }

    pub(super) fn remove(&self, session: &ClientSessionId) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.remove(session);
    }
}
