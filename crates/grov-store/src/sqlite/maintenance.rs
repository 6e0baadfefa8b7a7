//! Size, state and age of a store.

use super::values::{Columns, duration_millis, millis};
use super::{SqliteStore, StoreError, schema};
use crate::Spool;
use crate::files;
use async_trait::async_trait;
use grov_domain::{IntentFn, MaintenanceStore, PruneReport, Retention, StoreStats, TableStats};
use sqlx::sqlite::SqliteConnection;
use sqlx::{Executor, Row};
use time::OffsetDateTime;

/// Rows removed per transaction: in between, other processes get their turn.
const SESSIONS_AT_ONCE: u32 = 16;
const EVENTS_AT_ONCE: u32 = 1600;

/// Sessions that are over: completed or abandoned and last updated before `?1`, or idle since before `?2`.
macro_rules! sessions_over {
    () => {
        "(status <> 'active' AND last_update < ?1) OR (status = 'active' AND last_update < ?2)"
    };
}

/// Sessions of hooks that are over, in the same way.
macro_rules! hooks_over {
    () => {
        "((ended_at IS NOT NULL AND updated_at < ?1) OR (ended_at IS NULL AND updated_at < ?2))"
    };
}

/// Removes `?2` rows of a table, by its key, that are older than `?1` and of whose client session no task is left.
macro_rules! watched {
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
        const COUNTS: &str = "SELECT 'session_states' AS name, count(*) AS size FROM session_states \
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
        let mut reader = self.reader().await?;
        let schema_version = schema::version(reader.connection()?)
            .await
            .map_err(|error| self.error(error))?;
        let rows = reader.rows(self, sqlx::query(COUNTS)).await?;
        let tables = rows
            .iter()
            .map(|row| {
                let columns = Columns(row);
                Ok(TableStats {
                    table: columns.get("name")?,
                    rows: columns.count("size")?,
                })
            })
            .collect::<Result<_, StoreError>>()?;
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

    async fn needs_cleaning(&self) -> Result<bool, StoreError> {
        SqliteStore::needs_cleaning(self).await
    }

    async fn clean(&self, read: IntentFn<'_>) -> Result<(), StoreError> {
        SqliteStore::clean(self, read).await
    }
}

/// What is older, in Unix milliseconds, goes.
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
        let query = sqlx::query(SQL)
            .bind(cutoffs.over)
            .bind(cutoffs.idle)
            .bind(cutoffs.drift)
            .bind(cutoffs.spending)
            .bind(cutoffs.ledger);
        let rows = self.reader().await?.rows(self, query).await?;
        let mut report = PruneReport::default();
        for row in &rows {
            let columns = Columns(row);
            report.sessions = columns.count("sessions")?;
            report.exchanges = columns.count("exchanges")?;
            report.steps = columns.count("steps")?;
            report.drift_events = columns.count("drift_events")?;
            report.drift_states = columns.count("drift_states")?;
            report.corrections = columns.count("corrections")?;
            report.goal_edits = columns.count("goal_edits")?;
            report.hook_sessions = columns.count("hook_sessions")?;
            report.hook_steps = columns.count("hook_steps")?;
            report.hook_checks = columns.count("hook_checks")?;
            report.guarded = columns.count("guarded")?;
            report.llm_calls = columns.count("llm_calls")?;
            report.lineages = columns.count("lineages")?;
        }
        Ok(report)
    }

    async fn remove_old(&self, cutoffs: &Cutoffs) -> Result<PruneReport, StoreError> {
        let fault = |error| self.error(error);
        let mut report = PruneReport::default();
        loop {
            let mut writer = self.writer().await?;
            let sessions = remove_sessions(writer.connection()?, cutoffs, &mut report)
                .await
                .map_err(fault)?;
            let events = remove_events(writer.connection()?, cutoffs)
                .await
                .map_err(fault)?;
            let watched = remove_watched(writer.connection()?, cutoffs, &mut report)
                .await
                .map_err(fault)?;
            let hooks = remove_hooks(writer.connection()?, cutoffs, &mut report)
                .await
                .map_err(fault)?;
            let calls = remove_calls(writer.connection()?, cutoffs).await.map_err(fault)?;
            let lineages = remove_lineages(writer.connection()?, cutoffs)
                .await
                .map_err(fault)?;
            writer.commit().await.map_err(fault)?;
            report.sessions += sessions;
            report.drift_events += events;
            report.llm_calls += calls;
            report.lineages += lineages;
            if sessions.max(lineages).max(hooks) < u64::from(SESSIONS_AT_ONCE)
                && events.max(calls).max(watched) < u64::from(EVENTS_AT_ONCE)
            {
                break;
            }
        }
        self.give_space_back().await?;
        Ok(report)
    }

    /// Shrinks the file by the pages that pruning freed, a few at a time.
    async fn give_space_back(&self) -> Result<(), StoreError> {
        let fault = |error| self.error(error);
        let mut before = i64::MAX;
        loop {
            let mut reader = self.reader().await?;
            let connection = reader.connection()?;
            connection
                .execute("PRAGMA incremental_vacuum(256)")
                .await
                .map_err(fault)?;
            let free = connection
                .fetch_one("PRAGMA freelist_count")
                .await
                .map_err(fault)?;
            let free: i64 = free.try_get(0).map_err(fault)?;
            if free == 0 || free >= before {
                connection.execute("PRAGMA optimize").await.map_err(fault)?;
                return Ok(());
            }
            before = free;
        }
    }
}

