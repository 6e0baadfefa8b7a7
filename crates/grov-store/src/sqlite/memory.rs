//! Team memory: search, import, export, deletion.

mod candidates;
mod embeddings;
mod forget;
mod import;
mod index;
mod judging;
mod lookup;
mod parts;
mod postings;
mod sums;
mod terms;

pub(super) use index::{Entry, Indexing, fill, load_tasks, reindex_client_session, remove_tasks};
pub(super) use terms::Terms;

use super::columns::{Record, RowExt, from_row, params};
use super::select::Select;
use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use futures_util::TryStreamExt;
use grov_domain::{
    ImportReport, MemoryCandidates, MemoryProject, MemoryQuestion, MemoryScope, MemorySearch, MemoryStats,
    MemoryStore, ModelScreening, PerField, Redacted, Task, TaskId, UnjudgedMemory,
};
use lookup::remote_of;
use std::ops::ControlFlow;
use time::OffsetDateTime;

/// The columns with the number of terms per field.
const LENGTHS: PerField<&str> = ["text_terms", "trace_terms", "path_terms", "file_terms"];

#[async_trait]
impl MemorySearch for SqliteStore {
    async fn candidates(&self, question: &MemoryQuestion<'_>) -> Result<MemoryCandidates, StoreError> {
        candidates::find(self, question).await
    }

    async fn terms_beginning(
        &self,
        scope: &MemoryScope,
        beginnings: &[String],
        limit: u32,
    ) -> Result<Vec<(usize, String)>, StoreError> {
        lookup::terms_beginning(self, scope, beginnings, limit).await
    }

    async fn newest(
        &self,
        scope: &MemoryScope,
        before: Option<OffsetDateTime>,
        limit: u32,
    ) -> Result<Vec<i64>, StoreError> {
        lookup::newest_documents(self, scope, before, limit).await
    }

    async fn memories(&self, tasks: &[TaskId]) -> Result<Vec<Task>, StoreError> {
        load_tasks(&mut self.connection().await?, tasks).await
    }
}

#[async_trait]
impl MemoryStore for SqliteStore {
    async fn import(&self, tasks: &[Redacted<Task>]) -> Result<ImportReport, StoreError> {
        import::import(self, tasks).await
    }

    async fn export(
        &self,
        scope: Option<&MemoryScope>,
        after: Option<(OffsetDateTime, TaskId)>,
        limit: u32,
    ) -> Result<Vec<Task>, StoreError> {
        let mut select = Select::new("SELECT * FROM tasks");
        select.and_scope(scope);
        if let Some((time, id)) = &after {
            select.and_all("(created_at, id) > (?, ?)", &[time, id]);
        }
        select.end("ORDER BY created_at, id", Some(limit));
        select.read(self, Task::from_row).await
    }

    async fn ids_like(&self, part: &str, limit: u32) -> Result<Vec<TaskId>, StoreError> {
        // Reads only the index of ids. `substr` has no wildcards.
        let sql = "SELECT id FROM tasks WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, -length(?1)) = ?1 \
             ORDER BY id LIMIT ?2";
        self.read(sql, params![part, limit], |row| row.read(0)).await
    }

    async fn replaced_by(&self, task: &TaskId) -> Result<Vec<TaskId>, StoreError> {
        let sql = "SELECT id FROM tasks WHERE superseded_by = ? ORDER BY created_at, id";
        self.read(sql, params![task], |row| row.read(0)).await
    }

    async fn supersede(&self, old: &TaskId, by: Option<&TaskId>) -> Result<bool, StoreError> {
        // The chain of replacements must not become a cycle.
        let sql = "WITH RECURSIVE chain (id) AS (SELECT ?2 UNION \
             SELECT t.superseded_by FROM chain JOIN tasks t ON t.id = chain.id WHERE t.superseded_by IS NOT NULL) \
             UPDATE tasks SET superseded_by = ?2 WHERE id = ?1 AND (?2 IS NULL OR \
             (EXISTS (SELECT 1 FROM tasks WHERE id = ?2) AND NOT EXISTS (SELECT 1 FROM chain WHERE id = ?1)))";
        Ok(self.execute(sql, params![old, by]).await? > 0)
    }

    async fn forget(&self, tasks: &[TaskId]) -> Result<Vec<TaskId>, StoreError> {
        forget::forget(self, tasks).await
    }

