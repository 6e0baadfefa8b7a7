//! Memories in order, and how many there are.

use super::lookup::remote_of;
use crate::sqlite::tasks::task_of_row;
use crate::sqlite::values::{Columns, list, millis};
use crate::sqlite::{SqliteStore, StoreError};
use futures_util::TryStreamExt;
use grov_domain::{MemoryScope, MemoryStats, Task, TaskId};
use sqlx::QueryBuilder;
use sqlx::sqlite::Sqlite;
use std::ops::ControlFlow;
use time::OffsetDateTime;

impl SqliteStore {
    /// The database is read as long as that takes, so that its log grows if others write.
    pub(super) async fn visit_memories(
        &self,
        scope: &MemoryScope,
        visit: &mut (dyn FnMut(Task) -> ControlFlow<()> + Send),
    ) -> Result<(), StoreError> {
        let mut query = QueryBuilder::new("SELECT * FROM tasks WHERE ");
        push_scope(&mut query, Some(scope));
        query.push(" ORDER BY created_at, id");
        let mut reader = self.reader().await?;
        let mut rows = query.build().fetch(reader.connection()?);
        while let Some(row) = rows.try_next().await.map_err(|error| self.error(error))? {
            if visit(task_of_row(&row)?).is_break() {
                break;
            }
        }
        Ok(())
    }

    pub(super) async fn tasks_in_order(
        &self,
        scope: Option<&MemoryScope>,
        after: Option<(OffsetDateTime, TaskId)>,
        limit: u32,
    ) -> Result<Vec<Task>, StoreError> {
        let mut query = QueryBuilder::new("SELECT * FROM tasks WHERE ");
        push_scope(&mut query, scope);
        if let Some((time, id)) = after {
            query
                .push(" AND (created_at, id) > (")
                .push_bind(millis(time))
                .push(", ")
                .push_bind(id.as_str().to_owned())
                .push(")");
        }
        query.push(" ORDER BY created_at, id LIMIT ").push_bind(limit);
        let rows = self.reader().await?.rows(self, query.build()).await?;
        rows.iter().map(task_of_row).collect()
    }

    pub(super) async fn tasks_of(&self, tasks: &[TaskId]) -> Result<Vec<Task>, StoreError> {
        let ids: Vec<&str> = tasks.iter().map(TaskId::as_str).collect();
        let Some(ids) = list(&ids)? else {
            return Ok(Vec::new());
        };
        let query = sqlx::query(
            "SELECT t.* FROM json_each(?) asked CROSS JOIN tasks t ON t.id = asked.value ORDER BY asked.key",
        );
        let rows = self.reader().await?.rows(self, query.bind(ids)).await?;
        rows.iter().map(task_of_row).collect()
    }

    pub(super) async fn count_memories(
        &self,
        scope: Option<&MemoryScope>,
    ) -> Result<MemoryStats, StoreError> {
        let mut query = QueryBuilder::new("WITH mine AS (SELECT id, status, created_at FROM tasks WHERE ");
        push_scope(&mut query, scope);
        query.push(
            ") SELECT count(*) AS memories, coalesce(sum(status = 'complete'), 0) AS complete, \
             coalesce(sum(status = 'partial'), 0) AS partial, \
             coalesce(sum(status = 'abandoned'), 0) AS abandoned, \
             min(created_at) AS oldest, max(created_at) AS newest, \
             (SELECT count(DISTINCT path) FROM task_files WHERE task_id IN (SELECT id FROM mine)) AS files \
             FROM mine",
        );
        let rows = self.reader().await?.rows(self, query.build()).await?;
        let mut stats = MemoryStats::default();
        for row in &rows {
            let columns = Columns(row);
            stats = MemoryStats {
                memories: columns.count("memories")?,
                by_status: [
                    columns.count("complete")?,
                    columns.count("partial")?,
                    columns.count("abandoned")?,
                ],
                files: columns.count("files")?,
                oldest: columns.optional_time("oldest")?,
                newest: columns.optional_time("newest")?,
            };
        }
        Ok(stats)
    }
}

/// The condition that a task belongs to a scope.
fn push_scope(query: &mut QueryBuilder<Sqlite>, scope: Option<&MemoryScope>) {
    let Some(scope) = scope else {
        query.push("true");
        return;
    };
    query
        .push("(project_path = ")
        .push_bind(scope.project_path.clone());
    let remote = remote_of(scope);
    if !remote.is_empty() {
        query.push(" OR project_remote = ").push_bind(remote.to_owned());
    }
    query.push(")");
}
