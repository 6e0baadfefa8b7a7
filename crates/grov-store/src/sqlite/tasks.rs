//! Finished tasks.

use super::columns::{Record, RowExt, params, record};
use super::connection::Connection;
use super::insert::insert;
use super::{SqliteStore, StoreError, memory};
use crate::stored_form::as_stored_each;
use async_trait::async_trait;
use grov_domain::{
    ClientSessionId, MemoryEdits, ProjectStatus, Redacted, SessionId, Task, TaskId, TaskStore,
};

record! {
    Task in "tasks", key (id);
    project_path, project_remote, user, client_session_id, session_id, original_query, goal, reasoning_trace,
    files_touched, decisions, constraints, status, trigger_reason, linked_commit, parent_session_id, parent_task_id,
    tags, file_pins,
    superseded_by = "coalesce(excluded.superseded_by, superseded_by)",
    item, screened,
    model_screening = "model_screening",
    edits = "coalesce(excluded.edits, edits)",
    created_at
}

#[async_trait]
impl TaskStore for SqliteStore {
    async fn save_task(&self, task: &Redacted<Task>) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        save_task(&mut transaction, task).await?;
        transaction.commit().await
    }

    async fn task(&self, id: &TaskId) -> Result<Option<Task>, StoreError> {
        let sql = "SELECT * FROM tasks WHERE id = ?";
        Ok(self.read(sql, params![id], Task::from_row).await?.pop())
    }

    async fn tasks_of_session(&self, client_session: &ClientSessionId) -> Result<Vec<Task>, StoreError> {
        let sql = "SELECT * FROM tasks WHERE client_session_id = ? ORDER BY created_at DESC, id DESC";
        self.read(sql, params![client_session], Task::from_row).await
    }

    async fn tasks_for_project(&self, project_path: &str, limit: u32) -> Result<Vec<Task>, StoreError> {
        let sql = "SELECT * FROM tasks WHERE project_path = ? ORDER BY created_at DESC, id DESC LIMIT ?";
        self.read(sql, params![project_path, limit], Task::from_row).await
    }

    async fn tasks_by_files(
        &self,
        project_path: &str,
        files: &[String],
        limit: u32,
    ) -> Result<Vec<Task>, StoreError> {
        // The join order is fixed: few tasks touched these files, but the project may have many.
        let sql = "SELECT t.* FROM \
             (SELECT DISTINCT task_id FROM task_files WHERE path IN (SELECT value FROM json_each(?))) touched \
             CROSS JOIN tasks t ON t.id = touched.task_id WHERE t.project_path = ? \
             ORDER BY t.created_at DESC, t.id DESC LIMIT ?";
        self.read(
            sql,
            params![as_stored_each(files), project_path, limit],
            Task::from_row,
        )
        .await
    }

    async fn project_status(&self, project_path: &str) -> Result<ProjectStatus, StoreError> {
        let sql = "SELECT (SELECT count(*) FROM tasks WHERE project_path = ?1) AS tasks, \
             (SELECT count(*) FROM session_states WHERE project_path = ?1) AS sessions, \
             (SELECT count(*) FROM steps st JOIN session_states s ON s.session_id = st.session_id \
              WHERE s.project_path = ?1) AS steps";
        let mut status = ProjectStatus::default();
        for row in self.rows(sql, params![project_path]).await? {
            status.tasks = row.read("tasks")?;
            status.sessions = row.read("sessions")?;
            status.steps = row.read("steps")?;
        }
        if status.tasks > 0 {
            status.last_task = self.tasks_for_project(project_path, 1).await?.pop();
        }
        Ok(status)
    }
}

insert! {
    INSERT_FILES, bind_file((path, task) in (&str, &str)):
    "INSERT OR IGNORE INTO task_files", "";
    ; path: *path, task_id: *task
}

/// Saves new, redacted tasks without sessions. The caller updates the index.
pub(super) async fn insert_tasks(connection: &mut Connection<'_>, tasks: &[&Task]) -> Result<(), StoreError> {
    connection
        .insert(&Task::UPSERT, tasks, |values, task| task.bind(values))
        .await?;
    let files: Vec<(&str, &str)> = tasks
        .iter()
        .flat_map(|task| {
            task.files_touched
                .iter()
                .map(|file| (file.as_str(), task.id.as_str()))
        })
        .collect();
    connection
        .insert(&INSERT_FILES, &files, bind_file)
        .await
        .map(drop)
}

