//! What the tests of this module share.

use super::{TaskBoard, TaskOrchestrator};
use grov_domain::{ClientSessionId, SessionId, SessionState, TaskType};
use std::sync::Arc;
use time::OffsetDateTime;
use tokio::sync::mpsc;

/// Knows that client session `s1` is in this task, or nothing, and does nothing with what it is told.
pub(crate) fn idle_in(task: Option<&str>) -> TaskOrchestrator {
    let board = Arc::new(TaskBoard::default());
    if let Some(task) = task {
        board.set(&ClientSessionId::new("s1"), SessionId::new(task));
    }
    let (inbox, _) = mpsc::channel(1);
    TaskOrchestrator { inbox, board }
}

/// An open task of client session `s1`.
pub(super) fn task(id: &str, parent: Option<&str>) -> SessionState {
    let client = ClientSessionId::new("s1");
    SessionState {
        parent_session_id: parent.map(SessionId::new),
        task_type: if parent.is_some() {
            TaskType::Subtask
        } else {
            TaskType::Main
        },
        working_directory: Some("/p".to_owned()),
        original_goal: Some(format!("goal of {id}")),
        ..SessionState::begun(client, SessionId::new(id), "/p", OffsetDateTime::UNIX_EPOCH)
    }
}
