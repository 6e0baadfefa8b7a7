//! What a person says of findings.

use super::columns::{RowExt, from_row, params};
use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{DriftEventId, FindingMark, FindingMarkStore};

#[async_trait]
impl FindingMarkStore for SqliteStore {
    async fn mark_finding(&self, mark: &FindingMark) -> Result<(), StoreError> {
        let sql = "INSERT INTO finding_marks (event_id, rule, is_right, at) VALUES (?, ?, ?, ?) \
             ON CONFLICT (event_id) DO UPDATE SET rule = excluded.rule, is_right = excluded.is_right, at = excluded.at";
        let values = params![mark.event_id, mark.rule, mark.is_right, mark.at];
        self.execute(sql, values).await.map(drop)
    }

    async fn unmark_finding(&self, event: &DriftEventId) -> Result<(), StoreError> {
        let sql = "DELETE FROM finding_marks WHERE event_id = ?";
        self.execute(sql, params![event]).await.map(drop)
    }

    async fn finding_marks(&self) -> Result<Vec<FindingMark>, StoreError> {
        let sql = "SELECT * FROM finding_marks ORDER BY at";
        self.read(sql, params![], |row| {
            Ok(from_row!(row => FindingMark { event_id, rule, is_right, at }))
        })
        .await
    }
}
