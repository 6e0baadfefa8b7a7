//! Reasoning about files.

use super::columns::{Record, record};
use super::select::Select;
use super::{SqliteStore, StoreError};
use crate::stored_form::as_stored;
use async_trait::async_trait;
use grov_domain::{FileReasoning, FileReasoningStore, Redacted};

record! {
    FileReasoning in "file_reasoning", key (id);
    task_id, project_path, file_path, anchor, line_start, line_end, code_hash, change_type, reasoning, created_at
}

#[async_trait]
impl FileReasoningStore for SqliteStore {
    async fn save_file_reasoning(&self, entry: &Redacted<FileReasoning>) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        transaction.upsert(&**entry).await?;
        transaction.commit().await
    }

    async fn file_reasoning(
        &self,
        project_path: &str,
        part: &str,
        limit: u32,
    ) -> Result<Vec<FileReasoning>, StoreError> {
        let mut select = Select::new("SELECT * FROM file_reasoning");
        select.and("project_path =", Some(project_path));
        // `instr` has no wildcards and is case-sensitive, unlike LIKE.
        select.and_all("instr(file_path, ?) > 0", &[&as_stored(part)]);
        select.end("ORDER BY created_at DESC, id DESC", Some(limit));
        select.read(self, FileReasoning::from_row).await
    }
}
