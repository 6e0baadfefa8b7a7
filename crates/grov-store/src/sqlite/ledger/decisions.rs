//! Decisions about places in a history.

use super::{agent, key, keys};
use crate::sqlite::values::{list, millis};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{HistoryKey, LedgerEntry, Lineage, TaskId};
use std::time::Instant;

impl SqliteStore {
    /// A lineage that is not known keeps nothing.
    pub(super) async fn keep_decision(
        &self,
        lineage: &Lineage,
        entry: &LedgerEntry,
        until: Instant,
    ) -> Result<bool, StoreError> {
        let fault = |error| self.error(error);
        let memories: Vec<&str> = entry.memories.iter().map(TaskId::as_str).collect();
        let memories = list(&memories)?;
        let Some(mut writer) = self.writer_until(until).await? else {
            return Ok(false);
        };
        let connection = writer.connection()?;
        let kept = sqlx::query(
            "INSERT INTO ledger_entries (lineage, anchor, block, decided_at) \
             SELECT id, ?3, ?4, ?5 FROM ledger_lineages WHERE client_session_id = ?1 AND agent_id = ?2 \
             ON CONFLICT DO NOTHING",
        )
        .bind(lineage.session.as_str())
        .bind(agent(lineage))
        .bind(key(entry.anchor))
        .bind(entry.block.as_deref())
        .bind(millis(entry.decided_at))
        .execute(&mut *connection)
        .await
        .map_err(fault)?
        .rows_affected();
        if kept > 0 && memories.is_some() {
            sqlx::query(
                "INSERT INTO ledger_memories (lineage, anchor, task_id) SELECT DISTINCT l.id, ?3, m.value \
                 FROM ledger_lineages l, json_each(?4) m WHERE l.client_session_id = ?1 AND l.agent_id = ?2",
            )
            .bind(lineage.session.as_str())
            .bind(agent(lineage))
            .bind(key(entry.anchor))
            .bind(memories)
            .execute(connection)
            .await
            .map_err(fault)?;
        }
        if kept == 0 || Instant::now() >= until {
            writer.roll_back().await.map_err(fault)?;
            return Ok(false);
        }
        writer.commit().await.map_err(fault)?;
        Ok(true)
    }

    pub(super) async fn withdraw_decisions(
        &self,
        lineage: &Lineage,
        anchors: &[HistoryKey],
    ) -> Result<(), StoreError> {
        if anchors.is_empty() {
            return Ok(());
        }
        let fault = |error| self.error(error);
        let mut writer = self.writer().await?;
        sqlx::query(
            "DELETE FROM ledger_memories WHERE (lineage, anchor) IN (SELECT l.id, unhex(a.value) \
             FROM ledger_lineages l, json_each(?3) a WHERE l.client_session_id = ?1 AND l.agent_id = ?2); \
             INSERT INTO ledger_entries (lineage, anchor, block, decided_at) \
             SELECT l.id, unhex(a.value), NULL, CAST(unixepoch('subsec') * 1000 AS INTEGER) \
             FROM ledger_lineages l, json_each(?3) a WHERE l.client_session_id = ?1 AND l.agent_id = ?2 \
             ON CONFLICT (lineage, anchor) DO UPDATE SET block = NULL",
        )
        .bind(lineage.session.as_str())
        .bind(agent(lineage))
        .bind(keys(anchors))
        .execute(writer.connection()?)
        .await
        .map_err(fault)?;
        writer.commit().await.map_err(fault)
    }
}
