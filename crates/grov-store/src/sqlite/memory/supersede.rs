//! Knowledge that replaces other knowledge.

use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::TaskId;

impl SqliteStore {
    pub(super) async fn replace_knowledge(
        &self,
        old: &TaskId,
        by: Option<&TaskId>,
    ) -> Result<bool, StoreError> {
        let fault = |error| self.error(error);
        let mut writer = self.writer().await?;
        // The chain behind the new one must not lead back: nothing would be left at its end.
        let changed = sqlx::query(
            "WITH RECURSIVE behind (id) AS (SELECT ?2 UNION \
             SELECT t.superseded_by FROM behind JOIN tasks t ON t.id = behind.id WHERE t.superseded_by IS NOT NULL) \
             UPDATE tasks SET superseded_by = ?2 WHERE id = ?1 AND (?2 IS NULL OR \
             (EXISTS (SELECT 1 FROM tasks WHERE id = ?2) AND NOT EXISTS (SELECT 1 FROM behind WHERE id = ?1)))",
        )
        .bind(old.as_str())
        .bind(by.map(TaskId::as_str))
        .execute(writer.connection()?)
        .await
        .map_err(fault)?
        .rows_affected();
        writer.commit().await.map_err(fault)?;
        Ok(changed > 0)
    }
}
