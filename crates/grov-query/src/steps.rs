//! The steps of a session, from both paths.

use crate::sessions::SelectedSession;
use grov_domain::{
    ClientSessionId, DriftEvent, GuardVerdict, HookStep, SessionState, StepOutcome, StepRow, Store,
    StoreError,
};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

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

/// Returns the actions of a session or of its selected task: those that the proxy recorded, also those that are in the drift
/// log, with those that hooks recorded while the session bypassed the proxy. An action that the guard stopped and that did not
/// run is marked as denied.
///
/// # Errors
/// Returns the store's error.
pub async fn session_steps(store: &dyn Store, session: SelectedSession) -> Result<SessionSteps, StoreError> {
    let SelectedSession { id, tasks, task_id } = session;
    let tasks = tasks.into_iter().map(|task| task.state);
    if let Some(task) = task_id {
        let mut steps = store.steps(&task).await?;
        let off_goal = store.off_goal_steps(&id).await?.into_iter();
        steps.extend(off_goal.filter(|step| step.session_id == task));
        steps.sort_by(|one, other| (one.timestamp, &one.id).cmp(&(other.timestamp, &other.id)));
        mark_stopped(store, &id, &mut steps).await?;
        return Ok(SessionSteps {
            steps,
            tasks: tasks.filter(|state| state.session_id == task).collect(),
            id: task.to_string(),
        });
    }
    let mut steps = store.client_steps(&id).await?;
    steps.extend(store.off_goal_steps(&id).await?);
    steps.sort_by(|one, other| (one.timestamp, &one.id).cmp(&(other.timestamp, &other.id)));
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

/// Marks actions that the guard had stopped or asked about and that did not run: their results contain the guard's reason.
async fn mark_stopped(
    store: &dyn Store,
    session: &ClientSessionId,
    steps: &mut [StepRow],
) -> Result<(), StoreError> {
    let stopped = Stopped::of(store, session).await?;
    for step in steps {
        step.outcome = stopped.outcome(step.tool_use_id.as_deref(), step.outcome);
    }
    Ok(())
}

/// The calls of a session that the guard stopped or asked about and that did not run.
pub(crate) struct Stopped(HashMap<String, GuardVerdict>);

impl Stopped {
    pub(crate) async fn of(store: &dyn Store, session: &ClientSessionId) -> Result<Self, StoreError> {
        let log = store.guard_log(session).await?.into_iter();
        let stopped = log.filter(|record| !record.ran);
        Ok(Self(
            stopped
                .map(|record| (record.tool_use_id, record.verdict))
                .collect(),
        ))
    }

    /// How a call ended, given what its result tells. One that the guard denied has not run, whether or not its result is known;
    /// one that it asked about may still wait for the user.
    pub(crate) fn outcome(&self, call: Option<&str>, known: Option<StepOutcome>) -> Option<StepOutcome> {
        match (call.and_then(|call| self.0.get(call)), known) {
            (Some(_), Some(StepOutcome::Failed)) | (Some(GuardVerdict::Deny), None) => {
                Some(StepOutcome::Denied)
            }
            (_, known) => known,
        }
    }
}

/// Marks events whose actions the guard stopped.
pub(crate) async fn mark_stopped_events(
    store: &dyn Store,
    events: &mut [DriftEvent],
) -> Result<(), StoreError> {
    let mut known: HashMap<ClientSessionId, Stopped> = HashMap::new();
    for event in events {
        let Some(session) = event.client_session_id.clone() else {
            continue;
        };
        let stopped = match known.entry(session) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => {
                let stopped = Stopped::of(store, vacant.key()).await?;
                vacant.insert(stopped)
            }
        };
        event.outcome = stopped.outcome(event.tool_use_id.as_deref(), event.outcome);
    }
    Ok(())
}
