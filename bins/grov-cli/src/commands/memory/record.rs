//! The task record of imports and exports.

use grov_domain::{ClientSessionId, Decision, FilePin, SessionId, Task, TaskId, TaskStatus, TriggerReason};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use time::OffsetDateTime;

/// One line of a file. A missing key and `null` are equivalent.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Record {
    id: Option<String>,
    project_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project_remote: Option<String>,
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    original_query: Option<String>,
    goal: Option<String>,
    reasoning_trace: Option<Vec<String>>,
    files_touched: Option<Vec<String>>,
    decisions: Option<Vec<Decision>>,
    constraints: Option<Vec<String>>,
    tags: Option<Vec<String>>,
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trigger_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    linked_commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_task_id: Option<String>,
    #[serde(skip_serializing_if = "none_or_empty")]
    file_pins: Option<Vec<FilePin>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
    #[serde(with = "time::serde::rfc3339::option")]
    created_at: Option<OffsetDateTime>,
    /// Unknown keys.
    #[serde(flatten, skip_serializing)]
    unknown: Map<String, Value>,
}

fn none_or_empty(pins: &Option<Vec<FilePin>>) -> bool {
    pins.as_ref().is_none_or(Vec::is_empty)
}

/// A parsed line.
pub(super) struct Read {
    pub(super) task: Task,
    /// Whether the line has no time, so that the current time is used.
    pub(super) is_undated: bool,
    /// Unknown keys, which are not stored.
    pub(super) unknown: Vec<String>,
}

/// Parses one line for a project.
///
/// # Errors
/// The problem, as the end of a sentence that begins with the line.
pub(super) fn read(line: &[u8], project: &grov_domain::Project, now: OffsetDateTime) -> Result<Read, String> {
    let text = std::str::from_utf8(line)
        .map_err(|error| format!("is not UTF-8 (byte {})", error.valid_up_to() + 1))?;
    let record: Record =
        serde_json::from_str(text).map_err(|error| format!("is not a task record: {error}"))?;
    let id = record.id.filter(|id| !id.is_empty()).ok_or("has no id")?;
    let original_query = match (record.original_query, &record.goal) {
        (Some(query), _) if !query.is_empty() => query,
        (_, Some(goal)) => goal.clone(),
        _ => return Err("has neither original_query nor goal".to_owned()),
    };
    let status = match record.status.as_deref() {
        None => TaskStatus::Complete,
        Some(name) => TaskStatus::from_name(name)
            .ok_or_else(|| format!("has status {name:?}; known are complete, partial, abandoned"))?,
    };
    let trigger_reason = match record.trigger_reason.as_deref() {
        None => None,
        Some(name) => Some(TriggerReason::from_name(name).ok_or_else(|| {
            format!("has trigger_reason {name:?}; known are complete, threshold, abandoned")
        })?),
    };
    Ok(Read {
        is_undated: record.created_at.is_none(),
        task: Task {
            id: TaskId::new(id),
            project_path: project.key().to_owned(),
            project_remote: record.project_remote.or_else(|| project.remote.clone()),
            user: record.user,
            client_session_id: record.client_session_id.map(ClientSessionId::new),
            session_id: record.session_id.map(SessionId::new),
            original_query,
            goal: record.goal,
            reasoning_trace: record.reasoning_trace.unwrap_or_default(),
            files_touched: record.files_touched.unwrap_or_default(),
            decisions: record.decisions.unwrap_or_default(),
            constraints: record.constraints.unwrap_or_default(),
            status,
            trigger_reason,
            linked_commit: record.linked_commit,
            parent_session_id: record.parent_session_id.map(SessionId::new),
            parent_task_id: record.parent_task_id.map(TaskId::new),
            tags: record.tags.unwrap_or_default(),
            file_pins: record.file_pins.unwrap_or_default(),
            superseded_by: record.superseded_by.map(TaskId::new),
            created_at: record.created_at.unwrap_or(now),
        },
        unknown: record.unknown.into_iter().map(|(key, _)| key).collect(),
    })
}

impl From<Task> for Record {
    fn from(task: Task) -> Self {
        Self {
            id: Some(task.id.to_string()),
            project_path: Some(task.project_path),
            project_remote: task.project_remote,
            user: task.user,
            client_session_id: task.client_session_id.map(|id| id.to_string()),
            session_id: task.session_id.map(|id| id.to_string()),
            original_query: Some(task.original_query),
            goal: task.goal,
            reasoning_trace: Some(task.reasoning_trace),
            files_touched: Some(task.files_touched),
            decisions: Some(task.decisions),
            constraints: Some(task.constraints),
            tags: Some(task.tags),
            status: Some(task.status.as_str().to_owned()),
            trigger_reason: task.trigger_reason.map(|reason| reason.as_str().to_owned()),
            linked_commit: task.linked_commit,
            parent_session_id: task.parent_session_id.map(|id| id.to_string()),
            parent_task_id: task.parent_task_id.map(|id| id.to_string()),
            file_pins: Some(task.file_pins),
            superseded_by: task.superseded_by.map(|id| id.to_string()),
            created_at: Some(task.created_at),
            unknown: Map::new(),
        }
    }
}
