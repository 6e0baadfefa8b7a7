//! The session that a command is about.

use crate::assembly::CommandStore;
use crate::failure::Failure;
use crate::hooked;
use crate::output::say;
use crate::show::ago;
use crate::table::harmless;
use grov_domain::{
    ClientSessionId, Clock, HookSession, SessionFilter, SessionId, SessionState, SessionStatus, SessionStore,
    SessionSummary, StoreError, SystemClock, in_work,
};
use std::collections::BTreeSet;

/// Sessions that are listed where a name means several.
const LISTED: usize = 5;

/// A client session and its tasks.
pub(crate) struct Chosen {
    pub(crate) id: ClientSessionId,
    /// Oldest first; there is one at least.
    pub(crate) tasks: Vec<SessionSummary>,
    /// The task that was named, where it was a task.
    pub(crate) named: Option<SessionId>,
}

impl Chosen {
    /// A session that hooks alone know.
    pub(crate) fn hooked(session: &HookSession) -> Self {
        Self {
            id: session.client_session_id.clone(),
            tasks: vec![hooked::task(session)],
            named: None,
        }
    }

    /// The task that was named, else the one in work.
    pub(crate) fn task(&self) -> Option<&SessionState> {
        let mut states = self.tasks.iter().map(|task| &task.state);
        let named = states.find(|state| Some(&state.session_id) == self.named.as_ref());
        named.or_else(|| in_work(self.tasks.iter().map(|task| &task.state)))
    }
}

/// The session that `wanted` names: a client session or a task by its id, or by an unmistakable beginning of it. Without
/// it the newest active session of the project, which is told.
///
/// # Errors
/// A negative result when there is none, bad usage when several are meant.
pub(crate) async fn chosen(
    store: &dyn CommandStore,
    wanted: Option<&str>,
    project: &str,
) -> Result<Chosen, Failure> {
    let Some(wanted) = wanted else {
        return newest(store, project).await;
    };
    match named(store, wanted).await {
        Ok(chosen) => Ok(chosen),
        Err(failure) => match hooked::named(store, wanted, project).await? {
            Some(session) => Ok(Chosen::hooked(&session)),
            None => Err(failure),
        },
    }
}

/// That there is no such session.
pub(crate) fn none(wanted: Option<&str>) -> Failure {
    let message = match wanted {
        Some(wanted) => format!("there is no session {:?}", harmless(wanted)),
        None => "this project has no active session".to_owned(),
    };
    Failure::negative(
        "no_session",
        message,
        Some("`grov proxy-status` lists sessions; name one with --session S"),
    )
}

async fn newest(store: &dyn CommandStore, project: &str) -> Result<Chosen, Failure> {
    let filter = SessionFilter {
        project_path: Some(project.to_owned()),
        status: Some(SessionStatus::Active),
        limit: Some(1),
        ..SessionFilter::default()
    };
    let recorded = store.sessions(&filter).await?.into_iter().next();
    let hooked = store.hook_sessions(project, 1).await?.into_iter().next();
    let recorded_at = recorded.as_ref().map(|session| session.state.last_update);
    let newer = hooked.filter(|session| session.ended_at.is_none() && Some(session.updated_at) > recorded_at);
    let (id, at, tasks) = match (newer, recorded) {
        (Some(session), _) => {
            let chosen = Chosen::hooked(&session);
            (chosen.id, session.updated_at, chosen.tasks)
        }
        (None, Some(session)) => {
            let state = session.state;
            let tasks = store.client_session(&state.client_session_id).await?;
            (state.client_session_id, state.last_update, tasks)
        }
        (None, None) => return Err(none(None)),
    };
    say(&format!(
        "session {id}, the newest active one of this project ({})",
        ago(at, SystemClock.now())
    ));
    Ok(Chosen {
        id,
        tasks,
        named: None,
    })
}

async fn named(store: &dyn SessionStore, wanted: &str) -> Result<Chosen, Failure> {
    if wanted.is_empty() {
        return Err(Failure::usage("--session must name a session"));
    }
    if let Some(chosen) = exact(store, wanted).await? {
        return Ok(chosen);
    }
    let sessions = store.sessions(&SessionFilter::default()).await?;
    let beginning = |id: fn(&SessionState) -> &str| -> BTreeSet<String> {
        let ids = sessions.iter().map(|session| id(&session.state));
        ids.filter(|id| id.starts_with(wanted))
            .map(str::to_owned)
            .collect()
    };
    let mut ids = beginning(|state| state.client_session_id.as_str());
    if ids.is_empty() {
        ids = beginning(|state| state.session_id.as_str());
    }
    match (ids.len(), ids.first()) {
        (1, Some(id)) => exact(store, id).await?.ok_or_else(|| none(Some(wanted))),
        (0, _) | (_, None) => Err(none(Some(wanted))),
        (number, _) => {
            let some: Vec<&str> = ids.iter().take(LISTED).map(String::as_str).collect();
            let more = if number > LISTED { ", …" } else { "" };
            let wanted = harmless(wanted);
            Err(Failure::usage(format!(
                "{number} sessions begin with {wanted:?}: {}{more}",
                some.join(", ")
            )))
        }
    }
}

/// A client's session id names the session; the id of one of its tasks names that task.
async fn exact(store: &dyn SessionStore, id: &str) -> Result<Option<Chosen>, StoreError> {
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
