//! Memories as people and agents ask for them.

use crate::ReadStore;
use grov_domain::{StoreError, Task, TaskId};
use grov_memory::Found;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use time::OffsetDateTime;

/// Memories that are listed where a name means several.
pub const MOST_NAMED: usize = 8;

/// What the name of a memory stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Named {
    /// One memory.
    Task(Box<Task>),
    /// No memory.
    Nothing,
    /// Some of those that it may stand for, one more than are listed at most.
    Several(Vec<Task>),
}

/// Another memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OtherView {
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
    pub fn saying(self, task: Option<Task>) -> Self {
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

/// The memory that `name` stands for: by its id, or by a beginning or end of it.
///
/// # Errors
/// Those of the store.
pub async fn named(store: &dyn ReadStore, name: &str) -> Result<Named, StoreError> {
    if let Some(task) = store.task(&TaskId::new(name)).await? {
        return Ok(Named::Task(Box::new(task)));
    }
    if name.is_empty() {
        return Ok(Named::Nothing);
    }
    let ids = store.ids_like(name, MOST_NAMED as u32 + 1).await?;
    let mut tasks = store.memories(&ids).await?;
    Ok(match tasks.len() {
        0 => Named::Nothing,
        1 => tasks
            .pop()
            .map_or(Named::Nothing, |task| Named::Task(Box::new(task))),
        _ => Named::Several(tasks),
    })
}

/// What a memory is about, in one line.
pub fn title(task: &Task) -> &str {
    task.goal.as_deref().unwrap_or(&task.original_query)
}

/// These memories, as far as they are there.
///
/// # Errors
/// Those of the store.
pub async fn others(store: &dyn ReadStore, ids: &[TaskId]) -> Result<Vec<OtherView>, StoreError> {
    let tasks = store.memories(ids).await?;
    Ok(tasks
        .iter()
        .map(|task| OtherView {
            id: task.id.to_string(),
            goal: title(task).to_owned(),
        })
        .collect())
}

/// What replaces a memory, what replaces that, and so on. A chain that somebody closed by hand ends where it began.
///
/// # Errors
/// Those of the store.
pub async fn replacements(store: &dyn ReadStore, id: &TaskId) -> Result<Vec<TaskId>, StoreError> {
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
/// Those of the store.
pub async fn replaced(store: &dyn ReadStore, id: &TaskId) -> Result<Vec<TaskId>, StoreError> {
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
