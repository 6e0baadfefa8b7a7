//! Selects the session that a person means.

use crate::hook_sessions;
use crate::lookup::Lookup;
use grov_domain::{
    ClientSessionId, HookSession, SessionFilter, SessionId, SessionState, SessionStatus, SessionSummary,
    Store, StoreError, active_task,
};
use std::collections::BTreeSet;
use time::OffsetDateTime;

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

    /// Returns the selected task, or else the active one.
    pub fn task(&self) -> Option<&SessionState> {
        let states = || self.tasks.iter().map(|task| &task.state);
        let selected = states().find(|state| Some(&state.session_id) == self.task_id.as_ref());
        selected.or_else(|| active_task(states()))
    }
}

/// Finds a session by the id of a client session or of a task, or by a unique prefix of one.
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
    let ids = ids_with_prefix(store, wanted).await?;
    if ids.len() > 1 {
        return Ok(Lookup::Ambiguous(ids));
    }
    let recorded = match ids.first() {
        Some(id) => by_id(store, id).await?,
        None => None,
    };
    if let Some(session) = recorded {
        return Ok(Lookup::Found(session));
    }
    let session = hook_sessions::find(store, wanted, project).await?;
    Ok(session.map_or(Lookup::NotFound, |session| {
        Lookup::Found(SelectedSession::from_hooks(&session))
    }))
}

/// Returns the newest active session of a project and the time of its last activity.
///
/// # Errors
/// Returns the store's error.
pub async fn newest_active_session(
    store: &dyn Store,
    project: &str,
) -> Result<Option<(OffsetDateTime, SelectedSession)>, StoreError> {
    let recorded = newest_recorded(store, project).await?;
    let hooks = store.hook_sessions(project, 1).await?.into_iter().next();
    let recorded_at = recorded.as_ref().map(|session| session.state.last_update);
    let newer = hooks.filter(|session| session.ended_at.is_none() && Some(session.updated_at) > recorded_at);
    Ok(match (newer, recorded) {
        (Some(session), _) => Some((session.updated_at, SelectedSession::from_hooks(&session))),
        (None, Some(session)) => {
            let selected = SelectedSession {
                tasks: store.client_session(&session.state.client_session_id).await?,
                id: session.state.client_session_id,
                task_id: None,
            };
            Some((session.state.last_update, selected))
        }
        (None, None) => None,
    })
}

/// Returns the newest session of a project and the time of its last activity. An ended session of the hook path counts: it
/// can be resumed.
///
/// # Errors
/// Returns the store's error.
pub async fn newest_session(
    store: &dyn Store,
    project: &str,
) -> Result<Option<(OffsetDateTime, ClientSessionId)>, StoreError> {
    let hooks = store.hook_sessions(project, 1).await?;
    let hooks = hooks
        .into_iter()
        .map(|session| (session.updated_at, session.client_session_id));
    let recorded = newest_recorded(store, project).await?;
    let recorded = recorded.map(|session| (session.state.last_update, session.state.client_session_id));
    Ok(recorded.into_iter().chain(hooks).max())
}

async fn newest_recorded(store: &dyn Store, project: &str) -> Result<Option<SessionSummary>, StoreError> {
    let filter = SessionFilter {
        project_path: Some(project.to_owned()),
        status: Some(SessionStatus::Active),
        limit: Some(1),
        ..SessionFilter::default()
    };
    Ok(store.sessions(&filter).await?.into_iter().next())
}

/// Returns the ids of client sessions with this prefix, or else those of tasks.
async fn ids_with_prefix(store: &dyn Store, prefix: &str) -> Result<BTreeSet<String>, StoreError> {
    let sessions = store.sessions(&SessionFilter::default()).await?;
    let matching = |id: fn(&SessionState) -> &str| -> BTreeSet<String> {
        let ids = sessions.iter().map(|session| id(&session.state));
        ids.filter(|id| id.starts_with(prefix))
            .map(str::to_owned)
            .collect()
    };
    let ids = matching(|state| state.client_session_id.as_str());
    if !ids.is_empty() {
        return Ok(ids);
    }
    Ok(matching(|state| state.session_id.as_str()))
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
