//! Looks up memories and follows their links.

use crate::Lookup;
use crate::memory_match::snippet;
use grov_domain::{InboxItem, MemoryItemId, Store, StoreError, Task, TaskId};
use grov_memory::Found;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use time::OffsetDateTime;

/// The maximum number of memories listed for an ambiguous id.
pub const MAX_MATCHES: usize = 8;

/// A reference to a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryRefView {
    /// Its id.
    pub id: String,
    /// Its goal.
    pub goal: String,
}

/// A search result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResultView {
    /// The id of the memory.
    pub id: String,
    /// The relevance score.
    pub score: f64,
    /// The parts of the score by signal, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<BTreeMap<&'static str, f64>>,
    /// Its goal, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// The part of it, beside the goal, that fits the query best; empty if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
    /// The time at which it was saved, if requested.
    #[serde(
        skip_serializing_if = "Option::is_none",
        with = "time::serde::rfc3339::option"
    )]
    pub created_at: Option<OffsetDateTime>,
    /// The memory that replaced it, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
}

impl ResultView {
    /// Converts a result. `why` adds the parts of the score.
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
            goal: None,
            snippet: None,
            created_at: None,
            superseded_by: None,
        }
    }

    /// Adds the goal and time of the memory, the part that fits a query, and what replaced it.
    #[must_use]
    pub fn with_task(self, task: Option<Task>, query: &str) -> Self {
        Self {
            created_at: task.as_ref().map(|task| task.created_at),
            snippet: task.as_ref().map(|task| snippet(task, query)),
            superseded_by: task
                .as_ref()
                .and_then(|task| task.superseded_by.as_ref().map(ToString::to_string)),
            goal: task.map(|task| task.goal.unwrap_or(task.original_query)),
            ..self
        }
    }
}

/// Rounds to 6 digits; more are not significant.
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

/// Finds a memory item by its id, or a unique prefix or suffix of it.
///
/// # Errors
/// Returns the store's error.
pub async fn find_item(store: &dyn Store, id: &str) -> Result<Lookup<InboxItem>, StoreError> {
    if id.is_empty() {
        return Ok(Lookup::NotFound);
    }
    let mut items = Vec::new();
    for id in store
        .item_ids_like(&id.to_ascii_lowercase(), MAX_MATCHES as u32 + 1)
        .await?
    {
        items.extend(store.item(id).await?);
    }
    Ok(items.into())
}

/// The last eight characters of an item's id, with which it is found.
pub fn short_item_id(id: MemoryItemId) -> String {
    let id = id.to_string();
    id[id.len().saturating_sub(8)..].to_owned()
}

/// The title of a memory: its goal, or else its original query.
pub fn title(task: &Task) -> &str {
    task.goal.as_deref().unwrap_or(&task.original_query)
}

/// Returns references to the memories that exist.
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

/// Returns the replacement of a memory, its replacement, and so on. A cyclic chain ends before its first memory.
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

/// Returns the memories that a memory replaces, directly and indirectly, nearest first.
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
