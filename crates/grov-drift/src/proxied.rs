//! Reads sessions that the proxy recorded.

use crate::hook::HookContext;
use crate::resume::{SessionRef, intent_reader};
use crate::services::STORE_TIMEOUT;
use crate::task_rows;
use crate::team_memory::is_off;
use grov_domain::{GoalContract, SessionDigest, StoreError, active_task};
use grov_project::ProjectLocation;
use grov_query::ActiveConstraints;
use grov_session::capture::PerformedAction;

/// Loads contract and digest of a session for a compaction; `None` if Grov is off or the session is unknown.
pub(crate) async fn compaction_state(
    context: &HookContext<'_>,
    session_ref: &SessionRef,
) -> Result<Option<(GoalContract, SessionDigest)>, StoreError> {
    let Some(store) = context.services.stores.open_existing(Some(STORE_TIMEOUT)).await? else {
        return Ok(None);
    };
    let place = ProjectLocation::locate(&session_ref.directory);
    let id = session_ref.id();
    if is_off(&*store, place.project().key(), &id).await? {
        return Ok(None);
    }
    let tasks = store.client_session(&id).await?;
    let Some(task) = active_task(tasks.iter().map(|task| &task.state)) else {
        return Ok(None);
    };
    let contract = ActiveConstraints::load(&*store, intent_reader(), task, None)
        .await?
        .contract;
    let steps = store.steps(&task.session_id).await?;
    let done = steps.iter().map(PerformedAction::from).collect();
    let digest = task_rows::digest(session_ref, &place, &contract, done);
    Ok(Some((contract, digest)))
}
