//! What was done in a session, whichever path saw it.

use crate::chosen::beginning_with;
use crate::{ReadStore, hooked};
use grov_domain::{ClientSessionId, HookStep, SessionId, SessionState, StepRow, StoreError};
use std::collections::BTreeSet;

/// Steps in order of time, and the tasks that they belong to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// What was done.
    pub steps: Vec<StepRow>,
    /// For which tasks.
    pub tasks: Vec<SessionState>,
}

/// What an id, or the beginning of one, stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Search {
    /// The id in full, and what was done.
    Found(String, Work),
    /// No session.
    Nothing,
    /// Several sessions begin like this.
    Several(BTreeSet<String>),
}

/// What the proxy recorded, and what hooks found while the session did not go through it.
///
/// # Errors
/// Those of the store.
pub async fn searched(store: &dyn ReadStore, wanted: &str, project: &str) -> Result<Search, StoreError> {
    match recorded(store, wanted).await? {
        Search::Found(id, mut work) => {
            let client = ClientSessionId::new(id.as_str());
            let found = store.hook_steps(&client).await?.into_iter();
            let is_new = |step: &HookStep| {
                let mut known = work.steps.iter().map(|step| &step.tool_use_id);
                step.tool_use_id.is_none() || known.all(|known| *known != step.tool_use_id)
            };
            let found: Vec<StepRow> = found
                .filter(is_new)
                .map(|step| hooked::step(&client, step))
                .collect();
            work.steps.extend(found);
            work.steps.sort_by_key(|step| step.timestamp);
            Ok(Search::Found(id, work))
        }
        Search::Nothing => of_hooks(store, wanted, project).await,
        several => Ok(several),
    }
}

/// Of a session that hooks alone know.
async fn of_hooks(store: &dyn ReadStore, wanted: &str, project: &str) -> Result<Search, StoreError> {
    let Some(session) = hooked::named(store, wanted, project).await? else {
        return Ok(Search::Nothing);
    };
    let id = &session.client_session_id;
    let steps = store.hook_steps(id).await?.into_iter();
    let work = Work {
        steps: steps.map(|step| hooked::step(id, step)).collect(),
        tasks: vec![hooked::task(&session).state],
    };
    Ok(Search::Found(id.to_string(), work))
}

/// A client's session id names all its tasks, its first task included, which has the same id.
async fn recorded(store: &dyn ReadStore, wanted: &str) -> Result<Search, StoreError> {
    if let Some(work) = work_of(store, wanted).await? {
        return Ok(Search::Found(wanted.to_owned(), work));
    }
    if wanted.is_empty() {
        return Ok(Search::Nothing);
    }
    let found = beginning_with(store, wanted).await?;
    match (found.len(), found.first()) {
        (1, Some(id)) => {
            let work = work_of(store, id).await?.unwrap_or_default();
            Ok(Search::Found(id.clone(), work))
        }
        (0, _) => Ok(Search::Nothing),
        _ => Ok(Search::Several(found)),
    }
}

async fn work_of(store: &dyn ReadStore, id: &str) -> Result<Option<Work>, StoreError> {
    let client = ClientSessionId::new(id);
    let tasks = store.client_session(&client).await?;
    if !tasks.is_empty() {
        return Ok(Some(Work {
            steps: store.client_steps(&client).await?,
            tasks: tasks.into_iter().map(|task| task.state).collect(),
        }));
    }
    let id = SessionId::new(id);
    match store.session(&id).await? {
        Some(task) => Ok(Some(Work {
            steps: store.steps(&id).await?,
            tasks: vec![task.state],
        })),
        None => Ok(None),
    }
}
