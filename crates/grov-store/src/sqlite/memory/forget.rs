//! Forgetting for good.

use crate::sqlite::values::list;
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::TaskId;
use sqlx::Row;

impl SqliteStore {
    pub(super) async fn forget_tasks(&self, tasks: &[TaskId]) -> Result<Vec<TaskId>, StoreError> {
        let fault = |error| self.error(error);
        let ids: Vec<&str> = tasks.iter().map(TaskId::as_str).collect();
        let Some(ids) = list(&ids)? else {
            return Ok(Vec::new());
        };
        let mut writer = self.writer().await?;
        let connection = writer.connection()?;
        // Links to what goes stay behind as they are: an id alone says nothing.
        sqlx::query("DELETE FROM file_reasoning WHERE task_id IN (SELECT value FROM json_each(?))")
            .bind(&ids)
            .execute(&mut *connection)
            .await
            .map_err(fault)?;
        let gone = sqlx::query("DELETE FROM tasks WHERE id IN (SELECT value FROM json_each(?)) RETURNING id")
            .bind(&ids)
            .fetch_all(&mut *connection)
            .await
            .map_err(fault)?;
        writer.commit().await.map_err(fault)?;
        self.give_back().await?;
        gone.iter()
            .map(|row| row.try_get::<String, _>(0).map(TaskId::new).map_err(fault))
            .collect()
    }

    /// Cuts free pages off the file, which may hold what was deleted or moved, and empties the write-ahead log.
    async fn give_back(&self) -> Result<(), StoreError> {
        let fault = |error| self.error(error);
        let mut reader = self.reader().await?;
        sqlx::query("PRAGMA incremental_vacuum")
            .fetch_all(reader.connection()?)
            .await
            .map_err(fault)?;
        let row = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
            .fetch_one(reader.connection()?)
            .await
            .map_err(fault)?;
        let busy: i64 = row.try_get(0).map_err(fault)?;
        if busy != 0 {
            return Err(StoreError::Busy(format!(
                "{}: what was forgotten is deleted, but another process still reads the old state, so a copy stays in \
                 the write-ahead log until it ends",
                self.path.display()
            )));
        }
        Ok(())
    }
}
