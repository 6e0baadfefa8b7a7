//! The steps of a session, from both paths.

use crate::hook_sessions;
use crate::lookup::Lookup;
use crate::sessions::{SelectedSession, find_session};
use grov_domain::{HookStep, SessionState, StepRow, Store, StoreError};
use std::collections::BTreeSet;

/// The steps of a session or of one of its tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionSteps {
    /// The full id of the session or task.
    pub id: String,
    /// The steps, ordered by time.
    pub steps: Vec<StepRow>,
    /// The tasks that the steps belong to.
    pub tasks: Vec<SessionState>,
}

/// Finds a session or task as [`find_session`] does and returns the steps that the proxy recorded, with those that hooks
/// recorded while the session bypassed the proxy.
///
/// # Errors
/// Returns the store's error.
pub async fn find_steps(
    store: &dyn Store,
    wanted: &str,
    project: &str,
) -> Result<Lookup<SessionSteps, BTreeSet<String>>, StoreError> {
    let session = match find_session(store, wanted, project).await? {
        Lookup::Found(session) => session,
        Lookup::NotFound => return Ok(Lookup::NotFound),
        Lookup::Ambiguous(ids) => return Ok(Lookup::Ambiguous(ids)),
    };
    let SelectedSession { id, tasks, task_id } = session;
    let tasks = tasks.into_iter().map(|task| task.state);
    if let Some(task) = task_id {
        return Ok(Lookup::Found(SessionSteps {
            steps: store.steps(&task).await?,
            tasks: tasks.filter(|state| state.session_id == task).collect(),
            id: task.to_string(),
        }));
    }
    let mut steps = store.client_steps(&id).await?;
    let is_new = |step: &HookStep| {
        let mut known = steps.iter().map(|step| &step.tool_use_id);
        step.tool_use_id.is_none() || known.all(|known| *known != step.tool_use_id)
    };
    let from_hooks = store.hook_steps(&id).await?.into_iter().filter(is_new);
    let from_hooks: Vec<StepRow> = from_hooks.map(|step| hook_sessions::step(&id, step)).collect();
    steps.extend(from_hooks);
    steps.sort_by_key(|step| step.timestamp);
    Ok(Lookup::Found(SessionSteps {
        steps,
        tasks: tasks.collect(),
        id: id.to_string(),
    }))
}