/// Saves a redacted task under the id of its session's existing task, if any, and links it with its parent and
/// children. Returns whether there was an existing task.
pub(super) async fn replace_task(
    connection: &mut Connection<'_>,
    task: &Task,
    terms: memory::Terms,
    indexing: &mut memory::Indexing,
) -> Result<bool, StoreError> {
    let client_session = task.client_session_id.as_ref().map(ClientSessionId::as_str);
    let session = task.session_id.as_ref().map(SessionId::as_str);
    let parent_session = task.parent_session_id.as_ref().map(SessionId::as_str);
    let saved = task_of_session(connection, client_session, session).await?;
    let id = saved.as_deref().unwrap_or(task.id.as_str());
    indexing.remove_tasks(connection, &[id, task.id.as_str()]).await?;
    if id != task.id.as_str() {
        // The same work under two ids: references to the removed id now refer to the kept one.
        connection
            .execute(
                "UPDATE tasks SET parent_task_id = ?1 WHERE parent_task_id = ?2; \
             UPDATE tasks SET superseded_by = nullif(?1, id) WHERE superseded_by = ?2; \
             UPDATE OR REPLACE ledger_memories SET task_id = ?1 WHERE task_id = ?2; \
             UPDATE file_reasoning SET task_id = ?1 WHERE task_id = ?2; \
             DELETE FROM tasks WHERE id = ?2",
                params![id, task.id],
            )
            .await?;
    }
    let parent = match task_of_session(connection, client_session, parent_session).await? {
        // A task is not its own parent.
        Some(parent) if parent != id => Some(parent),
        _ => task.parent_task_id.as_ref().map(ToString::to_string),
    };
    let stored = Task {
        id: TaskId::new(id),
        parent_task_id: parent.map(TaskId::new),
        ..task.clone()
    };
    connection.upsert(&stored).await?;
    if session.is_some() {
        connection
            .execute(
                "UPDATE tasks SET parent_task_id = ?1 \
             WHERE client_session_id = ?2 AND parent_session_id = ?3 AND id <> ?1",
                params![id, client_session, session],
            )
            .await?;
    }
    connection
        .execute("DELETE FROM task_files WHERE task_id = ?", params![id])
        .await?;
    let files: Vec<(&str, &str)> = task
        .files_touched
        .iter()
        .map(|file| (file.as_str(), id))
        .collect();
    connection.insert(&INSERT_FILES, &files, bind_file).await?;
    indexing
        .add(connection, vec![memory::Entry::new(id, task, terms)])
        .await?;
    // The task may have been superseded before.
    connection.execute("UPDATE memory_documents SET superseded_by = (SELECT superseded_by FROM tasks WHERE id = ?1) WHERE task_id = ?1", params![id])
        .await?;
    Ok(saved.is_some())
}

/// Saves one redacted task.
pub(super) async fn save_task(connection: &mut Connection<'_>, task: &Task) -> Result<(), StoreError> {
    let edits = edits_of(connection, task).await?;
    // Of an edited memory, the text that was screened is not the one that is stored. It is screened again in the background.
    let edited = (!edits.is_empty()).then(|| edits.applied(task.clone()));
    let task = edited.as_ref().unwrap_or(task);
    let mut indexing = memory::Indexing::default();
    replace_task(connection, task, memory::Terms::of(task), &mut indexing).await?;
    indexing.finish(connection).await
}

/// Returns what a person changed in the stored task that this one replaces.
async fn edits_of(connection: &mut Connection<'_>, task: &Task) -> Result<MemoryEdits, StoreError> {
    let sql = "SELECT edits FROM tasks WHERE edits IS NOT NULL AND (id = ?1 OR client_session_id = ?2 AND session_id = ?3)";
    let values = params![task.id, task.client_session_id, task.session_id];
    Ok(connection.value(sql, values).await?.unwrap_or_default())
}

/// Whether a task is stored.
pub(super) async fn task_exists(connection: &mut Connection<'_>, id: &str) -> Result<bool, StoreError> {
    let found: Option<i64> = connection
        .value("SELECT 1 FROM tasks WHERE id = ?", params![id])
        .await?;
    Ok(found.is_some())
}

/// Returns the id of the finished task of a session.
pub(super) async fn task_of_session(
    connection: &mut Connection<'_>,
    client_session: Option<&str>,
    session: Option<&str>,
) -> Result<Option<String>, StoreError> {
    let (Some(client_session), Some(session)) = (client_session, session) else {
        return Ok(None);
    };
    let sql = "SELECT id FROM tasks WHERE client_session_id = ? AND session_id = ?";
    connection.value(sql, params![client_session, session]).await
}
