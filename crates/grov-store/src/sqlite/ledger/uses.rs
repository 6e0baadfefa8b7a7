//! Where memories stand in the history of sessions.

use super::lineages;
use crate::sqlite::values::{Columns, list};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{LedgerUse, TaskId};
use sqlx::sqlite::SqliteRow;

impl SqliteStore {
    pub(super) async fn uses_of(&self, tasks: &[TaskId]) -> Result<Vec<LedgerUse>, StoreError> {
        let ids: Vec<&str> = tasks.iter().map(TaskId::as_str).collect();
        let Some(ids) = list(&ids)? else {
            return Ok(Vec::new());
        };
        let query = sqlx::query(
            "SELECT l.client_session_id, l.agent_id, l.model, l.seen_at, m.task_id, e.decided_at, \
             (SELECT x.input + x.cache_read + x.cache_creation FROM session_states s \
              JOIN exchanges x ON x.session_id = s.session_id \
              WHERE s.client_session_id = l.client_session_id AND x.moved_to IS NULL \
              AND x.kind IN ('main', 'subagent') AND coalesce(x.agent_id, '') = l.agent_id \
              AND x.input + x.cache_read + x.cache_creation > 0 \
              ORDER BY x.ended_at DESC, x.id DESC LIMIT 1) AS prompt_tokens \
             FROM ledger_memories m JOIN ledger_lineages l ON l.id = m.lineage \
             JOIN ledger_entries e ON e.lineage = m.lineage AND e.anchor = m.anchor \
             WHERE m.task_id IN (SELECT value FROM json_each(?1)) \
             ORDER BY l.seen_at DESC, l.id DESC, e.decided_at, m.task_id",
        )
        .bind(ids);
        let rows = self.reader().await?.rows(self, query).await?;
        rows.iter().map(use_of_row).collect()
    }
}

fn use_of_row(row: &SqliteRow) -> Result<LedgerUse, StoreError> {
    let columns = Columns(row);
    Ok(LedgerUse {
        lineage: lineages::lineage(&columns)?,
        model: columns.get("model")?,
        task_id: TaskId::new(columns.get::<String>("task_id")?),
        added_at: columns.time("decided_at")?,
        last_seen_at: columns.time("seen_at")?,
        prompt_tokens: columns.small("prompt_tokens")?,
    })
}
