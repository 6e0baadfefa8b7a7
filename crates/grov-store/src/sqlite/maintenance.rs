//! Size, state and age of a store.

use super::columns::{RowExt, duration_millis, from_row, millis, params};
use super::connection::Connection;
use super::{SqliteStore, StoreError};
use crate::{Spool, files};
use async_trait::async_trait;
use grov_domain::{MaintenanceStore, PruneReport, Retention, StoreStats, TableStats};
use time::OffsetDateTime;

/// Rows removed per transaction: in between, other processes can write.
const SESSIONS_AT_ONCE: u32 = 16;
const ROWS_AT_ONCE: u32 = 1600;

/// Condition for sessions that are over: completed or abandoned and last updated before `?1`, or idle since before `?2`.
macro_rules! sessions_over {
    () => {
        "(status <> 'active' AND last_update < ?1) OR (status = 'active' AND last_update < ?2)"
    };
}

/// The same condition for hook sessions.
macro_rules! hooks_over {
    () => {
        "((ended_at IS NOT NULL AND updated_at < ?1) OR (ended_at IS NULL AND updated_at < ?2))"
    };
}

/// Removes `?2` rows of a table, by its key, that are older than `?1` and whose client session has no task left.
macro_rules! without_session {
    ($table:literal, $key:literal, $time:literal) => {
        concat!(
            "DELETE FROM ",
            $table,
            " WHERE (",
            $key,
            ") IN (SELECT ",
            $key,
            " FROM ",
            $table,
            " WHERE ",
            $time,
            " < ?1 AND client_session_id NOT IN (SELECT client_session_id FROM session_states) LIMIT ?2)"
        )
    };
}

