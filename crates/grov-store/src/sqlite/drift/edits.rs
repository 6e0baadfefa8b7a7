//! What people changed of goal contracts.

use crate::sqlite::ledger::BUMP_REVISION;
use crate::sqlite::values::{Columns, millis};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{ClientSessionId, GoalEdit, GoalEditId, GoalEditKind, Redacted};

impl SqliteStore {
    pub(super) async fn keep_edit(&self, edit: &Redacted<GoalEdit>) -> Result<(), StoreError> {
        let fault = |error| self.error(error);
        let mut writer = self.writer().await?;
        let added = sqlx::query(
            "INSERT INTO goal_edits (client_session_id, id, kind, text, at) VALUES (?, ?, ?, ?, ?) \
             ON CONFLICT (client_session_id, id) DO NOTHING",
        )
        .bind(edit.client_session_id.as_str())
        .bind(edit.id.as_str())
        .bind(edit.kind.as_str())
        .bind(edit.text.as_str())
        .bind(millis(edit.at))
        .execute(writer.connection()?)
        .await
        .map_err(fault)?;
        if added.rows_affected() == 0 {
            return writer.roll_back().await.map_err(fault);
        }
        sqlx::query(BUMP_REVISION)
            .execute(writer.connection()?)
            .await
            .map_err(fault)?;
        writer.commit().await.map_err(fault)
    }

    pub(super) async fn edits_of(&self, session: &ClientSessionId) -> Result<Vec<GoalEdit>, StoreError> {
        let query = sqlx::query("SELECT * FROM goal_edits WHERE client_session_id = ? ORDER BY at, id");
        let rows = self
            .reader()
            .await?
            .rows(self, query.bind(session.as_str()))
            .await?;
        rows.iter()
            .map(|row| {
                let columns = Columns(row);
                Ok(GoalEdit {
                    id: GoalEditId::new(columns.get::<String>("id")?),
                    client_session_id: ClientSessionId::new(columns.get::<String>("client_session_id")?),
                    kind: columns.named("kind", GoalEditKind::from_name)?,
                    text: columns.get("text")?,
                    at: columns.time("at")?,
                })
            })
            .collect()
    }
}
