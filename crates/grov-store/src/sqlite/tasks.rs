//! Finished tasks.

use super::memory;
use super::rows::{Insert, Values, portions};
use super::values::{Columns, list, list_value, millis};
use super::{SqliteStore, StoreError};
use crate::door;
use async_trait::async_trait;
use grov_domain::{
    ClientSessionId, ProjectStatus, Redacted, SessionId, Task, TaskId, TaskStatus, TaskStore, TriggerReason,
};
use sqlx::sqlite::{Sqlite, SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Row};

#[async_trait]
impl TaskStore for SqliteStore {
    async fn save_task(&self, task: &Redacted<Task>) -> Result<(), StoreError> {
        let fault = |error| self.error(error);
        let mut writer = self.writer().await?;
        save(writer.connection()?, task).await.map_err(fault)?;
        writer.commit().await.map_err(fault)
    }

    async fn task(&self, id: &TaskId) -> Result<Option<Task>, StoreError> {
        let mut query = QueryBuilder::new("SELECT * FROM tasks WHERE id = ");
        query.push_bind(id.as_str());
        Ok(self.task_rows(query).await?.pop())
    }

    async fn tasks_for_project(&self, project_path: &str, limit: u32) -> Result<Vec<Task>, StoreError> {
        let mut query = QueryBuilder::new("SELECT * FROM tasks WHERE project_path = ");
        query
            .push_bind(project_path)
            .push(" ORDER BY created_at DESC, id DESC LIMIT ")
            .push_bind(limit);
        self.task_rows(query).await
    }

    async fn tasks_by_files(
        &self,
        project_path: &str,
        files: &[String],
        limit: u32,
    ) -> Result<Vec<Task>, StoreError> {
        // The order of the join is ours: few tasks touched these files, and the project may have very many.
        let mut query = QueryBuilder::new(
            "SELECT t.* FROM (SELECT DISTINCT task_id FROM task_files WHERE path IN (SELECT value FROM json_each(",
        );
        query
            .push_bind(list(&door::list(files))?)
            .push("))) touched CROSS JOIN tasks t ON t.id = touched.task_id WHERE t.project_path = ")
            .push_bind(project_path)
            .push(" ORDER BY t.created_at DESC, t.id DESC LIMIT ")
            .push_bind(limit);
        self.task_rows(query).await
    }

    async fn project_status(&self, project_path: &str) -> Result<ProjectStatus, StoreError> {
        let counts = sqlx::query(
            "SELECT (SELECT count(*) FROM tasks WHERE project_path = ?1) AS tasks, \
             (SELECT count(*) FROM session_states WHERE project_path = ?1) AS sessions, \
             (SELECT count(*) FROM steps st JOIN session_states s ON s.session_id = st.session_id \
              WHERE s.project_path = ?1) AS steps",
        );
        let rows = self.reader().await?.rows(self, counts.bind(project_path)).await?;
        let mut status = ProjectStatus::default();
        for row in &rows {
            let columns = Columns(row);
            status.tasks = columns.count("tasks")?;
            status.sessions = columns.count("sessions")?;
            status.steps = columns.count("steps")?;
        }
        if status.tasks > 0 {
            status.last_task = self.tasks_for_project(project_path, 1).await?.pop();
        }
        Ok(status)
    }
}

/// Over what is there, except that what is replaced by other knowledge stays so.
const UPSERT_TASKS: Insert = Insert {
    head: "INSERT INTO tasks (id, project_path, project_remote, user, client_session_id, session_id, original_query, goal, \
           reasoning_trace, files_touched, decisions, constraints, status, trigger_reason, linked_commit, \
           parent_session_id, parent_task_id, tags, file_pins, superseded_by, created_at)",
    columns: 21,
    tail: "ON CONFLICT (id) DO UPDATE SET \
           project_path = excluded.project_path, project_remote = excluded.project_remote, user = excluded.user, \
           client_session_id = excluded.client_session_id, session_id = excluded.session_id, \
           original_query = excluded.original_query, goal = excluded.goal, \
           reasoning_trace = excluded.reasoning_trace, files_touched = excluded.files_touched, \
           decisions = excluded.decisions, constraints = excluded.constraints, status = excluded.status, \
           trigger_reason = excluded.trigger_reason, linked_commit = excluded.linked_commit, \
           parent_session_id = excluded.parent_session_id, parent_task_id = excluded.parent_task_id, \
           tags = excluded.tags, file_pins = excluded.file_pins, \
           superseded_by = coalesce(excluded.superseded_by, superseded_by), created_at = excluded.created_at",
};

