//! The session that a command is about.

use crate::assembly::CommandStore;
use crate::failure::Failure;
use crate::output::say;
use crate::show::ago;
use crate::table::harmless;
use grov_domain::{Clock, SystemClock};
use grov_query::{Lookup, SelectedSession, newest_active_session};

/// Sessions that are listed where a name means several.
const LISTED: usize = 5;

/// The session that `wanted` names: a client session or a task by its id, or by an unmistakable beginning of it. Without
/// it the newest active session of the project, which is told.
///
/// # Errors
/// A negative result when there is none, bad usage when several are meant.
pub(crate) async fn chosen(
    store: &dyn CommandStore,
    wanted: Option<&str>,
    project: &str,
) -> Result<SelectedSession, Failure> {
    let Some(wanted) = wanted else {
        return newest(store, project).await;
    };
    if wanted.is_empty() {
        return Err(Failure::usage("--session must name a session"));
    }
    match grov_query::find_session(store, wanted, project).await? {
        Lookup::Found(chosen) => Ok(chosen),
        Lookup::NotFound => Err(none(Some(wanted))),
        Lookup::Ambiguous(ids) => {
            let some: Vec<&str> = ids.iter().take(LISTED).map(String::as_str).collect();
            let more = if ids.len() > LISTED { ", …" } else { "" };
            Err(Failure::usage(format!(
                "{} sessions begin with {:?}: {}{more}",
                ids.len(),
                harmless(wanted),
                some.join(", ")
            )))
        }
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

async fn newest(store: &dyn CommandStore, project: &str) -> Result<SelectedSession, Failure> {
    let newest = newest_active_session(store, project)
        .await?
        .ok_or_else(|| none(None))?;
    say(&format!(
        "session {}, the newest active one of this project ({})",
        newest.session.id,
        ago(newest.at, SystemClock.now())
    ));
    Ok(newest.session)
}
