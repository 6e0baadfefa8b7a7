//! Ids alone.

use crate::sqlite::values::Columns;
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::TaskId;
use sqlx::sqlite::SqliteRow;

impl SqliteStore {
    pub(super) async fn matching_ids(&self, part: &str, limit: u32) -> Result<Vec<TaskId>, StoreError> {
        // Reads the index of ids and no row; substr compares without wildcards.
        let query = sqlx::query(
            "SELECT id FROM tasks WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, -length(?1)) = ?1 \
             ORDER BY id LIMIT ?2",
        )
        .bind(part)
        .bind(limit);
        let rows = self.reader().await?.rows(self, query).await?;
        rows.iter().map(id_of_row).collect()
    }

    pub(super) async fn replaced_ids(&self, task: &TaskId) -> Result<Vec<TaskId>, StoreError> {
        let query = sqlx::query("SELECT id FROM tasks WHERE superseded_by = ? ORDER BY created_at, id")
            .bind(task.as_str());
        let rows = self.reader().await?.rows(self, query).await?;
        rows.iter().map(id_of_row).collect()
    }
}

fn id_of_row(row: &SqliteRow) -> Result<TaskId, StoreError> {
    Columns(row).get("id").map(|id: String| TaskId::new(id))
}
