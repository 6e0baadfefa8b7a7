//! What the tests of this module share.

use super::{TaskBoard, TaskOrchestrator};
use grov_domain::{ClientSessionId, SessionId};
use std::sync::Arc;
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
