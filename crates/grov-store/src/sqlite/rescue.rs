//! A new database file with what can still be read of one whose write-ahead log was deleted or overwritten.

use super::{SqliteStore, StoreError, schema, store_error};
use crate::files;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Executor, Row};
use std::path::Path;

/// How often a copy is begun anew because others in this process wrote meanwhile.
const TRIES: u32 = 5;

impl SqliteStore {
    /// Writes everything that this connection sees to `target`, replacing it: also what is only in a log that was
    /// deleted, because the connection still has that file open. The result was checked.
    ///
    /// # Errors
    /// When part of it cannot be read, or `target` cannot be written.
    pub(crate) async fn copy_to(&self, target: &Path) -> Result<(), StoreError> {
        let not_writable =
            |error: std::io::Error| StoreError::NotWritable(format!("{}: {error}", target.display()));
        // A new connection would not see the deleted log.
        let mut slot = self.connection.lock().await;
        let connection = slot.as_mut().ok_or_else(super::no_connection)?;
        let fault = |error| self.error(error);
        let mut tries = 0;
        loop {
            let before = data_version(connection).await.map_err(fault)?;
            files::remove_if_there(target).map_err(not_writable)?;
            // SQLite writes into an empty file, so that nobody else may ever read it.
            files::create_private(target).map_err(not_writable)?;
            let copied = sqlx::query("VACUUM INTO ?1").bind(target.to_string_lossy().into_owned());
            copied.execute(&mut *connection).await.map_err(fault)?;
            tries += 1;
            if tries == TRIES || data_version(connection).await.map_err(fault)? == before {
                break;
            }
        }
        drop(slot);
        finish(target).await
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
/// When the file is damaged itself or cannot be copied.
pub(crate) async fn copy_without_log(database: &Path, target: &Path) -> Result<(), StoreError> {
    let copied = files::remove_if_there(target)
        .and_then(|()| files::create_private(target))
        .and_then(|()| std::fs::copy(database, target).map(drop));
    copied.map_err(|error| StoreError::NotWritable(format!("{}: {error}", target.display())))?;
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