async fn remove_sessions(
    connection: &mut SqliteConnection,
    cutoffs: &Cutoffs,
    report: &mut PruneReport,
) -> Result<u64, sqlx::Error> {
    const SQL: &str = concat!(
        "SELECT session_id FROM session_states WHERE ",
        sessions_over!(),
        " ORDER BY last_update LIMIT ?3"
    );
    let gone = sqlx::query(SQL)
        .bind(cutoffs.over)
        .bind(cutoffs.idle)
        .bind(SESSIONS_AT_ONCE)
        .fetch_all(&mut *connection)
        .await?;
    for row in &gone {
        let session: &str = row.try_get(0)?;
        sqlx::query(
            "DELETE FROM step_files WHERE (path, timestamp, session_id, step_id) IN \
             (SELECT f.value, st.timestamp, st.session_id, st.id FROM steps st, json_each(st.files) f \
              WHERE st.session_id = ?1); \
             DELETE FROM prompts WHERE session_id = ?1",
        )
        .bind(session)
        .execute(&mut *connection)
        .await?;
        let exchanges =
            sqlx::query("DELETE FROM exchanges WHERE session_id = ? AND moved_to IS NULL").bind(session);
        report.exchanges += exchanges.execute(&mut *connection).await?.rows_affected();
        // What went to another task was counted, or will be, with that one.
        let elsewhere = sqlx::query("DELETE FROM exchanges WHERE session_id = ?").bind(session);
        elsewhere.execute(&mut *connection).await?;
        let steps = sqlx::query("DELETE FROM steps WHERE session_id = ?").bind(session);
        report.steps += steps.execute(&mut *connection).await?.rows_affected();
        sqlx::query("DELETE FROM session_states WHERE session_id = ?")
            .bind(session)
            .execute(&mut *connection)
            .await?;
    }
    Ok(gone.len() as u64)
}

async fn remove_events(connection: &mut SqliteConnection, cutoffs: &Cutoffs) -> Result<u64, sqlx::Error> {
    let events = sqlx::query(
        "DELETE FROM drift_log WHERE id IN (SELECT id FROM drift_log WHERE timestamp < ? LIMIT ?)",
    );
    Ok(events
        .bind(cutoffs.drift)
        .bind(EVENTS_AT_ONCE)
        .execute(connection)
        .await?
        .rows_affected())
}