const INSERT_FILES: Insert = Insert {
    head: "INSERT OR IGNORE INTO task_files (path, task_id)",
    columns: 2,
    tail: "",
};

/// A task's row.
struct TaskRow<'a> {
    /// What takes the place of the task's own id.
    id: &'a str,
    parent: Option<&'a str>,
    task: &'a Task,
    reasoning_trace: Option<String>,
    files_touched: Option<String>,
    decisions: Option<String>,
    constraints: Option<String>,
    tags: Option<String>,
    file_pins: Option<String>,
}

impl<'a> TaskRow<'a> {
    fn new(id: &'a str, parent: Option<&'a str>, task: &'a Task) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id,
            parent,
            task,
            reasoning_trace: list_value(&task.reasoning_trace)?,
            files_touched: list_value(&task.files_touched)?,
            decisions: list_value(&task.decisions)?,
            constraints: list_value(&task.constraints)?,
            tags: list_value(&task.tags)?,
            file_pins: list_value(&task.file_pins)?,
        })
    }

    fn bind(&self, values: &mut Values) {
        let task = self.task;
        values.text(self.id);
        values.text(&task.project_path);
        values.optional(task.project_remote.as_deref());
        values.optional(task.user.as_deref());
        values.optional(task.client_session_id.as_ref().map(ClientSessionId::as_str));
        values.optional(task.session_id.as_ref().map(SessionId::as_str));
        values.text(&task.original_query);
        values.optional(task.goal.as_deref());
        values.optional(self.reasoning_trace.as_deref());
        values.optional(self.files_touched.as_deref());
        values.optional(self.decisions.as_deref());
        values.optional(self.constraints.as_deref());
        values.text(task.status.as_str());
        values.optional(task.trigger_reason.map(TriggerReason::as_str));
        values.optional(task.linked_commit.as_deref());
        values.optional(task.parent_session_id.as_ref().map(SessionId::as_str));
        values.optional(self.parent);
        values.optional(self.tags.as_deref());
        values.optional(self.file_pins.as_deref());
        values.optional(task.superseded_by.as_ref().map(TaskId::as_str));
        values.integer(millis(task.created_at));
    }
}

/// Saves tasks, which are redacted, of which none is known nor belongs to a session. The index is the caller's.
pub(super) async fn insert_tasks(
    connection: &mut SqliteConnection,
    tasks: &[&Task],
) -> Result<(), sqlx::Error> {
    let mut rows = Vec::with_capacity(tasks.len());
    for task in tasks {
        let parent = task.parent_task_id.as_ref().map(TaskId::as_str);
        rows.push(TaskRow::new(task.id.as_str(), parent, task)?);
    }
    for portion in portions(&rows) {
        let query = UPSERT_TASKS.query(portion, |values, row| row.bind(values))?;
        query.execute(&mut *connection).await?;
    }
    let files: Vec<(&str, &str)> = tasks
        .iter()
        .flat_map(|task| {
            task.files_touched
                .iter()
                .map(|file| (file.as_str(), task.id.as_str()))
        })
        .collect();
    insert_files(connection, &files).await
}

