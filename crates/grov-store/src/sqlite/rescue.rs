//! A new database file with what can still be read of one whose write-ahead log was deleted or overwritten.

use super::{SqliteStore, StoreError, schema, store_error};
use crate::files;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Executor, Row};
use std::io;
use std::path::Path;
use std::time::Duration;

/// How often a copy is begun anew because others wrote meanwhile.
pub(crate) const TRIES: u32 = 5;

/// What a copy is called until it takes the database's place.
pub(crate) const RESCUED: &str = ".rescued";

/// Deletes a copy that is of no use.
pub(crate) fn clean_up(copy: &Path) {
    for suffix in ["-wal", "-shm", ""] {
        // The next copy deletes it first.
        let _ = files::remove_if_there(&files::beside(copy, suffix));
    }
}

/// Where the database is missing and a copy of it is there, puts the copy in its place: the process that made it was killed
/// between two renames.
///
/// # Errors
/// When another process is at it for longer than `patience`, or the copy cannot be renamed.
pub(super) async fn adopt_copy(database: &Path, patience: Duration) -> Result<(), StoreError> {
    let copy = files::beside(database, RESCUED);
    let is_left = || copy.is_file() && matches!(database.try_exists(), Ok(false));
    if !is_left() {
        return Ok(());
    }
    let fault = |error: io::Error| match error.kind() {
        io::ErrorKind::WouldBlock => StoreError::Busy(format!("{}: {error}", database.display())),
        _ => StoreError::NotWritable(format!("{}: {error}", copy.display())),
    };
    let _lock = files::lock_database(database, patience).await.map_err(fault)?;
    // Another process may have done it meanwhile.
    if !is_left() {
        return Ok(());
    }
    match finish(&copy).await {
        Ok(()) => std::fs::rename(&copy, database).map_err(fault),
        // One that was not completed, beside a database that somebody deleted.
        Err(StoreError::Corrupt(_)) => Ok(()),
        Err(other) => Err(other),
    }
}

impl SqliteStore {
    /// Writes everything that this connection sees to `target`, replacing it: also what is only in a log that was
    /// deleted, because the connection still has that file open. The result was checked. Returns what
    /// [`SqliteStore::is_written_since`] asks for.
    ///
    /// # Errors
    /// When part of it cannot be read, or `target` cannot be written.
    pub(crate) async fn copy_to(&self, target: &Path) -> Result<i64, StoreError> {
        let not_writable =
            |error: std::io::Error| StoreError::NotWritable(format!("{}: {error}", target.display()));
        // A new connection would not see the deleted log.
        let mut slot = self.connection.lock().await;
        let connection = slot.as_mut().ok_or_else(super::no_connection)?;
        let fault = |error| self.error(error);
        let mut tries = 0;
        let version = loop {
            let before = data_version(connection).await.map_err(fault)?;
            files::remove_if_there(target).map_err(not_writable)?;
            // SQLite writes into an empty file, so that nobody else may ever read it.
            files::create_private(target).map_err(not_writable)?;
            let copied = sqlx::query("VACUUM INTO ?1").bind(target.to_string_lossy().into_owned());
            copied.execute(&mut *connection).await.map_err(fault)?;
            tries += 1;
            if tries == TRIES || data_version(connection).await.map_err(fault)? == before {
                break before;
            }
        };
        drop(slot);
        finish(target).await?;
        Ok(version)
    }

    /// Whether another connection wrote after a copy was made.
    ///
    /// # Errors
    /// Those of the database.
    pub(crate) async fn is_written_since(&self, version: i64) -> Result<bool, StoreError> {
        let mut slot = self.connection.lock().await;
        let connection = slot.as_mut().ok_or_else(super::no_connection)?;
        let now = data_version(connection)
            .await
            .map_err(|error| self.error(error))?;
        Ok(now != version)
    }
}

/// Changes when another connection wrote.
async fn data_version(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    connection.fetch_one("PRAGMA data_version").await?.try_get(0)
}

/// Makes `target` a copy of a database file without its log: the state of the last checkpoint. Nobody may write it
/// meanwhile.
///
/// # Errors
/// [`StoreError::Corrupt`] when the file is damaged itself, [`StoreError::NotWritable`] when there is no room for a copy.
pub(crate) async fn copy_without_log(database: &Path, target: &Path) -> Result<(), StoreError> {
    let not_writable = |error: io::Error| StoreError::NotWritable(format!("{}: {error}", target.display()));
    clean_up(target);
    files::remove_if_there(target)
        .and_then(|()| files::create_private(target))
        .map_err(not_writable)?;
    std::fs::copy(database, target).map_err(|error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            not_writable(error)
        }
        // A disk that cannot be read.
        _ => StoreError::Corrupt(format!("{}: {error}", database.display())),
    })?;
    finish(target).await
}

/// Checks a copy and gives it a write-ahead log, which `VACUUM INTO` does not.
async fn finish(target: &Path) -> Result<(), StoreError> {
    let fault = |error| store_error(target, error);
    let mut connection = SqliteConnectOptions::new()
        .filename(target)
        .connect()
        .await
        .map_err(fault)?;
    let checked = connection.fetch_one("PRAGMA integrity_check(1)").await;
    let said: String = checked.and_then(|row| row.try_get(0)).map_err(fault)?;
    let version = schema::version(&mut connection).await.map_err(fault)?;
    if said != "ok" || version == 0 {
        let what = if version == 0 { "it holds no tables" } else { &said };
        return Err(StoreError::Corrupt(format!("{}: {what}", target.display())));
    }
    connection
        .execute("PRAGMA journal_mode = WAL")
        .await
        .map_err(fault)?;
    connection.close().await.map_err(fault)
}
