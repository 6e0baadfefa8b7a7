//! The session that a person means.

use crate::{ReadStore, hooked};
use grov_domain::{
    ClientSessionId, HookSession, SessionFilter, SessionId, SessionState, SessionStatus, SessionStore,
    SessionSummary, StoreError, in_work,
};
use std::collections::BTreeSet;
use time::OffsetDateTime;

/// Sessions of a project that hooks know and that are looked at, the newest.
const MOST_HOOKED: u32 = 100;

/// A client session and its tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The client session.
    pub id: ClientSessionId,
    /// Oldest first; there is one at least.
    pub tasks: Vec<SessionSummary>,
    /// The task that was named, where it was a task.
    pub named: Option<SessionId>,
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// One session.
    One(Chosen),
    /// No session.
    Nothing,
    /// Several sessions, or tasks, whose ids begin like this.
    Several(BTreeSet<String>),
}

/// The newest session of a project.
#[derive(Clone, Debug, PartialEq)]
pub struct Newest {
    /// The session.
    pub chosen: Chosen,
    /// When something last happened in it.
    pub at: OffsetDateTime,
}

impl Chosen {
    /// A session that hooks alone know.
    pub fn hooked(session: &HookSession) -> Self {
        Self {
            id: session.client_session_id.clone(),
            tasks: vec![hooked::task(session)],
            named: None,
        }
    }

    /// The task that was named, else the one in work.
    pub fn task(&self) -> Option<&SessionState> {
        let mut states = self.tasks.iter().map(|task| &task.state);
        let named = states.find(|state| Some(&state.session_id) == self.named.as_ref());
        named.or_else(|| in_work(self.tasks.iter().map(|task| &task.state)))
    }
}

/// The session that `wanted` names: a client session or a task by its id, or by an unmistakable beginning of it.
///
/// # Errors
/// Those of the store.
pub async fn chosen(store: &dyn ReadStore, wanted: &str, project: &str) -> Result<Choice, StoreError> {
    if wanted.is_empty() {
        return Ok(Choice::Nothing);
    }
    let recorded = recorded(store, wanted).await?;
    if let Choice::One(_) = recorded {
        return Ok(recorded);
    }
    let hooked = hooked::named(store, wanted, project).await?;
    Ok(hooked.map_or(recorded, |session| Choice::One(Chosen::hooked(&session))))
}

/// The newest active session of a project.
///
/// # Errors
/// Those of the store.
pub async fn newest_active(store: &dyn ReadStore, project: &str) -> Result<Option<Newest>, StoreError> {
    let recorded = newest_recorded(store, project).await?;
    let hooked = store.hook_sessions(project, 1).await?.into_iter().next();
    let recorded_at = recorded.as_ref().map(|session| session.state.last_update);
    let newer = hooked.filter(|session| session.ended_at.is_none() && Some(session.updated_at) > recorded_at);
    Ok(match (newer, recorded) {
        (Some(session), _) => Some(Newest {
            chosen: Chosen::hooked(&session),
            at: session.updated_at,
        }),
        (None, Some(session)) => Some(Newest {
            at: session.state.last_update,
            chosen: Chosen {
                tasks: store.client_session(&session.state.client_session_id).await?,
                id: session.state.client_session_id,
                named: None,
            },
        }),
        (None, None) => None,
    })
}

/// The newest session of a project, and when something last happened in it. One that hooks know and that was left counts
/// too: it can be taken up again.
///
/// # Errors
/// Those of the store.
pub async fn newest(
    store: &dyn ReadStore,
    project: &str,
) -> Result<Option<(OffsetDateTime, ClientSessionId)>, StoreError> {
    let hooked = store.hook_sessions(project, MOST_HOOKED).await?;
    let hooked = hooked
        .first()
        .map(|session| (session.updated_at, session.client_session_id.clone()));
    let recorded = newest_recorded(store, project).await?;
    let recorded = recorded.map(|session| (session.state.last_update, session.state.client_session_id));
    Ok(recorded.into_iter().chain(hooked).max())
}

async fn newest_recorded(store: &dyn ReadStore, project: &str) -> Result<Option<SessionSummary>, StoreError> {
    let filter = SessionFilter {
        project_path: Some(project.to_owned()),
        status: Some(SessionStatus::Active),
        limit: Some(1),
        ..SessionFilter::default()
    };
    Ok(store.sessions(&filter).await?.into_iter().next())
}

/// Among what the proxy recorded.
async fn recorded(store: &dyn ReadStore, wanted: &str) -> Result<Choice, StoreError> {
    if let Some(chosen) = exact(store, wanted).await? {
        return Ok(Choice::One(chosen));
    }
    let ids = beginning_with(store, wanted).await?;
    match (ids.len(), ids.first()) {
        (1, Some(id)) => Ok(exact(store, id).await?.map_or(Choice::Nothing, Choice::One)),
        (0, _) | (_, None) => Ok(Choice::Nothing),
        _ => Ok(Choice::Several(ids)),
    }
}

/// Ids of client sessions that begin like this, or of tasks where none does.
pub(crate) async fn beginning_with<S: SessionStore + ?Sized>(
    store: &S,
    wanted: &str,
) -> Result<BTreeSet<String>, StoreError> {
    let sessions = store.sessions(&SessionFilter::default()).await?;
    let beginning = |id: fn(&SessionState) -> &str| -> BTreeSet<String> {
        let ids = sessions.iter().map(|session| id(&session.state));
        ids.filter(|id| id.starts_with(wanted))
            .map(str::to_owned)
            .collect()
    };
    let ids = beginning(|state| state.client_session_id.as_str());
    if !ids.is_empty() {
        return Ok(ids);
    }
    Ok(beginning(|state| state.session_id.as_str()))
}

/// A client's session id names the session; the id of one of its tasks names that task.
async fn exact(store: &dyn ReadStore, id: &str) -> Result<Option<Chosen>, StoreError> {
    let client = ClientSessionId::new(id);
    let tasks = store.client_session(&client).await?;
    if !tasks.is_empty() {
        return Ok(Some(Chosen {
            id: client,
            tasks,
            named: None,
        }));
    }
    let Some(task) = store.session(&SessionId::new(id)).await? else {
        return Ok(None);
    };
    let client = task.state.client_session_id;
    Ok(Some(Chosen {
        tasks: store.client_session(&client).await?,
        id: client,
        named: Some(task.state.session_id),
    }))
}