async fn insert_files(connection: &mut SqliteConnection, files: &[(&str, &str)]) -> Result<(), sqlx::Error> {
    for portion in portions(files) {
        let query = INSERT_FILES.query(portion, |values, (path, task)| {
            values.text(path);
            values.text(task);
        })?;
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

/// Saves a task, which is redacted, under the id that its session's task had, and links it with its parent and its
/// children. Whether its session had one.
pub(super) async fn replace_task(
    connection: &mut SqliteConnection,
    task: &Task,
    terms: memory::Terms,
    indexing: &mut memory::Indexing,
) -> Result<bool, sqlx::Error> {
    let client_session = task.client_session_id.as_ref().map(ClientSessionId::as_str);
    let session = task.session_id.as_ref().map(SessionId::as_str);
    let parent_session = task.parent_session_id.as_ref().map(SessionId::as_str);
    let saved = task_of(connection, client_session, session).await?;
    let id = saved.as_deref().unwrap_or(task.id.as_str());
    indexing.take_out(connection, &[id, task.id.as_str()]).await?;
    if id != task.id.as_str() {
        // One piece of work under two ids: what named the one that goes names the one that stays.
        sqlx::query(
            "UPDATE tasks SET parent_task_id = ?1 WHERE parent_task_id = ?2; \
             UPDATE tasks SET superseded_by = nullif(?1, id) WHERE superseded_by = ?2; \
             UPDATE OR REPLACE ledger_memories SET task_id = ?1 WHERE task_id = ?2; \
             UPDATE file_reasoning SET task_id = ?1 WHERE task_id = ?2; \
             DELETE FROM tasks WHERE id = ?2",
        )
        .bind(id)
        .bind(task.id.as_str())
        .execute(&mut *connection)
        .await?;
    }
    let parent = match task_of(connection, client_session, parent_session).await? {
        // Nothing serves itself.
        Some(parent) if parent != id => Some(parent),
        _ => task.parent_task_id.as_ref().map(ToString::to_string),
    };
    let row = TaskRow::new(id, parent.as_deref(), task)?;
    let query = UPSERT_TASKS.query(&[row], |values, row| row.bind(values))?;
    query.execute(&mut *connection).await?;
    if session.is_some() {
        sqlx::query(
            "UPDATE tasks SET parent_task_id = ?1 \
             WHERE client_session_id = ?2 AND parent_session_id = ?3 AND id <> ?1",
        )
        .bind(id)
        .bind(client_session)
        .bind(session)
        .execute(&mut *connection)
        .await?;
    }
    sqlx::query("DELETE FROM task_files WHERE task_id = ?")
        .bind(id)
        .execute(&mut *connection)
        .await?;
    let files: Vec<(&str, &str)> = task
        .files_touched
        .iter()
        .map(|file| (file.as_str(), id))
        .collect();
    insert_files(connection, &files).await?;
    indexing
        .add(connection, vec![memory::Entry::new(id, task, terms)])
        .await?;
    // What replaces it may be known from before.
    sqlx::query("UPDATE memory_documents SET superseded_by = (SELECT superseded_by FROM tasks WHERE id = ?1) WHERE task_id = ?1")
        .bind(id)
        .execute(connection)
        .await?;
    Ok(saved.is_some())
}

/// Saves one task, which is redacted.
pub(super) async fn save(connection: &mut SqliteConnection, task: &Task) -> Result<(), sqlx::Error> {
    let mut indexing = memory::Indexing::default();
    replace_task(connection, task, memory::Terms::of(task), &mut indexing).await?;
    indexing.finish(connection).await
}

/// The id of the finished task that a session became.
pub(super) async fn task_of(
    connection: &mut SqliteConnection,
    client_session: Option<&str>,
    session: Option<&str>,
) -> Result<Option<String>, sqlx::Error> {
    let (Some(client_session), Some(session)) = (client_session, session) else {
        return Ok(None);
    };
    sqlx::query("SELECT id FROM tasks WHERE client_session_id = ? AND session_id = ?")
        .bind(client_session)
        .bind(session)
        .fetch_optional(connection)
        .await?
        .map(|row| row.try_get(0))
        .transpose()
}

impl SqliteStore {
    async fn task_rows(&self, mut query: QueryBuilder<Sqlite>) -> Result<Vec<Task>, StoreError> {
        let rows = self.reader().await?.rows(self, query.build()).await?;
        rows.iter().map(task_of_row).collect()
    }
}

/// A task as a row of its table holds it.
pub(super) fn task_of_row(row: &SqliteRow) -> Result<Task, StoreError> {
    let columns = Columns(row);
    Ok(Task {
        id: TaskId::new(columns.get::<String>("id")?),
        project_path: columns.get("project_path")?,
        project_remote: columns.get("project_remote")?,
        user: columns.get("user")?,
        client_session_id: columns
            .get::<Option<String>>("client_session_id")?
            .map(ClientSessionId::new),
        session_id: columns.get::<Option<String>>("session_id")?.map(SessionId::new),
        original_query: columns.get("original_query")?,
        goal: columns.get("goal")?,
        reasoning_trace: columns.list("reasoning_trace")?,
        files_touched: columns.list("files_touched")?,
        decisions: columns.list("decisions")?,
        constraints: columns.list("constraints")?,
        status: columns.named("status", TaskStatus::from_name)?,
        trigger_reason: columns
            .get::<Option<&str>>("trigger_reason")?
            .and_then(TriggerReason::from_name),
        linked_commit: columns.get("linked_commit")?,
        parent_session_id: columns
            .get::<Option<String>>("parent_session_id")?
            .map(SessionId::new),
        parent_task_id: columns.get::<Option<String>>("parent_task_id")?.map(TaskId::new),
        tags: columns.list("tags")?,
        file_pins: columns.list("file_pins")?,
        superseded_by: columns.get::<Option<String>>("superseded_by")?.map(TaskId::new),
        created_at: columns.time("created_at")?,
    })
}
