//! Finds the session that a command is about.

use crate::failure::Failure;
use crate::format::ago;
use crate::output::note;
use crate::table::one_line;
use grov_domain::{ClientSessionId, Clock, StoreConnection, SystemClock};
use grov_query::{Lookup, SelectedSession, find_session, newest_active_session, newest_session};

/// The session that `wanted` names: a client session or a task by its id or a unique prefix of it. Without it the newest
/// active session of the project, which is printed.
///
/// # Errors
/// A negative result when there is none, bad usage when the prefix is ambiguous.
pub(crate) async fn resolve(
    store: &dyn StoreConnection,
    wanted: Option<&str>,
    project: &str,
) -> Result<SelectedSession, Failure> {
    let Some(wanted) = wanted else {
        let newest = newest_active_session(store, project).await?;
        let (at, session) = newest.ok_or_else(|| not_found(None))?;
        let age = ago(at, SystemClock.now());
        note!(
            "session {}, the newest active one of this project ({age})",
            session.id
        );
        return Ok(session);
    };
    let found = find(store, wanted, project).await?;
    found.ok_or_else(|| not_found(Some(wanted)))
}

/// Like [`resolve`], but without `wanted` the newest session counts even if it has ended: it can be resumed.
pub(crate) async fn resolve_id(
    store: &dyn StoreConnection,
    wanted: Option<&str>,
    project: &str,
) -> Result<ClientSessionId, Failure> {
    if wanted.is_some() {
        return Ok(resolve(store, wanted, project).await?.id);
    }
    let (at, id) = newest_session(store, project)
        .await?
        .ok_or_else(|| not_found(None))?;
    let age = ago(at, SystemClock.now());
    note!("session {id}, the newest one of this project ({age})");
    Ok(id)
}

/// The session that `wanted` names; `None` if there is none.
///
/// # Errors
/// Bad usage when it is empty or ambiguous.
pub(crate) async fn find(
    store: &dyn StoreConnection,
    wanted: &str,
    project: &str,
) -> Result<Option<SelectedSession>, Failure> {
    if wanted.is_empty() {
        return Err(Failure::usage("--session needs a session id"));
    }
    match find_session(store, wanted, project).await? {
        Lookup::Found(session) => Ok(Some(session)),
        Lookup::NotFound => Ok(None),
        Lookup::Ambiguous(ids) => Err(Failure::ambiguous(wanted, "sessions", ids)),
    }
}

/// A negative result: no such session.
pub(crate) fn not_found(wanted: Option<&str>) -> Failure {
    let message = match wanted {
        Some(wanted) => format!("no session {:?}", one_line(wanted)),
        None => "this project has no active session".to_owned(),
    };
    let hint = "`grov proxy-status` lists sessions; name one with --session S";
    Failure::negative("no_session", message).hint(hint)
}
