//! Statistics of a store, and removal of old records.

use super::columns::{RowExt, duration_millis, from_row, millis, params};
use super::items;
use super::select::expanded;
use super::{SqliteStore, StoreError};
use crate::{Spool, files};
use async_trait::async_trait;
use grov_domain::{MaintenanceStore, PruneReport, Retention, StoreStats, TableStats};
use sqlx::AssertSqlSafe;
use time::OffsetDateTime;

/// Removed per transaction: other processes can write in between.
const SESSIONS_PER_TRANSACTION: i64 = 16;
const ROWS_PER_TRANSACTION: i64 = 1600;

#[rustfmt::skip]
const TABLES: [&str; 37] = [
    "session_states", "exchanges", "prompts", "steps", "tasks", "drift_log", "drift_states", "corrections",
    "goal_edits", "file_reasoning", "hook_sessions", "hook_courses", "hook_steps", "hook_checks",
    "hook_guards", "llm_calls", "memory_scopes", "memory_documents", "task_embeddings", "ledger_lineages",
    "ledger_entries", "ledger_memories", "ledger_tips", "ledger_cuts", "ledger_trims", "switched_off", "forgotten", "session_ends",
    "context_readings", "prepared_summaries", "read_limits", "compactions", "memory_items", "inbox_notices",
    "links", "link_outbox", "link_records",
];

/// Parts of conditions. Parameters: `?1` to `?5` are cutoff times for completed sessions, idle sessions, the drift log,
/// spending and the ledger; `?6` is the maximum number of sessions and `?7` of rows. Actions of hook sessions are
/// removed before the sessions, in the same order.
#[rustfmt::skip]
const PARTS: &[(&str, &str)] = &[
    ("{sessions}", "(SELECT session_id FROM session_states WHERE {is_over} ORDER BY last_update, session_id LIMIT ?6)"),
    ("{hook_sessions_with_actions}", "(SELECT client_session_id FROM hook_sessions h WHERE {is_hook_over} AND EXISTS \
      (SELECT 1 FROM hook_steps st WHERE st.client_session_id = h.client_session_id) \
      ORDER BY updated_at, client_session_id LIMIT ?6)"),
    ("{hook_sessions}", "(SELECT client_session_id FROM hook_sessions WHERE {is_hook_over} AND updated_at < ?3 \
      ORDER BY updated_at, client_session_id LIMIT ?6)"),
    ("{has_no_session}", "client_session_id NOT IN (SELECT client_session_id FROM session_states WHERE NOT {is_over})"),
    ("{is_over}", "(status <> 'active' AND last_update < ?1 OR status = 'active' AND last_update < ?2)"),
    ("{is_hook_over}", "(ended_at IS NOT NULL AND updated_at < ?1 OR ended_at IS NULL AND updated_at < ?2)"),
];

type Count = fn(&mut PruneReport) -> &mut u64;

/// The tables with the conditions for rows to remove, in the order of removal, and the counters of removed rows.
#[rustfmt::skip]
const REMOVALS: &[(&str, &str, Option<Count>)] = &[
    ("step_files", "(path, timestamp, session_id, step_id) IN (SELECT f.value, st.timestamp, st.session_id, st.id \
      FROM steps st, json_each(st.files) f WHERE st.session_id IN {sessions})", None),
    ("prompts", "session_id IN {sessions}", None),
    ("exchanges", "moved_to IS NULL AND session_id IN {sessions}", Some(|report| &mut report.exchanges)),
    // Exchanges that were moved are counted with their new task.
    ("exchanges", "session_id IN {sessions}", None),
    ("steps", "session_id IN {sessions}", Some(|report| &mut report.steps)),
    ("session_states", "session_id IN {sessions}", Some(|report| &mut report.sessions)),
    ("hook_steps", "client_session_id IN {hook_sessions_with_actions}", Some(|report| &mut report.hook_steps)),
    ("hook_courses", "client_session_id IN {hook_sessions}", None),
    ("hook_checks", "client_session_id IN {hook_sessions}", Some(|report| &mut report.hook_checks)),
    ("hook_sessions", "client_session_id IN {hook_sessions}", Some(|report| &mut report.hook_sessions)),
    ("hook_guards", "at < ?3 AND client_session_id NOT IN (SELECT client_session_id FROM hook_sessions WHERE NOT \
      ({is_hook_over} AND updated_at < ?3))", Some(|report| &mut report.guarded)),
    ("drift_log", "id IN (SELECT id FROM drift_log WHERE timestamp < ?3 LIMIT ?7)",
     Some(|report| &mut report.drift_events)),
    ("drift_states", "client_session_id IN (SELECT client_session_id FROM drift_states WHERE updated_at < ?3 \
      AND {has_no_session} LIMIT ?7)",
     Some(|report| &mut report.drift_states)),
    ("corrections", "(client_session_id, id) IN (SELECT client_session_id, id FROM corrections WHERE made_at < ?3 \
      AND {has_no_session} LIMIT ?7)",
     Some(|report| &mut report.corrections)),
    ("goal_edits", "(client_session_id, id) IN (SELECT client_session_id, id FROM goal_edits WHERE at < ?3 \
      AND {has_no_session} LIMIT ?7)",
     Some(|report| &mut report.goal_edits)),
    ("context_readings", "measured_at < ?5", None),
    ("prepared_summaries", "made_at < ?5", None),
    ("read_limits", "read_at < ?5", None),
    ("compactions", "at < ?5", None),
    ("llm_calls", "id IN (SELECT id FROM llm_calls WHERE at < ?4 LIMIT ?7)", Some(|report| &mut report.llm_calls)),
    ("ledger_lineages", "id IN (SELECT id FROM ledger_lineages WHERE seen_at < ?5 ORDER BY seen_at LIMIT ?6)",
     Some(|report| &mut report.lineages)),
    // Switches of sessions without lineages.
    ("switched_off", "kind = 'session' AND at < ?5 AND key NOT IN (SELECT client_session_id FROM ledger_lineages) \
      AND key NOT IN (SELECT client_session_id FROM session_states WHERE last_update >= ?5)", None),
    ("forgotten", "at < ?5", None),
    ("session_ends", "at < ?3 AND {has_no_session}", None),
];

