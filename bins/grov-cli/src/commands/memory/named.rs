//! Memories as people and agents name them: by their id, or by a beginning or end of it.

use crate::assembly::CommandStore;
use crate::failure::Failure;
use crate::table::{harmless, shortened};
use grov_domain::{StoreError, Task, TaskId};

/// Candidates that are listed.
const MOST: usize = 8;
/// Characters of a candidate's goal.
const GOAL: usize = 60;

/// What a name stands for.
pub(super) enum Named {
    Task(Box<Task>),
    Nothing,
    /// Some of those that it may stand for.
    Several(Vec<Task>),
}

/// What `name` stands for.
pub(super) async fn named(store: &dyn CommandStore, name: &str) -> Result<Named, StoreError> {
    if let Some(task) = store.task(&TaskId::new(name)).await? {
        return Ok(Named::Task(Box::new(task)));
    }
    if name.is_empty() {
        return Ok(Named::Nothing);
    }
    let ids = store.ids_like(name, MOST as u32 + 1).await?;
    let mut tasks = store.memories(&ids).await?;
    Ok(match tasks.len() {
        0 => Named::Nothing,
        1 => tasks
            .pop()
            .map_or(Named::Nothing, |task| Named::Task(Box::new(task))),
        _ => Named::Several(tasks),
    })
}

/// The task that `name` stands for.
///
/// # Errors
/// A negative result when there is none, bad usage when there are several.
pub(super) async fn one(store: &dyn CommandStore, name: &str) -> Result<Task, Failure> {
    match named(store, name).await? {
        Named::Task(task) => Ok(*task),
        Named::Nothing => Err(unknown(name)),
        Named::Several(tasks) => Err(ambiguous(name, &tasks)),
    }
}

pub(super) fn unknown(name: &str) -> Failure {
    Failure::negative(
        "unknown_memory",
        format!("there is no memory {:?}", harmless(name)),
        Some("`grov memory list` lists those of this project"),
    )
}

pub(super) fn ambiguous(name: &str, tasks: &[Task]) -> Failure {
    let mut message = format!("more than one memory is meant by {:?}:", harmless(name));
    for task in tasks.iter().take(MOST) {
        let goal = shortened(&harmless(title(task)), GOAL);
        message.push_str(&format!("\n  {}  {goal}", harmless(task.id.as_str())));
    }
    if tasks.len() > MOST {
        message.push_str("\n  …");
    }
    Failure::usage(message)
}

/// What a memory is about, in one line.
pub(super) fn title(task: &Task) -> &str {
    task.goal.as_deref().unwrap_or(&task.original_query)
}
