//! Finds memories by their id, or a prefix or suffix of it.

use crate::failure::Failure;
use crate::table::{one_line, truncated};
use grov_domain::{StoreConnection, Task};
use grov_query::{Lookup, find_memory, title};

/// Maximum characters of a candidate's goal.
const MAX_GOAL: usize = 60;

/// Finds a memory by its id, or a unique prefix or suffix of it.
///
/// # Errors
/// A negative result if there is none, bad usage if there are several.
pub(super) async fn find(store: &dyn StoreConnection, name: &str) -> Result<Task, Failure> {
    match find_memory(store, name).await? {
        Lookup::Found(task) => Ok(task),
        Lookup::NotFound => Err(unknown(name)),
        Lookup::Ambiguous(tasks) => Err(ambiguous(name, &tasks)),
    }
}

pub(super) fn unknown(name: &str) -> Failure {
    Failure::negative("unknown_memory", format!("no memory {:?}", one_line(name)))
        .hint("`grov memory list` lists the memories of this project")
}

pub(super) fn ambiguous(name: &str, tasks: &[Task]) -> Failure {
    let listed = tasks.iter().map(|task| {
        let goal = truncated(&one_line(title(task)), MAX_GOAL);
        format!("{}  {goal}", one_line(task.id.as_str()))
    });
    Failure::ambiguous(name, "memories", listed)
}
