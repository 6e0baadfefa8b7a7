//! The session whose goal is changed: one that the proxy recorded, or one that hooks alone know.

use crate::assembly::CommandStore;
use crate::chosen::{self, chosen};
use crate::failure::Failure;
use crate::output::say;
use crate::show::ago;
use grov_domain::{ClientSessionId, Clock, SystemClock};

/// The session that `wanted` names, by its id, a task's, or an unmistakable beginning of one; without it the newest of the
/// project, which is told.
///
/// # Errors
/// A negative result when there is none, bad usage when several are meant.
pub(super) async fn session(
    store: &dyn CommandStore,
    wanted: Option<&str>,
    project: &str,
) -> Result<ClientSessionId, Failure> {
    match wanted {
        Some(wanted) => Ok(chosen(store, Some(wanted), project).await?.id),
        None => newest(store, project).await,
    }
}

async fn newest(store: &dyn CommandStore, project: &str) -> Result<ClientSessionId, Failure> {
    let newest = grov_query::newest_session(store, project).await?;
    let (at, id) = newest.ok_or_else(|| chosen::none(None))?;
    say(&format!(
        "session {id}, the newest one of this project ({})",
        ago(at, SystemClock.now())
    ));
    Ok(id)
}
