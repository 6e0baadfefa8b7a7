//! Memories as people and agents name them: by their id, or by a beginning or end of it.

use crate::assembly::CommandStore;
use crate::failure::Failure;
use crate::table::{harmless, shortened};
use grov_domain::Task;
use grov_query::{Lookup, MAX_MATCHES, find_memory, title};

/// Characters of a candidate's goal.
const GOAL: usize = 60;

/// The task that `name` stands for.
///
/// # Errors
/// A negative result when there is none, bad usage when there are several.
pub(super) async fn one(store: &dyn CommandStore, name: &str) -> Result<Task, Failure> {
    match find_memory(store, name).await? {
        Lookup::Found(task) => Ok(task),
        Lookup::NotFound => Err(unknown(name)),
        Lookup::Ambiguous(tasks) => Err(ambiguous(name, &tasks)),
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
    for task in tasks.iter().take(MAX_MATCHES) {
        let goal = shortened(&harmless(title(task)), GOAL);
        message.push_str(&format!("\n  {}  {goal}", harmless(task.id.as_str())));
    }
    if tasks.len() > MAX_MATCHES {
        message.push_str("\n  …");
    }
    Failure::usage(message)
}
