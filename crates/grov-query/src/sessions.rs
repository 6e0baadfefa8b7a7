//! Selects the session that a person means.

use crate::hook_sessions;
use crate::lookup::Lookup;
use grov_domain::{
    ClientSessionId, HookSession, KnownSession, SessionFilter, SessionId, SessionState, SessionStatus,
    SessionSummary, Store, StoreError, active_task,
};
use std::collections::BTreeSet;

/// A client session and its tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectedSession {
    /// The client session.
    pub id: ClientSessionId,
    /// Its tasks, oldest first; at least one.
    pub tasks: Vec<SessionSummary>,
    /// The task, if the id was that of a task.
    pub task_id: Option<SessionId>,
}

impl SelectedSession {
    /// A session that only hooks recorded.
    pub fn from_hooks(session: &HookSession) -> Self {
        Self {
            id: session.client_session_id.clone(),
            tasks: vec![hook_sessions::task(session)],
            task_id: None,
        }
    }

    /// Whether no task of the session is active.
    pub fn has_ended(&self) -> bool {
        let is_active = |task: &SessionSummary| task.state.status == SessionStatus::Active;
        !self.tasks.iter().any(is_active)
    }

    /// Returns the selected task, or else the active one.
    pub fn task(&self) -> Option<&SessionState> {
        let states = || self.tasks.iter().map(|task| &task.state);
        let selected = states().find(|state| Some(&state.session_id) == self.task_id.as_ref());
        selected.or_else(|| active_task(states()))
    }
}

/// Finds a session of either path by the id of a client session or of a task, or by a unique prefix of one. A prefix that
/// several sessions have selects the only one of the project, if there is exactly one.
///
/// # Errors
/// Returns the store's error.
pub async fn find_session(
    store: &dyn Store,
    wanted: &str,
    project: &str,
) -> Result<Lookup<SelectedSession, BTreeSet<String>>, StoreError> {
    if wanted.is_empty() {
        return Ok(Lookup::NotFound);
    }
    if let Some(session) = by_id(store, wanted).await? {
        return Ok(Lookup::Found(session));
    }
    let ids = ids_with_prefix(store, wanted, project).await?;
    if ids.len() > 1 {
        return Ok(Lookup::Ambiguous(ids));
    }
    let found = match ids.first() {
        Some(id) => by_id(store, id).await?,
        None => None,
    };
    Ok(found.map_or(Lookup::NotFound, Lookup::Found))
}

/// Returns the ids of client sessions with this prefix, or else those of tasks.
async fn ids_with_prefix(
    store: &dyn Store,
    prefix: &str,
    project: &str,
) -> Result<BTreeSet<String>, StoreError> {
    let mut known = store.known_sessions().await?;
    known.retain(|session| session.client_session_id.as_str().starts_with(prefix));
    let is_here = |session: &KnownSession| session.project_path == project;
    if known.iter().filter(|session| is_here(session)).count() == 1 {
        known.retain(is_here);
    }
    if !known.is_empty() {
        let ids = known
            .into_iter()
            .map(|session| session.client_session_id.to_string());
        return Ok(ids.collect());
    }
    let tasks = store.sessions(&SessionFilter::default()).await?;
    let ids = tasks.into_iter().map(|task| task.state.session_id.to_string());
    Ok(ids.filter(|id| id.starts_with(prefix)).collect())
}

/// The id of a client session selects the session; the id of one of its other tasks selects that task.
async fn by_id(store: &dyn Store, id: &str) -> Result<Option<SelectedSession>, StoreError> {
    let client = ClientSessionId::new(id);
    let tasks = store.client_session(&client).await?;
    if !tasks.is_empty() {
        return Ok(Some(SelectedSession {
            id: client,
            tasks,
            task_id: None,
        }));
    }
    if let Some(session) = store.hook_session_summary(&client).await? {
        return Ok(Some(SelectedSession::from_hooks(&session)));
    }
    let Some(task) = store.session(&SessionId::new(id)).await? else {
        return Ok(None);
    };
    let client = task.state.client_session_id;
    Ok(Some(SelectedSession {
        tasks: store.client_session(&client).await?,
        id: client,
        task_id: Some(task.state.session_id),
    }))
}
