//! Shared by tests.

use super::{CurrentTasks, TaskOrchestrator};
use grov_domain::{ClientSessionId, SessionId};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Returns an orchestrator without worker. Client session `s1` has this current task, or none.
pub(crate) fn orchestrator_with_task(task: Option<&str>) -> TaskOrchestrator {
    let current_tasks = Arc::new(CurrentTasks::default());
    if let Some(task) = task {
        current_tasks.set(&ClientSessionId::new("s1"), SessionId::new(task));
    }
    let (inbox, _) = mpsc::channel(1);
    TaskOrchestrator { inbox, current_tasks }
}
