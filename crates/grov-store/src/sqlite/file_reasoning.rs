//! Reasoning about files.

use super::values::{Columns, millis};
use super::{SqliteStore, StoreError};
use crate::door;
use async_trait::async_trait;
use grov_domain::{FileReasoning, FileReasoningStore, Redacted, TaskId};
use sqlx::QueryBuilder;
use sqlx::sqlite::{Sqlite, SqliteRow};

#[async_trait]
impl FileReasoningStore for SqliteStore {
    async fn save_file_reasoning(&self, entry: &Redacted<FileReasoning>) -> Result<(), StoreError> {
        let fault = |error| self.error(error);
        let mut writer = self.writer().await?;
        sqlx::query(
            "INSERT INTO file_reasoning (id, task_id, project_path, file_path, anchor, line_start, line_end, code_hash, \
             change_type, reasoning, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
             ON CONFLICT (id) DO UPDATE SET task_id = excluded.task_id, project_path = excluded.project_path, \
             file_path = excluded.file_path, anchor = excluded.anchor, line_start = excluded.line_start, \
             line_end = excluded.line_end, code_hash = excluded.code_hash, change_type = excluded.change_type, \
             reasoning = excluded.reasoning, created_at = excluded.created_at",
        )
        .bind(entry.id.as_str())
        .bind(entry.task_id.as_ref().map(TaskId::as_str))
        .bind(entry.project_path.as_str())
        .bind(entry.file_path.as_str())
        .bind(entry.anchor.as_deref())
        .bind(entry.line_start)
        .bind(entry.line_end)
        .bind(entry.code_hash.as_deref())
        .bind(entry.change_type.as_deref())
        .bind(entry.reasoning.as_str())
        .bind(millis(entry.created_at))
        .execute(writer.connection()?)
        .await
        .map_err(fault)?;
        writer.commit().await.map_err(fault)
    }

    async fn file_reasoning_by_path(
        &self,
        project_path: &str,
        file_path: &str,
        limit: u32,
    ) -> Result<Vec<FileReasoning>, StoreError> {
        let mut query = QueryBuilder::new("SELECT * FROM file_reasoning WHERE project_path = ");
        query
            .push_bind(project_path)
            .push(" AND file_path = ")
            .push_bind(door::text(file_path));
        self.newest_entries(query, limit).await
    }

    async fn file_reasoning_by_path_pattern(
        &self,
        project_path: &str,
        pattern: &str,
        limit: u32,
    ) -> Result<Vec<FileReasoning>, StoreError> {
        let mut query = QueryBuilder::new("SELECT * FROM file_reasoning WHERE project_path = ");
        // instr compares bytes: unlike LIKE it has no wildcards and no case.
        query
            .push_bind(project_path)
            .push(" AND instr(file_path, ")
            .push_bind(door::text(pattern))
            .push(") > 0");
        self.newest_entries(query, limit).await
    }
}

impl SqliteStore {
    async fn newest_entries(
        &self,
        mut query: QueryBuilder<Sqlite>,
        limit: u32,
    ) -> Result<Vec<FileReasoning>, StoreError> {
        query
            .push(" ORDER BY created_at DESC, id DESC LIMIT ")
            .push_bind(limit);
        let rows = self.reader().await?.rows(self, query.build()).await?;
        rows.iter().map(entry).collect()
    }
}

fn entry(row: &SqliteRow) -> Result<FileReasoning, StoreError> {
    let columns = Columns(row);
    Ok(FileReasoning {
        id: columns.get("id")?,
        task_id: columns.get::<Option<String>>("task_id")?.map(TaskId::new),
        project_path: columns.get("project_path")?,
        file_path: columns.get("file_path")?,
        anchor: columns.get("anchor")?,
        line_start: columns.small("line_start")?,
        line_end: columns.small("line_end")?,
        code_hash: columns.get("code_hash")?,
        change_type: columns.get("change_type")?,
        reasoning: columns.get("reasoning")?,
        created_at: columns.time("created_at")?,
    })
}