#[async_trait]
impl MaintenanceStore for SqliteStore {
    async fn stats(&self) -> Result<StoreStats, StoreError> {
        const COUNTS: &str = "SELECT 'session_states' AS \"table\", count(*) AS rows FROM session_states \
             UNION ALL SELECT 'exchanges', count(*) FROM exchanges WHERE moved_to IS NULL \
             UNION ALL SELECT 'prompts', count(*) FROM prompts \
             UNION ALL SELECT 'steps', count(*) FROM steps \
             UNION ALL SELECT 'tasks', count(*) FROM tasks \
             UNION ALL SELECT 'drift_log', count(*) FROM drift_log \
             UNION ALL SELECT 'drift_states', count(*) FROM drift_states \
             UNION ALL SELECT 'corrections', count(*) FROM corrections \
             UNION ALL SELECT 'goal_edits', count(*) FROM goal_edits \
             UNION ALL SELECT 'file_reasoning', count(*) FROM file_reasoning \
             UNION ALL SELECT 'hook_sessions', count(*) FROM hook_sessions \
             UNION ALL SELECT 'hook_courses', count(*) FROM hook_courses \
             UNION ALL SELECT 'hook_steps', count(*) FROM hook_steps \
             UNION ALL SELECT 'hook_checks', count(*) FROM hook_checks \
             UNION ALL SELECT 'hook_guards', count(*) FROM hook_guards \
             UNION ALL SELECT 'llm_calls', count(*) FROM llm_calls \
             UNION ALL SELECT 'memory_scopes', count(*) FROM memory_scopes \
             UNION ALL SELECT 'memory_documents', count(*) FROM memory_documents \
             UNION ALL SELECT 'task_embeddings', coalesce(sum(tasks), 0) FROM embedding_models \
             UNION ALL SELECT 'ledger_lineages', count(*) FROM ledger_lineages \
             UNION ALL SELECT 'ledger_entries', count(*) FROM ledger_entries \
             UNION ALL SELECT 'ledger_memories', count(*) FROM ledger_memories \
             UNION ALL SELECT 'ledger_tips', count(*) FROM ledger_tips \
             UNION ALL SELECT 'switched_off', count(*) FROM switched_off \
             UNION ALL SELECT 'forgotten', count(*) FROM forgotten";
        let mut connection = self.connection().await?;
        let schema_version = connection.schema_version().await?;
        let tables = connection
            .read(COUNTS, params![], |row| {
                Ok(from_row!(row => TableStats { table, rows }))
            })
            .await?;
        let bytes = ["", "-wal", "-shm"]
            .iter()
            .filter_map(|suffix| std::fs::metadata(files::beside(&self.path, suffix)).ok())
            .map(|metadata| metadata.len())
            .sum();
        Ok(StoreStats {
            backend: "sqlite".to_owned(),
            location: self.path.display().to_string(),
            schema_version,
            bytes,
            spooled: Spool::beside(&self.path).waiting(),
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
        let cutoffs = Cutoffs {
            over: before(retention.completed_sessions),
            idle: before(retention.idle_sessions),
            drift: before(retention.drift_log),
            spending: before(retention.spending),
            ledger: before(retention.ledger),
        };
        if dry_run {
            self.count_old(&cutoffs).await
        } else {
            self.remove_old(&cutoffs).await
        }
    }

    async fn scrub_secrets(&self) -> Result<(), StoreError> {
        SqliteStore::scrub_secrets(self).await
    }
}

/// Rows older than these times, in Unix milliseconds, are removed.
struct Cutoffs {
    over: i64,
    idle: i64,
    drift: i64,
    spending: i64,
    ledger: i64,
}

impl SqliteStore {
    async fn count_old(&self, cutoffs: &Cutoffs) -> Result<PruneReport, StoreError> {
        const SQL: &str = concat!(
            "WITH gone AS (SELECT session_id FROM session_states WHERE ",
            sessions_over!(),
            "), stays AS (SELECT client_session_id FROM session_states WHERE session_id NOT IN gone), \
             hooks_over AS (SELECT client_session_id, updated_at < ?3 AS goes FROM hook_sessions WHERE ",
            hooks_over!(),
            "), hooks_gone AS (SELECT client_session_id FROM hooks_over WHERE goes) \
             SELECT (SELECT count(*) FROM gone) AS sessions, \
             (SELECT count(*) FROM exchanges WHERE session_id IN gone AND moved_to IS NULL) AS exchanges, \
             (SELECT count(*) FROM steps WHERE session_id IN gone) AS steps, \
             (SELECT count(*) FROM drift_log WHERE timestamp < ?3) AS drift_events, \
             (SELECT count(*) FROM drift_states WHERE updated_at < ?3 AND client_session_id NOT IN stays) \
              AS drift_states, \
             (SELECT count(*) FROM corrections WHERE made_at < ?3 AND client_session_id NOT IN stays) AS corrections, \
             (SELECT count(*) FROM goal_edits WHERE at < ?3 AND client_session_id NOT IN stays) AS goal_edits, \
             (SELECT count(*) FROM hooks_gone) AS hook_sessions, \
             (SELECT count(*) FROM hook_steps \
              WHERE client_session_id IN (SELECT client_session_id FROM hooks_over)) AS hook_steps, \
             (SELECT count(*) FROM hook_checks WHERE client_session_id IN hooks_gone) AS hook_checks, \
             (SELECT count(*) FROM hook_guards WHERE at < ?3 AND (client_session_id IN hooks_gone \
              OR client_session_id NOT IN (SELECT client_session_id FROM hook_sessions))) AS guarded, \
             (SELECT count(*) FROM llm_calls WHERE at < ?4) AS llm_calls, \
             (SELECT count(*) FROM ledger_lineages WHERE seen_at < ?5) AS lineages"
        );
        let Cutoffs {
            over,
            idle,
            drift,
            spending,
            ledger,
        } = cutoffs;
        let counts = self.read(SQL, params![over, idle, drift, spending, ledger], |row| {
            Ok(from_row!(row => PruneReport {
                sessions, exchanges, steps, drift_events, drift_states, corrections, goal_edits, hook_sessions,
                hook_steps, hook_checks, guarded, llm_calls, lineages,
            }))
        });
        Ok(counts.await?.pop().unwrap_or_default())
    }

    async fn remove_old(&self, cutoffs: &Cutoffs) -> Result<PruneReport, StoreError> {
        let mut report = PruneReport::default();
        let mut is_done = false;
        while !is_done {
            let mut transaction = self.begin().await?;
            is_done = remove_some(&mut transaction, cutoffs, &mut report).await?;
            transaction.commit().await?;
        }
        self.shrink().await?;
        Ok(report)
    }

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

/// Removes some old rows of every kind. Whether none are left.
async fn remove_some(
    connection: &mut Connection<'_>,
    cutoffs: &Cutoffs,
    report: &mut PruneReport,
) -> Result<bool, StoreError> {
    let mut is_done = remove_sessions(connection, cutoffs, report).await?;
    is_done &= remove_hook_sessions(connection, cutoffs, report).await?;
    let removals = [
        (
            "DELETE FROM drift_log WHERE id IN (SELECT id FROM drift_log WHERE timestamp < ?1 LIMIT ?2)",
            cutoffs.drift,
            ROWS_AT_ONCE,
            &mut report.drift_events,
        ),
        (
            without_session!("drift_states", "client_session_id", "updated_at"),
            cutoffs.drift,
            ROWS_AT_ONCE,
            &mut report.drift_states,
        ),
        (
            without_session!("corrections", "client_session_id, id", "made_at"),
            cutoffs.drift,
            ROWS_AT_ONCE,
            &mut report.corrections,
        ),
        (
            without_session!("goal_edits", "client_session_id, id", "at"),
            cutoffs.drift,
            ROWS_AT_ONCE,
            &mut report.goal_edits,
        ),
        (
            "DELETE FROM llm_calls WHERE id IN (SELECT id FROM llm_calls WHERE at < ?1 LIMIT ?2)",
            cutoffs.spending,
            ROWS_AT_ONCE,
            &mut report.llm_calls,
        ),
        (
            "DELETE FROM ledger_lineages WHERE id IN \
             (SELECT id FROM ledger_lineages WHERE seen_at < ?1 ORDER BY seen_at LIMIT ?2)",
            cutoffs.ledger,
            SESSIONS_AT_ONCE,
            &mut report.lineages,
        ),
    ];
    for (statement, before, limit, count) in removals {
        let removed = connection.execute(statement, params![before, limit]).await?;
        *count += removed;
        is_done &= removed < u64::from(limit);
    }
    // The switches of sessions without lineages, and the ids of memories that were forgotten as long ago.
    connection
        .execute(
            "DELETE FROM switched_off WHERE kind = 'session' AND at < ?1 AND key NOT IN \
             (SELECT client_session_id FROM ledger_lineages) AND key NOT IN \
             (SELECT client_session_id FROM session_states WHERE last_update >= ?1); \
             DELETE FROM forgotten WHERE at < ?1",
            params![cutoffs.ledger],
        )
        .await?;
    Ok(is_done)
}

/// Removes some sessions with their records. Whether none are left.
async fn remove_sessions(
    connection: &mut Connection<'_>,
    cutoffs: &Cutoffs,
    report: &mut PruneReport,
) -> Result<bool, StoreError> {
    const SQL: &str = concat!(
        "SELECT session_id FROM session_states WHERE ",
        sessions_over!(),
        " ORDER BY last_update LIMIT ?3"
    );
    let limits = params![cutoffs.over, cutoffs.idle, SESSIONS_AT_ONCE];
    let gone: Vec<String> = connection.read(SQL, limits, |row| row.read(0)).await?;
    for session in &gone {
        connection
            .execute(
                "DELETE FROM step_files WHERE (path, timestamp, session_id, step_id) IN \
                 (SELECT f.value, st.timestamp, st.session_id, st.id FROM steps st, json_each(st.files) f \
                  WHERE st.session_id = ?1); \
                 DELETE FROM prompts WHERE session_id = ?1",
                params![session],
            )
            .await?;
        let exchanges = "DELETE FROM exchanges WHERE session_id = ? AND moved_to IS NULL";
        report.exchanges += connection.execute(exchanges, params![session]).await?;
        // Exchanges that moved to another task were counted, or will be, with that one.
        let moved = "DELETE FROM exchanges WHERE session_id = ?";
        connection.execute(moved, params![session]).await?;
        let steps = "DELETE FROM steps WHERE session_id = ?";
        report.steps += connection.execute(steps, params![session]).await?;
        let state = "DELETE FROM session_states WHERE session_id = ?";
        connection.execute(state, params![session]).await?;
    }
    report.sessions += gone.len() as u64;
    Ok(gone.len() < SESSIONS_AT_ONCE as usize)
}

/// Removes the actions of some hook sessions that are over, and the sessions with their checks once they are as old as the
/// drift log may get. Verdicts of the guard go with their session, or by their own age without one. Whether none are left.
async fn remove_hook_sessions(
    connection: &mut Connection<'_>,
    cutoffs: &Cutoffs,
    report: &mut PruneReport,
) -> Result<bool, StoreError> {
    const OVER: &str = concat!(
        "SELECT client_session_id FROM hook_sessions h WHERE ",
        hooks_over!(),
        " AND EXISTS (SELECT 1 FROM hook_steps st WHERE st.client_session_id = h.client_session_id) LIMIT ?3"
    );
    const GONE: &str = concat!(
        "DELETE FROM hook_sessions WHERE rowid IN (SELECT h.rowid FROM hook_sessions h WHERE ",
        hooks_over!(),
        " AND updated_at < ?3 AND NOT EXISTS (SELECT 1 FROM hook_steps st \
         WHERE st.client_session_id = h.client_session_id) LIMIT ?4) RETURNING client_session_id"
    );
    let Cutoffs {
        over, idle, drift, ..
    } = cutoffs;
    let limits = params![over, idle, SESSIONS_AT_ONCE];
    let over_sessions: Vec<String> = connection.read(OVER, limits, |row| row.read(0)).await?;
    for session in &over_sessions {
        let steps = "DELETE FROM hook_steps WHERE client_session_id = ?";
        report.hook_steps += connection.execute(steps, params![session]).await?;
    }
    let limits = params![over, idle, drift, SESSIONS_AT_ONCE];
    let gone: Vec<String> = connection.read(GONE, limits, |row| row.read(0)).await?;
    for session in &gone {
        let course = "DELETE FROM hook_courses WHERE client_session_id = ?";
        connection.execute(course, params![session]).await?;
        let checks = "DELETE FROM hook_checks WHERE client_session_id = ?";
        report.hook_checks += connection.execute(checks, params![session]).await?;
    }
    report.hook_sessions += gone.len() as u64;
    let guards = "DELETE FROM hook_guards WHERE at < ? \
         AND client_session_id NOT IN (SELECT client_session_id FROM hook_sessions)";
    report.guarded += connection.execute(guards, params![drift]).await?;
    Ok(over_sessions.len().max(gone.len()) < SESSIONS_AT_ONCE as usize)
}
