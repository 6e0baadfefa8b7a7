//! Loads the memories that fit a prompt.

use crate::fitting::fit;
use crate::{Found, Query, Ranking, search};
use grov_domain::{ClientSessionId, FilePin, MemoryScope, MemorySearch, StoreError, Task, TaskId};
use std::collections::{HashMap, HashSet};

/// The limit is multiplied by this, because some results are superseded or belong to the asking session.
const OVERFETCH: usize = 4;
/// Maximum number of links followed in a chain of superseding memories.
const MAX_CHAIN: usize = 16;

/// A memory that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// The memory.
    pub task: Task,
    /// As [`Found::score`].
    pub score: f64,
    /// Whether its files have changed since.
    pub freshness: Freshness,
}

/// Whether the files of a memory have changed since it was saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Freshness {
    /// Not recorded, or not checked.
    #[default]
    Unknown,
    /// Unchanged.
    Fresh,
    /// These files were changed, deleted or restored.
    Changed(Vec<String>),
}

impl Freshness {
    /// Compares the files recorded with a memory against their current state `now`; files missing from `now` are ignored.
    pub fn of(task: &Task, now: &[FilePin]) -> Self {
        let now: HashMap<&str, &FilePin> = now.iter().map(|pin| (pin.path.as_str(), pin)).collect();
        let mut changed = Vec::new();
        let mut compared = false;
        for then in &task.file_pins {
            if let Some(now) = now.get(then.path.as_str()) {
                compared = true;
                if now.hash != then.hash {
                    changed.push(then.path.clone());
                }
            }
        }
        match (compared, changed.is_empty()) {
            (false, _) => Self::Unknown,
            (true, true) => Self::Fresh,
            (true, false) => Self::Changed(changed),
        }
    }
}

/// The memories that fit a query, best first, at most [`Query::limit`]. Of a chain of superseding memories only the newest is
/// returned, with the best score in the chain. Memories of the client session `except` are left out.
///
/// # Errors
/// Those of the store.
pub async fn recall<S: MemorySearch + ?Sized>(
    store: &S,
    query: &Query,
    ranking: &Ranking,
    except: Option<&ClientSessionId>,
) -> Result<Vec<Recalled>, StoreError> {
    let wider = Query {
        limit: query.limit.saturating_mul(OVERFETCH),
        ..query.clone()
    };
    let found = search(store, &wider, ranking).await?;
    let mut loaded = replacements(store, query, &found).await?;
    let mut recalled: Vec<Recalled> = Vec::with_capacity(query.limit);
    let mut seen = HashSet::new();
    for portion in found.chunks(query.limit.max(1)) {
        let heads: Vec<(TaskId, f64)> = portion
            .iter()
            .map(|found| (head(found, &loaded), found.score))
            .filter(|(head, _)| seen.insert(head.clone()))
            .collect();
        let missing: Vec<TaskId> = heads
            .iter()
            .map(|(head, _)| head)
            .filter(|head| !loaded.contains_key(*head))
            .cloned()
            .collect();
        for task in tasks(store, &missing).await? {
            loaded.insert(task.id.clone(), task);
        }
        for (head, score) in heads {
            let known = loaded.get(&head);
            let foreign = |task: &&Task| except.is_none() || task.client_session_id.as_ref() != except;
            if let Some(task) = known.filter(foreign)
                && recalled.len() < query.limit
            {
                let mut task = task.clone();
                fit(&mut task, &query.text);
                recalled.push(Recalled {
                    task,
                    score,
                    freshness: Freshness::Unknown,
                });
            }
        }
        if recalled.len() >= query.limit {
            break;
        }
    }
    Ok(recalled)
}

/// The tasks that supersede the results, directly or not, if they are in scope and older than the query.
async fn replacements<S: MemorySearch + ?Sized>(
    store: &S,
    query: &Query,
    found: &[Found],
) -> Result<HashMap<TaskId, Task>, StoreError> {
    let mut loaded: HashMap<TaskId, Task> = HashMap::new();
    let mut next: Vec<TaskId> = found
        .iter()
        .filter_map(|found| found.superseded_by.clone())
        .collect();
    for _ in 0..MAX_CHAIN {
        next.sort_unstable();
        next.dedup();
        next.retain(|id| !loaded.contains_key(id));
        if next.is_empty() {
            break;
        }
        let known = |task: &Task| {
            is_of(task, &query.scope) && query.before.is_none_or(|before| task.created_at < before)
        };
        let reached: Vec<Task> = tasks(store, &next).await?.into_iter().filter(known).collect();
        next = reached
            .iter()
            .filter_map(|task| task.superseded_by.clone())
            .collect();
        loaded.extend(reached.into_iter().map(|task| (task.id.clone(), task)));
    }
    Ok(loaded)
}

async fn tasks<S: MemorySearch + ?Sized>(store: &S, ids: &[TaskId]) -> Result<Vec<Task>, StoreError> {
    if ids.is_empty() {
        Ok(Vec::new())
    } else {
        store.memories(ids).await
    }
}

/// The end of a memory's chain of superseding memories; in a cycle, which no command creates, the largest id.
fn head(found: &Found, loaded: &HashMap<TaskId, Task>) -> TaskId {
    let mut chain = vec![&found.task_id];
    let mut next = found.superseded_by.as_ref();
    while let Some(task) = next.and_then(|id| loaded.get(id)) {
        if chain.contains(&&task.id) {
            return chain.into_iter().max().unwrap_or(&found.task_id).clone();
        }
        chain.push(&task.id);
        next = task.superseded_by.as_ref();
    }
    chain
        .last()
        .map_or_else(|| found.task_id.clone(), |id| (*id).clone())
}

fn is_of(task: &Task, scope: &MemoryScope) -> bool {
    task.project_path == scope.project_path
        || (scope.project_remote.is_some() && task.project_remote == scope.project_remote)
}

/// Sets the freshness of each memory, lowers the score of those whose files have changed, and sorts best first. If all files
/// of a memory have changed, [`Ranking::stale_factor`] of its score remains; if only some have, more.
pub fn demote_stale(
    mut recalled: Vec<Recalled>,
    freshness: impl Fn(&Task) -> Freshness,
    ranking: &Ranking,
) -> Vec<Recalled> {
    for one in &mut recalled {
        one.freshness = freshness(&one.task);
        if let Freshness::Changed(files) = &one.freshness {
            let share = files.len() as f64 / one.task.file_pins.len().max(files.len()).max(1) as f64;
            one.score *= 1.0 - (1.0 - ranking.stale_factor) * share;
        }
    }
    // Stable: equals stay in their order.
    recalled.sort_by(|one, other| other.score.total_cmp(&one.score));
    recalled
}

#[cfg(test)]
mod tests;
