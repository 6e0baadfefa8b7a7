//! What a session must not lose, read from the records of either path.

use crate::resume::{SessionRef, intent_reader};
use crate::task_rows;
use grov_context::SessionPoints;
use grov_domain::{ClientSessionId, StoreConnection, StoreError, active_task};
use grov_project::ProjectLocation;
use grov_query::ActiveConstraints;
use grov_session::capture::PerformedAction;
use std::path::PathBuf;

/// Returns what a session must not lose, by rules; `None` if it is unknown. A transcript that still exists adds the closing
/// texts of its turns.
///
/// # Errors
/// Returns the store's error.
pub async fn session_points(
    store: &dyn StoreConnection,
    session: &ClientSessionId,
) -> Result<Option<SessionPoints>, StoreError> {
    let tasks = store.client_session(session).await?;
    if let Some(task) = active_task(tasks.iter().map(|task| &task.state)) {
        let contract = ActiveConstraints::load(store, intent_reader(), task, None)
            .await?
            .contract;
        let steps = store.steps(&task.session_id).await?;
        let done = steps.iter().map(PerformedAction::from).collect();
        let directory = task.working_directory.as_ref().unwrap_or(&task.project_path);
        let session_ref = SessionRef {
            session: session.as_str().to_owned(),
            directory: PathBuf::from(directory),
            transcript: None,
        };
        let place = ProjectLocation::locate(&session_ref.directory);
        return Ok(Some(task_rows::points(&session_ref, &place, &contract, done)));
    }
    let Some(stored) = store.hook_session_summary(session).await? else {
        return Ok(None);
    };
    let edits = store.goal_edits(session).await?;
    let contract = stored.contract.with_edits(&edits);
    let steps = store.hook_steps(session).await?;
    let session_ref = SessionRef {
        session: session.as_str().to_owned(),
        directory: PathBuf::from(&stored.working_directory),
        transcript: stored.transcript_path.as_ref().map(PathBuf::from),
    };
    let place = ProjectLocation::locate(&session_ref.directory);
    let done = task_rows::done(&steps);
    Ok(Some(task_rows::points(&session_ref, &place, &contract, done)))
}
