//! The drift log.

use super::values::{Columns, list, millis};
use super::{SqliteStore, StoreError};
use crate::door;
use async_trait::async_trait;
use grov_domain::{ActionType, DriftEvent, DriftEventId, DriftLogStore, SessionId};
use sqlx::QueryBuilder;
use sqlx::sqlite::{Sqlite, SqliteRow};

#[async_trait]
impl DriftLogStore for SqliteStore {
    async fn append_drift(&self, event: &DriftEvent) -> Result<(), StoreError> {
        let fault = |error| self.error(error);
        let mut writer = self.writer().await?;
        sqlx::query(
            "INSERT INTO drift_log (id, session_id, timestamp, action_type, files, drift_score, level, reason, \
             correction_given, recovery_plan) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        )
        .bind(event.id.as_str())
        .bind(event.session_id.as_str())
        .bind(millis(event.timestamp))
        .bind(event.action_type.map(ActionType::as_str))
        .bind(list(&door::list(&event.files))?)
        .bind(event.drift_score)
        .bind(event.level.as_deref())
        .bind(door::optional(&event.reason))
        .bind(door::optional(&event.correction_given))
        .bind(list(&door::list(&event.recovery_plan))?)
        .execute(writer.connection()?)
        .await
        .map_err(fault)?;
        writer.commit().await.map_err(fault)
    }

    async fn drift_log(&self, session: Option<&SessionId>) -> Result<Vec<DriftEvent>, StoreError> {
        let mut query = QueryBuilder::<Sqlite>::new("SELECT * FROM drift_log");
        if let Some(session) = session {
            query.push(" WHERE session_id = ").push_bind(session.as_str());
        }
        query.push(" ORDER BY timestamp, id");
        let rows = self.reader().await?.rows(self, query.build()).await?;
        rows.iter().map(event).collect()
    }
}

fn event(row: &SqliteRow) -> Result<DriftEvent, StoreError> {
    let columns = Columns(row);
    Ok(DriftEvent {
        id: DriftEventId::new(columns.get::<String>("id")?),
        session_id: SessionId::new(columns.get::<String>("session_id")?),
        timestamp: columns.time("timestamp")?,
        action_type: columns
            .get::<Option<&str>>("action_type")?
            .map(ActionType::from_name),
        files: columns.list("files")?,
        drift_score: columns.small("drift_score")?,
        level: columns.get("level")?,
        reason: columns.get("reason")?,
        correction_given: columns.get("correction_given")?,
        recovery_plan: columns.list("recovery_plan")?,
        client_session_id: None,
        step_id: None,
        command: None,
        findings: Vec::new(),
        judged_by: None,
    })
}