/// Removes what the watch over the goal keeps of client sessions, once it is as old as the log may get and none of their
/// tasks is left. Returns how many rows went from the table that lost most.
async fn remove_watched(
    connection: &mut SqliteConnection,
    cutoffs: &Cutoffs,
    report: &mut PruneReport,
) -> Result<u64, sqlx::Error> {
    let statements = [
        (
            watched!("drift_states", "client_session_id", "updated_at"),
            &mut report.drift_states,
        ),
        (
            watched!("corrections", "client_session_id, id", "made_at"),
            &mut report.corrections,
        ),
        (
            watched!("goal_edits", "client_session_id, id", "at"),
            &mut report.goal_edits,
        ),
    ];
    let mut most = 0;
    for (statement, count) in statements {
        let removed = sqlx::query(statement)
            .bind(cutoffs.drift)
            .bind(EVENTS_AT_ONCE)
            .execute(&mut *connection)
            .await?
            .rows_affected();
        *count += removed;
        most = most.max(removed);
    }
    Ok(most)
}

/// Removes the actions of sessions of hooks that are over, and the sessions with what was found in them once that is as
/// old as the log may get. What a guard said goes then too, and by its own age where hooks keep no session. Returns how
/// many sessions were concerned.
async fn remove_hooks(
    connection: &mut SqliteConnection,
    cutoffs: &Cutoffs,
    report: &mut PruneReport,
) -> Result<u64, sqlx::Error> {
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
    let over = sqlx::query(OVER)
        .bind(cutoffs.over)
        .bind(cutoffs.idle)
        .bind(SESSIONS_AT_ONCE)
        .fetch_all(&mut *connection)
        .await?;
    for row in &over {
        let session: &str = row.try_get(0)?;
        let steps = sqlx::query("DELETE FROM hook_steps WHERE client_session_id = ?").bind(session);
        report.hook_steps += steps.execute(&mut *connection).await?.rows_affected();
    }
    let gone = sqlx::query(GONE)
        .bind(cutoffs.over)
        .bind(cutoffs.idle)
        .bind(cutoffs.drift)
        .bind(SESSIONS_AT_ONCE)
        .fetch_all(&mut *connection)
        .await?;
    for row in &gone {
        let session: &str = row.try_get(0)?;
        let course = sqlx::query("DELETE FROM hook_courses WHERE client_session_id = ?").bind(session);
        course.execute(&mut *connection).await?;
        let checks = sqlx::query("DELETE FROM hook_checks WHERE client_session_id = ?").bind(session);
        report.hook_checks += checks.execute(&mut *connection).await?.rows_affected();
    }
    report.hook_sessions += gone.len() as u64;
    let guards = sqlx::query(
        "DELETE FROM hook_guards WHERE at < ? \
         AND client_session_id NOT IN (SELECT client_session_id FROM hook_sessions)",
    )
    .bind(cutoffs.drift);
    report.guarded += guards.execute(connection).await?.rows_affected();
    Ok(over.len().max(gone.len()) as u64)
}

async fn remove_calls(connection: &mut SqliteConnection, cutoffs: &Cutoffs) -> Result<u64, sqlx::Error> {
    let calls =
        sqlx::query("DELETE FROM llm_calls WHERE id IN (SELECT id FROM llm_calls WHERE at < ? LIMIT ?)");
    Ok(calls
        .bind(cutoffs.spending)
        .bind(EVENTS_AT_ONCE)
        .execute(connection)
        .await?
        .rows_affected())
}

/// Removes lineages that were not seen for long, with what was decided for them, the switches of sessions that have
/// none left and were turned off as long ago, and what was noted of memories that were forgotten as long ago.
async fn remove_lineages(connection: &mut SqliteConnection, cutoffs: &Cutoffs) -> Result<u64, sqlx::Error> {
    let lineages = sqlx::query(
        "DELETE FROM ledger_lineages WHERE id IN \
         (SELECT id FROM ledger_lineages WHERE seen_at < ? ORDER BY seen_at LIMIT ?)",
    )
    .bind(cutoffs.ledger)
    .bind(SESSIONS_AT_ONCE)
    .execute(&mut *connection)
    .await?
    .rows_affected();
    sqlx::query(
        "DELETE FROM switched_off WHERE kind = 'session' AND at < ?1 AND key NOT IN \
         (SELECT client_session_id FROM ledger_lineages) AND key NOT IN \
         (SELECT client_session_id FROM session_states WHERE last_update >= ?1); \
         DELETE FROM forgotten WHERE at < ?1",
    )
    .bind(cutoffs.ledger)
    .execute(connection)
    .await?;
    Ok(lineages)
}
