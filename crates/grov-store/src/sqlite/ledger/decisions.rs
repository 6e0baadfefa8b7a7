//! Decisions about places in a history.

use super::{agent, key, keys};
use crate::sqlite::values::{list, millis};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{HistoryKey, LedgerEntry, Lineage, Redacted, TaskId};
use sqlx::Arguments;
use sqlx::sqlite::SqliteArguments;
use std::time::Instant;

/// Keeps the decision for lineage `?1`, `?2` and place `?3`, which quotes the memories of list `?6`. One row if there
/// was none, and none of these memories was forgotten meanwhile; one that came in anew since is not forgotten.
const KEEP: &str = "INSERT INTO ledger_entries (lineage, anchor, block, decided_at) \
     SELECT id, ?3, ?4, ?5 FROM ledger_lineages WHERE client_session_id = ?1 AND agent_id = ?2 \
     AND NOT EXISTS (SELECT 1 FROM json_each(?6) m JOIN forgotten f ON f.task_id = m.value \
      WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = f.task_id)) \
     ON CONFLICT DO NOTHING RETURNING 1; \
     INSERT INTO ledger_memories (lineage, anchor, task_id) SELECT DISTINCT l.id, ?3, m.value \
     FROM ledger_lineages l, json_each(?6) m \
     WHERE changes() > 0 AND l.client_session_id = ?1 AND l.agent_id = ?2";

impl SqliteStore {
    /// A lineage that is not known keeps nothing, and nothing is kept that quotes what was forgotten.
    pub(super) async fn keep_decision(
        &self,
        lineage: &Lineage,
        entry: &LedgerEntry<Redacted>,
        until: Instant,
    ) -> Result<bool, StoreError> {
        let fault = |error| self.error(error);
        let memories: Vec<&str> = entry.memories.iter().map(TaskId::as_str).collect();
        let mut values = SqliteArguments::default();
        for added in [
            values.add(lineage.session.as_str()),
            values.add(agent(lineage)),
            values.add(key(entry.anchor)),
            values.add(entry.block.as_deref()),
            values.add(millis(entry.decided_at)),
            values.add(list(&memories)?),
        ] {
            added.map_err(|error| fault(sqlx::Error::Encode(error)))?;
        }
        let Some((writer, kept)) = self.writer_running_until(until, KEEP, values).await? else {
            return Ok(false);
        };
        if kept.is_empty() || Instant::now() >= until {
            writer.roll_back().await.map_err(fault)?;
            return Ok(false);
        }
        writer.commit_briefly().await.map_err(fault)?;
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
