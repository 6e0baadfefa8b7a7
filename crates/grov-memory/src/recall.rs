//! What is remembered for a prompt, ready to be told.

use crate::{Found, Query, Ranking, search};
use grov_domain::{ClientSessionId, FilePin, MemoryScope, MemorySearch, StoreError, Task, TaskId};
use std::collections::{HashMap, HashSet};

/// How many times as many as wanted are searched for: some are replaced by others, some are the asker's own.
const SPARE: usize = 4;
/// Links of a chain of replacements that are followed.
const LONGEST_CHAIN: usize = 16;

/// A memory that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// The memory.
    pub task: Task,
    /// As [`Found::score`].
    pub score: f64,
    /// Whether the files are still as it left them.
    pub freshness: Freshness,
}

/// Whether the files that a memory is about are still as it left them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Freshness {
    /// Nobody noted how it left them, or looked how they are.
    #[default]
    Unknown,
    /// They are.
    Fresh,
    /// These have other content, are gone, or are there again.
    Changed(Vec<String>),
}

impl Freshness {
    /// Compares a memory's files as it left them with files as they are; those that nobody looked at say nothing.
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

/// The memories that fit a question, loaded, best first, at most [`Query::limit`]. Of memories that replace one another
/// only the one that replaces all of them is recalled, with the best score of any of them. What the client session
/// `except` did itself is left out: it knows.
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
        limit: query.limit.saturating_mul(SPARE),
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
                recalled.push(Recalled {
                    task: task.clone(),
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

/// The tasks by which those found are replaced, and those by which these are, as far as they belong to the scope and were
/// there at the time of the question.
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
    for _ in 0..LONGEST_CHAIN {
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

/// The end of the chain that a memory is in; of a circle, which no command makes, the largest id.
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

/// Marks each memory with `freshness` of it, and holds back those whose files have changed: a memory of which all files
/// have keeps [`Ranking::stale_factor`] of its score, one of which some have more. Best first.
pub fn demote(
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
