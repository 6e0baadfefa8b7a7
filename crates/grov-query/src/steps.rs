//! The steps of a session, from both paths.

use crate::sessions::SelectedSession;
use grov_domain::{ClientSessionId, HookStep, SessionState, StepOutcome, StepRow, Store, StoreError};
use std::collections::HashSet;

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

/// Returns the steps of a session or of its selected task: those that the proxy recorded, with those that hooks recorded
/// while the session bypassed the proxy. An action that the guard stopped and that did not run is marked as denied.
///
/// # Errors
/// Returns the store's error.
pub async fn session_steps(store: &dyn Store, session: SelectedSession) -> Result<SessionSteps, StoreError> {
    let SelectedSession { id, tasks, task_id } = session;
    let tasks = tasks.into_iter().map(|task| task.state);
    if let Some(task) = task_id {
        let mut steps = store.steps(&task).await?;
        mark_stopped(store, &id, &mut steps).await?;
        return Ok(SessionSteps {
            steps,
            tasks: tasks.filter(|state| state.session_id == task).collect(),
            id: task.to_string(),
        });
    }
    let mut steps = store.client_steps(&id).await?;
    let is_new = |step: &HookStep| {
        let mut known = steps.iter().map(|step| &step.tool_use_id);
        step.tool_use_id.is_none() || known.all(|known| *known != step.tool_use_id)
    };
    let from_hooks = store.hook_steps(&id).await?.into_iter().filter(is_new);
    let from_hooks: Vec<StepRow> = from_hooks.map(|step| step.into_row(&id)).collect();
    steps.extend(from_hooks);
    steps.sort_by_key(|step| step.timestamp);
    mark_stopped(store, &id, &mut steps).await?;
    Ok(SessionSteps {
        steps,
        tasks: tasks.collect(),
        id: id.to_string(),
    })
}

/// Marks failed actions that the guard had stopped or asked about: their results contain the guard's reason.
async fn mark_stopped(
    store: &dyn Store,
    session: &ClientSessionId,
    steps: &mut [StepRow],
) -> Result<(), StoreError> {
    if !steps.iter().any(|step| step.outcome == Some(StepOutcome::Failed)) {
        return Ok(());
    }
    let log = store.guard_log(session).await?;
    let stopped: HashSet<&str> = log
        .iter()
        .filter(|record| !record.ran)
        .map(|record| record.tool_use_id.as_str())
        .collect();
    for step in steps {
        let call = step.tool_use_id.as_deref();
        if step.outcome == Some(StepOutcome::Failed) && call.is_some_and(|call| stopped.contains(call)) {
            step.outcome = Some(StepOutcome::Denied);
        }
    }
    Ok(())
}
