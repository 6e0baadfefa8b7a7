//! What the tests of this module share.

use super::{TaskBoard, TaskOrchestrator};
use grov_domain::{ClientSessionId, SessionId, SessionMode, SessionState, SessionStatus, TaskType};
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
    SessionState {
        session_id: SessionId::new(id),
        client_session_id: ClientSessionId::new("s1"),
        parent_session_id: parent.map(SessionId::new),
        task_type: if parent.is_some() {
            TaskType::Subtask
        } else {
            TaskType::Main
        },
        user_id: None,
        project_path: "/p".to_owned(),
        working_directory: Some("/p".to_owned()),
        head_at_start: None,
        original_goal: Some(format!("goal of {id}")),
        expected_scope: Vec::new(),
        constraints: Vec::new(),
        keywords: Vec::new(),
        token_count: 0,
        escalation_count: 0,
        session_mode: SessionMode::Normal,
        waiting_for_recovery: false,
        last_checked_at: 0,
        last_clear_at: None,
        judged_at: None,
        start_time: OffsetDateTime::UNIX_EPOCH,
        last_update: OffsetDateTime::UNIX_EPOCH,
        status: SessionStatus::Active,
    }
}
