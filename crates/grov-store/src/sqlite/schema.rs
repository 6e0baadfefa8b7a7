//! The schema and its migrations: numbered files, applied in order, never changed after a release.

use super::columns::params;
use super::connection::Connection;
use super::memory;
use crate::files;
use grov_domain::StoreError;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Executor, Row};
use std::time::Duration;

/// Migration N is at index N - 1.
const MIGRATIONS: [&str; 27] = [
    include_str!("../../../../migrations/sqlite/0001_records.sql"),
    include_str!("../../../../migrations/sqlite/0002_understanding.sql"),
    include_str!("../../../../migrations/sqlite/0003_memory.sql"),
    include_str!("../../../../migrations/sqlite/0004_ledger.sql"),
    include_str!("../../../../migrations/sqlite/0005_postings.sql"),
    include_str!("../../../../migrations/sqlite/0006_vectors.sql"),
    include_str!("../../../../migrations/sqlite/0007_drift.sql"),
    include_str!("../../../../migrations/sqlite/0008_hooks.sql"),
    include_str!("../../../../migrations/sqlite/0009_courses.sql"),
    include_str!("../../../../migrations/sqlite/0010_cleaning.sql"),
    include_str!("../../../../migrations/sqlite/0011_screening.sql"),
    include_str!("../../../../migrations/sqlite/0012_routed_usage.sql"),
    include_str!("../../../../migrations/sqlite/0013_memory_edits.sql"),
    include_str!("../../../../migrations/sqlite/0014_activity.sql"),
    include_str!("../../../../migrations/sqlite/0015_context.sql"),
    include_str!("../../../../migrations/sqlite/0016_cuts.sql"),
    include_str!("../../../../migrations/sqlite/0017_memory_items.sql"),
    include_str!("../../../../migrations/sqlite/0018_finding_marks.sql"),
    include_str!("../../../../migrations/sqlite/0019_links.sql"),
    include_str!("../../../../migrations/sqlite/0020_link_times.sql"),
    include_str!("../../../../migrations/sqlite/0021_request_edits.sql"),
    include_str!("../../../../migrations/sqlite/0022_recent_sessions.sql"),
    include_str!("../../../../migrations/sqlite/0023_read_limits.sql"),
    include_str!("../../../../migrations/sqlite/0024_model_screening.sql"),
    include_str!("../../../../migrations/sqlite/0025_prompt_readings.sql"),
    include_str!("../../../../migrations/sqlite/0026_event_outcomes.sql"),
    include_str!("../../../../migrations/sqlite/0027_goal_edits_since.sql"),
];

/// The migration that created the memory index, which is then filled from the stored tasks.
const MEMORY_INDEX: i64 = 5;

/// The first schema version in which texts are redacted before anything is derived from them.
const REDACTED_FIRST: i64 = 10;

/// The newest known schema version.
pub(super) const KNOWN: i64 = MIGRATIONS.len() as i64;

/// Reads the schema version of an open database; 0 for an empty one.
pub(super) async fn version(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    connection.fetch_one("PRAGMA user_version").await?.try_get(0)
}

/// Migrates the database to [`KNOWN`], under a lock on a file next to the database.
pub(super) async fn migrate(connection: &mut Connection<'_>, timeout: Duration) -> Result<(), StoreError> {
    let path = connection.store().path();
    let _lock = files::lock_database(path, timeout)
        .await
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::WouldBlock => StoreError::Busy(format!("{}: {error}", path.display())),
            _ => StoreError::NotWritable(format!("{}: {error}", path.display())),
        })?;
    let found = connection.schema_version().await?;
    if found == 0 {
        prepare(connection).await?;
    }
    if found < KNOWN {
        apply(connection, found).await?;
    }
    Ok(())
}

/// Applies settings that are stored in the file. They take effect only before the first table is created and outside of
/// a transaction.
///
/// Until the write-ahead log is enabled there is no journal on disk: SQLite finds a journal by name, and a process that
/// still has a damaged database open which was set aside would use this journal as its own and delete it.
async fn prepare(connection: &mut Connection<'_>) -> Result<(), StoreError> {
    connection
        .execute("PRAGMA journal_mode = MEMORY", params![])
        .await?;
    connection
        .execute("PRAGMA auto_vacuum = INCREMENTAL", params![])
        .await?;
    let mode: Option<String> = connection.value("PRAGMA journal_mode = WAL", params![]).await?;
    if mode.as_deref() != Some("wal") {
        // Some network file systems do not support it.
        connection
            .execute("PRAGMA journal_mode = DELETE", params![])
            .await?;
    }
    Ok(())
}

/// Applies the migrations after `found`, all or none.
async fn apply(connection: &mut Connection<'_>, found: i64) -> Result<(), StoreError> {
    // If this fails, the caller drops the connection, which rolls back.
    connection.execute("BEGIN IMMEDIATE", params![]).await?;
    for (number, migration) in (1..).zip(MIGRATIONS) {
        if number > found {
            connection.run_script(migration).await?;
        }
    }
    // After the last migration, because tasks are read in the current schema.
    if found < MEMORY_INDEX {
        memory::fill(connection).await?;
    }
    if (1..REDACTED_FIRST).contains(&found) {
        // Scrubbed later, by a process that has time for it: see `scrub_secrets`.
        connection
            .execute("INSERT INTO cleaning (what) VALUES ('rows')", params![])
            .await?;
    }
    // A pragma takes no bound value; the number is ours.
    let record = AssertSqlSafe(format!("PRAGMA user_version = {KNOWN}; COMMIT"));
    connection.execute(record, params![]).await.map(drop)
}
