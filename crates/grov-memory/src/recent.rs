//! The memories that a prompt without a subject refers to: those of the open files, or else the newest one.

use crate::{Freshness, Recalled};
use grov_domain::{ClientSessionId, StoreError, Task, TaskStatus, TaskStore};

/// Memories considered.
const CANDIDATES: u32 = 24;
/// Maximum number of memories of open files.
const MAX_OF_FILES: usize = 2;

/// The newest memories of a project that touched these files, at most two; without any, the newest memory. Files are paths
/// in the project, as memories name them. Memories of the session `except` are left out.
///
/// # Errors
/// Those of the store.
pub async fn recent<S: TaskStore + ?Sized>(
    store: &S,
    project: &str,
    files: &[String],
    except: &ClientSessionId,
) -> Result<Vec<Recalled>, StoreError> {
    let is_relevant = |task: &Task| is_worth_reading(task) && task.client_session_id.as_ref() != Some(except);
    let mut tasks = Vec::new();
    if !files.is_empty() {
        tasks = store.tasks_by_files(project, files, CANDIDATES).await?;
        tasks.retain(is_relevant);
        tasks.truncate(MAX_OF_FILES);
    }
    if tasks.is_empty() {
        tasks = store.tasks_for_project(project, CANDIDATES).await?;
        tasks.retain(is_relevant);
        tasks.truncate(1);
    }
    let recalled = tasks.into_iter().map(|task| Recalled {
        task,
        score: 1.0,
        freshness: Freshness::Unknown,
    });
    Ok(recalled.collect())
}

/// Whether a memory has content, was finished, and is not replaced.
pub fn is_worth_reading(task: &Task) -> bool {
    let has_content = !task.decisions.is_empty() || !task.reasoning_trace.is_empty();
    has_content && task.superseded_by.is_none() && task.status != TaskStatus::Abandoned
}
