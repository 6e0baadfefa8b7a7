//! Parses the task record of imports: a [`Task`] as JSON.

use grov_domain::{MemoryEdits, Project, Task, TaskId, TaskStatus};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A parsed line.
pub(super) struct Read {
    pub(super) task: Task,
    /// Whether the line has no time, so that the current time is used.
    pub(super) is_undated: bool,
    /// Unknown keys, which are not stored.
    pub(super) unknown: Vec<String>,
}

/// The fields that were not read yet.
struct Fields(Map<String, Value>);

impl Fields {
    /// Takes a field; a missing one and `null` give the default value.
    fn take<T: DeserializeOwned + Default>(&mut self, name: &str) -> Result<T, String> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(T::default()),
            Some(value) => {
                serde_json::from_value(value).map_err(|error| format!("has a bad {name}: {error}"))
            }
        }
    }
}

/// Parses one line for a project. Only the id, and a prompt or a goal, are required.
///
/// # Errors
/// The problem, as the end of a sentence that begins with the line.
pub(super) fn read(line: &[u8], project: &Project, now: OffsetDateTime) -> Result<Read, String> {
    let text = std::str::from_utf8(line)
        .map_err(|error| format!("is not UTF-8 (byte {})", error.valid_up_to() + 1))?;
    let fields = serde_json::from_str(text).map_err(|error| format!("is not a task record: {error}"))?;
    let mut fields = Fields(fields);
    let id: String = fields.take("id")?;
    let query: String = fields.take("original_query")?;
    let goal: Option<String> = fields.take("goal")?;
    let created_at: Option<String> = fields.take("created_at")?;
    if id.is_empty() {
        return Err("has no id".to_owned());
    }
    // The project is that of the import.
    fields.0.remove("project_path");
    let task = Task {
        id: TaskId::new(id),
        project_path: project.key().to_owned(),
        project_remote: fields
            .take::<Option<_>>("project_remote")?
            .or_else(|| project.remote.clone()),
        user: fields.take("user")?,
        client_session_id: fields.take("client_session_id")?,
        session_id: fields.take("session_id")?,
        original_query: match (query, &goal) {
            (query, None) if query.is_empty() => return Err("has neither original_query nor goal".to_owned()),
            (query, Some(goal)) if query.is_empty() => goal.clone(),
            (query, _) => query,
        },
        goal,
        reasoning_trace: fields.take("reasoning_trace")?,
        files_touched: fields.take("files_touched")?,
        decisions: fields.take("decisions")?,
        constraints: fields.take("constraints")?,
        status: fields
            .take::<Option<_>>("status")?
            .unwrap_or(TaskStatus::Complete),
        trigger_reason: fields.take("trigger_reason")?,
        linked_commit: fields.take("linked_commit")?,
        parent_session_id: fields.take("parent_session_id")?,
        parent_task_id: fields.take("parent_task_id")?,
        tags: fields.take("tags")?,
        file_pins: fields.take("file_pins")?,
        item: fields.take("item")?,
        superseded_by: fields.take("superseded_by")?,
        screened: None,
        model_screening: None,
        edits: MemoryEdits::default(),
        created_at: match &created_at {
            Some(time) => OffsetDateTime::parse(time, &Rfc3339)
                .map_err(|error| format!("has a bad created_at: {error}"))?,
            None => now,
        },
    };
    Ok(Read {
        task,
        is_undated: created_at.is_none(),
        unknown: fields.0.into_iter().map(|(key, _)| key).collect(),
    })
}
