//! Finished tasks.

use super::values::{Columns, list, millis};
use super::{SqliteStore, StoreError};
use crate::door;
use async_trait::async_trait;
use grov_domain::{
    ClientSessionId, ProjectStatus, SessionId, Task, TaskId, TaskStatus, TaskStore, TriggerReason,
};
use sqlx::QueryBuilder;
use sqlx::sqlite::{Sqlite, SqliteRow};

#[async_trait]
impl TaskStore for SqliteStore {
    async fn save_task(&self, task: &Task) -> Result<(), StoreError> {
        let fault = |error| self.error(error);
        let mut writer = self.writer().await?;
        let connection = writer.connection()?;
        // The row that stands for the same work under another id goes, and what named it names the new one.
        let doubles =
            sqlx::query("SELECT id FROM tasks WHERE client_session_id = ? AND session_id = ? AND id <> ?")
                .bind(task.client_session_id.as_ref().map(ClientSessionId::as_str))
                .bind(task.session_id.as_ref().map(SessionId::as_str))
                .bind(task.id.as_str())
                .fetch_all(&mut *connection)
                .await
                .map_err(fault)?;
        for row in &doubles {
            sqlx::query(
                "UPDATE tasks SET parent_task_id = ?1 WHERE parent_task_id = ?2; \
                 UPDATE file_reasoning SET task_id = ?1 WHERE task_id = ?2; \
                 DELETE FROM tasks WHERE id = ?2",
            )
            .bind(task.id.as_str())
            .bind(Columns(row).get::<&str>("id")?)
            .execute(&mut *connection)
            .await
            .map_err(fault)?;
        }
        let files = door::list(&task.files_touched);
        sqlx::query(
            "INSERT INTO tasks (id, project_path, project_remote, user, client_session_id, session_id, original_query, \
             goal, reasoning_trace, files_touched, decisions, constraints, status, trigger_reason, linked_commit, \
             parent_task_id, tags, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
             ON CONFLICT (id) DO UPDATE SET \
             project_path = excluded.project_path, project_remote = excluded.project_remote, user = excluded.user, \
             client_session_id = excluded.client_session_id, session_id = excluded.session_id, \
             original_query = excluded.original_query, goal = excluded.goal, \
             reasoning_trace = excluded.reasoning_trace, files_touched = excluded.files_touched, \
             decisions = excluded.decisions, constraints = excluded.constraints, status = excluded.status, \
             trigger_reason = excluded.trigger_reason, linked_commit = excluded.linked_commit, \
             parent_task_id = excluded.parent_task_id, tags = excluded.tags, created_at = excluded.created_at",
        )
        .bind(task.id.as_str())
        .bind(task.project_path.as_str())
        .bind(door::optional(&task.project_remote))
        .bind(door::optional(&task.user))
        .bind(task.client_session_id.as_ref().map(ClientSessionId::as_str))
        .bind(task.session_id.as_ref().map(SessionId::as_str))
        .bind(door::text(&task.original_query))
        .bind(door::optional(&task.goal))
        .bind(list(&door::list(&task.reasoning_trace))?)
        .bind(list(&files)?)
        .bind(list(&door::decisions(&task.decisions))?)
        .bind(list(&door::list(&task.constraints))?)
        .bind(task.status.as_str())
        .bind(task.trigger_reason.map(TriggerReason::as_str))
        .bind(task.linked_commit.as_deref())
        .bind(task.parent_task_id.as_ref().map(TaskId::as_str))
        .bind(list(&door::list(&task.tags))?)
        .bind(millis(task.created_at))
        .execute(&mut *connection)
        .await
        .map_err(fault)?;
        sqlx::query("DELETE FROM task_files WHERE task_id = ?")
            .bind(task.id.as_str())
            .execute(&mut *connection)
            .await
            .map_err(fault)?;
        for file in files {
            sqlx::query("INSERT OR IGNORE INTO task_files (path, task_id) VALUES (?, ?)")
                .bind(file)
                .bind(task.id.as_str())
                .execute(&mut *connection)
                .await
                .map_err(fault)?;
        }
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
        let mut query = QueryBuilder::new("SELECT * FROM tasks WHERE project_path = ");
        query
            .push_bind(project_path)
            .push(" AND id IN (SELECT task_id FROM task_files WHERE path IN (SELECT value FROM json_each(")
            .push_bind(list(&door::list(files))?)
            .push("))) ORDER BY created_at DESC, id DESC LIMIT ")
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

impl SqliteStore {
    async fn task_rows(&self, mut query: QueryBuilder<Sqlite>) -> Result<Vec<Task>, StoreError> {
        let rows = self.reader().await?.rows(self, query.build()).await?;
        rows.iter().map(task).collect()
    }
}

fn task(row: &SqliteRow) -> Result<Task, StoreError> {
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
        parent_task_id: columns.get::<Option<String>>("parent_task_id")?.map(TaskId::new),
        tags: columns.list("tags")?,
        created_at: columns.time("created_at")?,
    })
}