#[async_trait]
impl MaintenanceStore for SqliteStore {
    async fn stats(&self) -> Result<StoreStats, StoreError> {
        let counts = TABLES.map(|table| {
            let condition = if table == "exchanges" {
                " WHERE moved_to IS NULL"
            } else {
                ""
            };
            format!("SELECT '{table}' AS \"table\", count(*) AS rows FROM {table}{condition}")
        });
        let mut connection = self.connection().await?;
        let schema_version = connection.schema_version().await?;
        let tables = connection
            .read(AssertSqlSafe(counts.join(" UNION ALL ")), params![], |row| {
                Ok(from_row!(row => TableStats { table, rows }))
            })
            .await?;
        let bytes = ["", "-wal", "-shm"]
            .iter()
            .filter_map(|suffix| std::fs::metadata(files::with_suffix(&self.path, suffix)).ok())
            .map(|metadata| metadata.len())
            .sum();
        Ok(StoreStats {
            backend: "sqlite".to_owned(),
            location: self.path.display().to_string(),
            schema_version,
            bytes,
            spooled: Spool::for_database(&self.path).waiting(),
            tables,
        })
    }

    async fn prune(
        &self,
        retention: &Retention,
        now: OffsetDateTime,
        dry_run: bool,
    ) -> Result<PruneReport, StoreError> {
        let before = |age| millis(now).saturating_sub(duration_millis(age));
        let values = |sessions: i64, rows: i64| {
            params![
                before(retention.completed_sessions),
                before(retention.idle_sessions),
                before(retention.drift_log),
                before(retention.spending),
                before(retention.ledger),
                sessions,
                rows,
            ]
        };
        let mut report = PruneReport::default();
        if dry_run {
            let mut connection = self.connection().await?;
            for (table, condition, count) in REMOVALS {
                let Some(count) = count else { continue };
                let sql = format!("SELECT count(*) FROM {table} WHERE {condition}");
                // A negative LIMIT means no limit.
                let rows: Option<u64> = connection.value(expanded(&sql, PARTS), values(-1, -1)).await?;
                *count(&mut report) = rows.unwrap_or(0);
            }
            return Ok(report);
        }
        let mut is_done = false;
        while !is_done {
            is_done = true;
            let mut transaction = self.begin().await?;
            for (table, condition, count) in REMOVALS {
                let sql = format!("DELETE FROM {table} WHERE {condition}");
                let limits = values(SESSIONS_PER_TRANSACTION, ROWS_PER_TRANSACTION);
                let removed = transaction.execute(expanded(&sql, PARTS), limits).await?;
                is_done &= removed == 0;
                if let Some(count) = count {
                    *count(&mut report) += removed;
                }
            }
            transaction.commit().await?;
        }
        let mut transaction = self.begin().await?;
        items::remove_ended(&mut transaction, now).await?;
        transaction.commit().await?;
        self.shrink().await?;
        Ok(report)
    }

    async fn scrub_secrets(&self) -> Result<(), StoreError> {
        SqliteStore::scrub_secrets(self).await
    }
}

impl SqliteStore {
    /// Shrinks the file by the pages that pruning freed, a few at a time.
    async fn shrink(&self) -> Result<(), StoreError> {
        let mut before = i64::MAX;
        loop {
            let mut connection = self.connection().await?;
            connection
                .execute("PRAGMA incremental_vacuum(256)", params![])
                .await?;
            let free: Option<i64> = connection.value("PRAGMA freelist_count", params![]).await?;
            let free = free.unwrap_or(0);
            if free == 0 || free >= before {
                return connection.execute("PRAGMA optimize", params![]).await.map(drop);
            }
            before = free;
        }
    }
}
