//! Memories as people and agents ask for them.

use crate::Lookup;
use grov_domain::{Store, StoreError, Task, TaskId};
use grov_memory::Found;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use time::OffsetDateTime;

/// How many memories an ambiguous id lists.
pub const MAX_MATCHES: usize = 8;

/// Another memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryRefView {
    /// Its id.
    pub id: String,
    /// What it is about.
    pub goal: String,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResultView {
    /// The memory.
    pub id: String,
    /// How well it fits.
    pub score: f64,
    /// What the score is made of, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<BTreeMap<&'static str, f64>>,
    /// What it is about.
    #[serde(skip)]
    pub goal: String,
    /// When it was saved.
    #[serde(skip)]
    pub created_at: Option<OffsetDateTime>,
}

impl ResultView {
    /// A result, which says what its score is made of only if that was asked for.
    pub fn of(found: Found, why: bool) -> Self {
        Self {
            id: found.task_id.to_string(),
            score: rounded(found.score),
            why: why.then(|| {
                found
                    .shares
                    .iter()
                    .map(|share| (share.signal.as_str(), rounded(share.value)))
                    .collect()
            }),
            goal: String::new(),
            created_at: None,
        }
    }

    /// With what the memory says of itself.
    #[must_use]
    pub fn with_task(self, task: Option<Task>) -> Self {
        Self {
            created_at: task.as_ref().map(|task| task.created_at),
            goal: task
                .map(|task| task.goal.unwrap_or(task.original_query))
                .unwrap_or_default(),
            ..self
        }
    }
}

/// More digits would say nothing.
fn rounded(score: f64) -> f64 {
    (score * 1e6).round() / 1e6
}

/// Finds a memory by its id, or by a prefix or suffix of it. An ambiguous id returns at most [`MAX_MATCHES`] + 1 memories.
///
/// # Errors
/// Returns the store's error.
pub async fn find_memory(store: &dyn Store, id: &str) -> Result<Lookup<Task>, StoreError> {
    if let Some(task) = store.task(&TaskId::new(id)).await? {
        return Ok(Lookup::Found(task));
    }
    if id.is_empty() {
        return Ok(Lookup::NotFound);
    }
    let ids = store.ids_like(id, MAX_MATCHES as u32 + 1).await?;
    Ok(store.memories(&ids).await?.into())
}

/// What a memory is about, in one line.
pub fn title(task: &Task) -> &str {
    task.goal.as_deref().unwrap_or(&task.original_query)
}

/// These memories, as far as they are there.
///
/// # Errors
/// Returns the store's error.
pub async fn memory_refs(store: &dyn Store, ids: &[TaskId]) -> Result<Vec<MemoryRefView>, StoreError> {
    let tasks = store.memories(ids).await?;
    Ok(tasks
        .iter()
        .map(|task| MemoryRefView {
            id: task.id.to_string(),
            goal: title(task).to_owned(),
        })
        .collect())
}

/// What replaces a memory, what replaces that, and so on. A chain that somebody closed by hand ends where it began.
///
/// # Errors
/// Returns the store's error.
pub async fn replacements(store: &dyn Store, id: &TaskId) -> Result<Vec<TaskId>, StoreError> {
    let mut chain = Vec::new();
    let mut seen = HashSet::from([id.clone()]);
    let mut next = store.task(id).await?.and_then(|task| task.superseded_by);
    while let Some(id) = next.filter(|id| seen.insert(id.clone())) {
        next = store.task(&id).await?.and_then(|task| task.superseded_by);
        chain.push(id);
    }
    Ok(chain)
}

/// What a memory replaces, what that replaced, and so on, the nearest first.
///
/// # Errors
/// Returns the store's error.
pub async fn replaced_memories(store: &dyn Store, id: &TaskId) -> Result<Vec<TaskId>, StoreError> {
    let mut found: Vec<TaskId> = Vec::new();
    let mut seen = HashSet::from([id.clone()]);
    let mut looked_at = 0;
    let mut current = id.clone();
    loop {
        for id in store.replaced_by(&current).await? {
            if seen.insert(id.clone()) {
                found.push(id);
            }
        }
        let Some(next) = found.get(looked_at) else {
            return Ok(found);
        };
        current = next.clone();
        looked_at += 1;
    }
}
