//! The memories among which a model chooses for a prompt, when words find none.

use crate::recent::is_finished;
use crate::suspicion::is_withheld;
use crate::{Query, Ranking, recall};
use grov_domain::{ClientSessionId, MemorySearch, StoreError, Task, TaskStore, beginning_of};
use std::fmt::Write;

/// Memories offered to a model: about 3,000 tokens of input.
const MAX_OFFERED: usize = 50;
/// Of these, the ones that share words with the prompt, however few.
const MAX_NEAR: usize = 25;
/// Maximum number of decisions and of files in a line.
const MAX_POINTS: usize = 2;
const MAX_FILES: usize = 2;
/// Maximum characters of a goal, and of a choice or a reason.
const MAX_GOAL: usize = 100;
const MAX_POINT: usize = 60;

/// Returns the memories of a project that a model may choose among: those that share a word with the prompt, then the newest.
/// Memories of the session `except`, those without content and those that instruct the agent are left out.
///
/// # Errors
/// Those of the store.
pub async fn offered<S: MemorySearch + TaskStore + ?Sized>(
    store: &S,
    query: &Query,
    except: &ClientSessionId,
) -> Result<Vec<Task>, StoreError> {
    let near = Query {
        limit: MAX_NEAR,
        ..query.clone()
    };
    let near = recall(store, &near, &Ranking::default(), Some(except)).await?;
    let most = u32::try_from(MAX_OFFERED).unwrap_or(u32::MAX);
    let newest = store.tasks_for_project(&query.scope.project_path, most).await?;
    let mut tasks: Vec<Task> = Vec::new();
    for task in near.into_iter().map(|near| near.task).chain(newest) {
        let is_new = !tasks.iter().any(|known| known.id == task.id);
        let is_own = task.client_session_id.as_ref() == Some(except);
        if tasks.len() < MAX_OFFERED && is_new && !is_own && is_finished(&task) && !is_withheld(&task) {
            tasks.push(task);
        }
    }
    Ok(tasks)
}

/// Describes a memory in one line for the question: the goal, its first decisions with their reasons, its files. Each part is
/// bounded, so that none is lost when the line is.
pub fn choice_line(task: &Task) -> String {
    let mut line = beginning_of(task.goal.as_ref().unwrap_or(&task.original_query), MAX_GOAL).to_owned();
    for decision in task.decisions.iter().take(MAX_POINTS) {
        let choice = beginning_of(&decision.choice, MAX_POINT);
        let reason = beginning_of(&decision.reason, MAX_POINT);
        let _ = write!(line, " / {choice} ({reason})");
    }
    if task.decisions.is_empty() {
        for finding in task.reasoning_trace.iter().take(1) {
            let _ = write!(line, " / {}", beginning_of(finding, MAX_POINT));
        }
    }
    let files = task.files_touched.iter().take(MAX_FILES);
    let names: Vec<&str> = files
        .map(|file| file.rsplit('/').next().unwrap_or(file))
        .collect();
    if !names.is_empty() {
        let _ = write!(line, " [{}]", names.join(", "));
    }
    line
}