    async fn memory_stats(&self, scope: Option<&MemoryScope>) -> Result<MemoryStats, StoreError> {
        let mut select = Select::new("WITH mine AS (SELECT id, status, created_at FROM tasks");
        select.and_scope(scope);
        select.end(
            ") SELECT count(*) AS memories, coalesce(sum(status = 'complete'), 0) AS complete, \
             coalesce(sum(status = 'partial'), 0) AS partial, \
             coalesce(sum(status = 'abandoned'), 0) AS abandoned, \
             min(created_at) AS oldest, max(created_at) AS newest, \
             (SELECT count(DISTINCT path) FROM task_files WHERE task_id IN (SELECT id FROM mine)) AS files \
             FROM mine",
            None,
        );
        let stats = select.read(self, |row| {
            Ok(from_row!(row => MemoryStats {
                memories, files, oldest, newest,
                complete: row.read("complete")?,
                partial: row.read("partial")?,
                abandoned: row.read("abandoned")?,
            }))
        });
        Ok(stats.await?.pop().unwrap_or_default())
    }

    async fn unscreened(&self, rules: i64, limit: u32) -> Result<Option<Vec<Task>>, StoreError> {
        let sql = "SELECT count(*) FROM screening WHERE rules = ? AND task_id IS NULL";
        let mut connection = self.connection().await?;
        if connection.value(sql, params![rules]).await? == Some(1_i64) {
            return Ok(None);
        }
        // In the order of ids, which have an index.
        let sql = "SELECT * FROM tasks WHERE id > coalesce((SELECT task_id FROM screening WHERE rules = ?1), '') \
             ORDER BY id LIMIT ?2";
        connection
            .read(sql, params![rules, limit], Task::from_row)
            .await
            .map(Some)
    }

    async fn save_screening(
        &self,
        rules: i64,
        fingerprints: &[(TaskId, Option<i64>)],
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        for (task, fingerprint) in fingerprints {
            let sql = "UPDATE tasks SET screened = ?2 WHERE id = ?1 AND screened IS NOT ?2";
            transaction.execute(sql, params![task, fingerprint]).await?;
        }
        let last = fingerprints.last().map(|(task, _)| task);
        let sql = "INSERT OR REPLACE INTO screening (only_row, rules, task_id) VALUES (1, ?1, ?2)";
        transaction.execute(sql, params![rules, last]).await?;
        transaction.commit().await
    }

    async fn reserve_unjudged(
        &self,
        now: OffsetDateTime,
        limit: u32,
    ) -> Result<Vec<UnjudgedMemory>, StoreError> {
        judging::reserve(self, now, limit).await
    }

    async fn save_model_screening(
        &self,
        memory: &UnjudgedMemory,
        screening: &Redacted<ModelScreening>,
    ) -> Result<bool, StoreError> {
        judging::save(self, memory, screening).await
    }

    async fn trust_memory(
        &self,
        task: &Task,
        screening: &Redacted<ModelScreening>,
    ) -> Result<bool, StoreError> {
        judging::trust(self, task, screening).await
    }

    async fn unjudged(&self, scope: Option<&MemoryScope>, now: OffsetDateTime) -> Result<u64, StoreError> {
        judging::count(self, scope, now).await
    }

    async fn memory_projects(&self) -> Result<Vec<MemoryProject>, StoreError> {
        let sql = "SELECT project_path, project_remote, documents AS memories FROM memory_scopes \
             WHERE documents > 0 ORDER BY project_path, project_remote";
        self.read(sql, params![], |row| {
            Ok(from_row!(row => MemoryProject { project_path, project_remote, memories }))
        })
        .await
    }

    async fn move_memories(&self, from: &str, to: &str) -> Result<u64, StoreError> {
        let mut transaction = self.begin().await?;
        let moved = index::move_tasks(&mut transaction, from, to).await?;
        let sql = "UPDATE memory_items SET project_path = ?2 WHERE project_path = ?1";
        transaction.execute(sql, params![from, to]).await?;
        transaction.commit().await?;
        Ok(moved)
    }

    /// Keeps a read transaction open, so the write-ahead log grows if other processes write.
    async fn each_memory(
        &self,
        scope: &MemoryScope,
        visit: &mut (dyn FnMut(Task) -> ControlFlow<()> + Send),
    ) -> Result<(), StoreError> {
        let mut select = Select::new("SELECT * FROM tasks");
        select.and_scope(Some(scope));
        select.end("ORDER BY created_at, id", None);
        let (sql, values) = select.into_parts();
        let mut connection = self.connection().await?;
        let mut rows = values.query(sql)?.fetch(connection.raw()?);
        let error = loop {
            match rows.try_next().await {
                Ok(Some(row)) if visit(Task::from_row(&row)?).is_continue() => {}
                Ok(_) => return Ok(()),
                Err(error) => break error,
            }
        };
        drop(rows);
        Err(connection.failed(error))
    }
}

impl Select {
    /// Adds the condition that a task belongs to a scope.
    pub(in crate::sqlite) fn and_scope(&mut self, scope: Option<&MemoryScope>) {
        if let Some(scope) = scope {
            let condition = "(project_path = ? OR (? <> '' AND project_remote = ?))";
            let remote = remote_of(scope);
            self.and_all(condition, &[&scope.project_path, &remote, &remote]);
        }
    }
}
