//! The schema and its migrations: numbered files, applied in order, never changed once released.

use super::{memory, store_error};
use crate::files;
use grov_domain::StoreError;
use sqlx::sqlite::SqliteConnection;
use sqlx::{Executor, Row};
use std::path::Path;
use std::time::Duration;

/// Migration N stands at index N - 1.
const MIGRATIONS: [&str; 10] = [
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
];

/// The migration after which the index of memory has to be filled from the tasks that are there.
const MEMORY_INDEX: i64 = 5;

/// The migration before which words were cut out of texts that still had their secrets.
const REDACTED_FIRST: i64 = 10;

/// The newest schema this program knows.
pub(super) const KNOWN: i64 = MIGRATIONS.len() as i64;

/// The schema of an open database; 0 for an empty one.
pub(super) async fn version(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    connection.fetch_one("PRAGMA user_version").await?.try_get(0)
}

/// Brings the database to [`KNOWN`]. One process at a time, under a lock on a file beside the database.
pub(super) async fn migrate(
    path: &Path,
    connection: &mut SqliteConnection,
    patience: Duration,
) -> Result<(), StoreError> {
    let _lock = files::lock_database(path, patience)
        .await
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::WouldBlock => StoreError::Busy(format!("{}: {error}", path.display())),
            _ => StoreError::NotWritable(format!("{}: {error}", path.display())),
        })?;
    let fault = |error| store_error(path, error);
    let found = version(connection).await.map_err(fault)?;
    if found == 0 {
        prepare(connection).await.map_err(fault)?;
    }
    if found < KNOWN {
        apply(connection, found).await.map_err(fault)?;
    }
    Ok(())
}

/// Settings that are kept in the file. They take effect only before the first table and outside a transaction.
///
/// Until the write-ahead log is on there is no journal on disk: SQLite finds a journal by its name, and a process that
/// still holds a damaged database which was set aside would take this one's for its own, and delete it.
async fn prepare(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    connection.execute("PRAGMA journal_mode = MEMORY").await?;
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL").await?;
    let mode = connection.fetch_one("PRAGMA journal_mode = WAL").await?;
    if mode.try_get::<&str, _>(0)? != "wal" {
        // Some network file systems cannot have one.
        connection.execute("PRAGMA journal_mode = DELETE").await?;
    }
    Ok(())
}

/// Applies what was added after `found`, all of it or nothing.
async fn apply(connection: &mut SqliteConnection, found: i64) -> Result<(), sqlx::Error> {
    // The caller drops the connection when this fails, which rolls back.
    connection.execute("BEGIN IMMEDIATE").await?;
    for (number, migration) in (1..).zip(MIGRATIONS) {
        if number > found {
            connection.execute(migration).await?;
        }
    }
    // Not before the last one: tasks are read as they are stored now.
    if found < MEMORY_INDEX {
        memory::fill(connection).await?;
    }
    if (1..REDACTED_FIRST).contains(&found) {
        // Done later, by who has the time: see `clean`.
        connection
            .execute("INSERT INTO cleaning (what) VALUES ('rows')")
            .await?;
    }
    // A pragma takes no bound value; the number is ours.
    let mut record = sqlx::QueryBuilder::<sqlx::Sqlite>::new("PRAGMA user_version = ");
    record
        .push(KNOWN)
        .build()
        .persistent(false)
        .execute(&mut *connection)
        .await?;
    connection.execute("COMMIT").await?;
    Ok(())
}
