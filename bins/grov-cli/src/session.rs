//! Finds the session that a command is about.

use crate::failure::Failure;
use crate::format::ago;
use crate::output::note;
use crate::table::{one_line, truncated};
use grov_domain::{Clock, StoreConnection, SystemClock};
use grov_query::{ClientSessionView, Lookup, SelectedSession, find_session, pick_session};

/// Maximum characters of a goal in a message.
const MAX_GOAL: usize = 60;

/// The session that `wanted` names, or else the one that [`pick_session`] selects in the project, which is printed.
///
/// # Errors
/// A negative result when there is none, bad usage when the prefix is ambiguous.
pub(crate) async fn resolve(
    store: &dyn StoreConnection,
    wanted: Option<&str>,
    project: &str,
) -> Result<SelectedSession, Failure> {
    if wanted.is_some_and(str::is_empty) {
        return Err(Failure::usage("a session id must not be empty"));
    }
    match pick_session(store, wanted, project, SystemClock.now()).await? {
        Lookup::Found(picked) => {
            if let Some(view) = &picked.because {
                tell(view);
            }
            Ok(picked.session)
        }
        Lookup::NotFound => Err(not_found(wanted)),
        Lookup::Ambiguous(ids) => Err(Failure::ambiguous(wanted.unwrap_or_default(), "sessions", ids)),
    }
}

/// Says which session was selected.
fn tell(view: &ClientSessionView) {
    let age = ago(view.last_update, SystemClock.now());
    let goal = view
        .goal
        .as_deref()
        .map(|goal| truncated(&one_line(goal), MAX_GOAL));
    let goal = goal.map(|goal| format!(": {goal}")).unwrap_or_default();
    note!("session {} ({}, {age}){goal}", view.short_id, view.state.as_str());
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
    let (message, hint) = match wanted {
        Some(wanted) => (
            format!("no session {:?}", one_line(wanted)),
            "`grov sessions --all` lists the sessions of all projects",
        ),
        None => (
            "no session of this project is recorded".to_owned(),
            "`grov sessions --all` lists the sessions of all projects; `grov doctor` checks whether Grov records",
        ),
    };
    Failure::negative("no_session", message).hint(hint)
}
