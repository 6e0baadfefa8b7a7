//! The session whose goal is changed: one that the proxy recorded, or one that hooks alone know.

use crate::assembly::CommandStore;
use crate::chosen::{self, chosen};
use crate::failure::Failure;
use crate::output::say;
use crate::show::ago;
use grov_domain::{ClientSessionId, Clock, HookSession, SessionFilter, SessionStatus, SystemClock};

/// So many sessions of the project that hooks know are looked at, the newest.
const MOST_HOOKED: u32 = 100;

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
    let hooked = store.hook_sessions(project, MOST_HOOKED).await?;
    match wanted {
        Some(wanted) => match chosen(store, Some(wanted), project).await {
            Ok(chosen) => Ok(chosen.id),
            Err(failure) => only(&hooked, wanted).ok_or(failure),
        },
        None => newest(store, &hooked, project).await,
    }
}

/// The one whose id begins like this.
fn only(hooked: &[HookSession], wanted: &str) -> Option<ClientSessionId> {
    let mut named = hooked
        .iter()
        .map(|session| &session.client_session_id)
        .filter(|id| !wanted.is_empty() && id.as_str().starts_with(wanted));
    match (named.next(), named.next()) {
        (Some(one), None) => Some(one.clone()),
        _ => None,
    }
}

async fn newest(
    store: &dyn CommandStore,
    hooked: &[HookSession],
    project: &str,
) -> Result<ClientSessionId, Failure> {
    let filter = SessionFilter {
        project_path: Some(project.to_owned()),
        status: Some(SessionStatus::Active),
        limit: Some(1),
        ..SessionFilter::default()
    };
    let recorded = store.sessions(&filter).await?;
    let recorded = recorded
        .first()
        .map(|session| (session.state.last_update, session.state.client_session_id.clone()));
    // One that was left counts too: it can be taken up again, with what was allowed meanwhile.
    let hooked = hooked
        .first()
        .map(|session| (session.updated_at, session.client_session_id.clone()));
    let (at, id) = recorded
        .into_iter()
        .chain(hooked)
        .max()
        .ok_or_else(|| chosen::none(None))?;
    say(&format!(
        "session {id}, the newest one of this project ({})",
        ago(at, SystemClock.now())
    ));
    Ok(id)
}
