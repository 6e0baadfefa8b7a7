//! The SQLite backend.

mod append;
mod changes;
mod drift;
mod error;
mod file_reasoning;
mod maintenance;
mod memory;
mod open;
mod rows;
mod schema;
mod sessions;
mod spending;
mod tasks;
mod transitions;
mod values;

pub use open::OpenOptions;

use crate::files::Identity;
use error::store_error;
use grov_domain::StoreError;
use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteConnectOptions, SqliteConnection, SqliteRow};
use sqlx::{ConnectOptions, Connection, Row};
use std::path::{Path, PathBuf};
use tokio::sync::{Mutex, MutexGuard};

/// A store in one SQLite file, shared with other processes.
///
/// It holds a single connection, so calls wait for each other: a reader that must not wait for a writer opens a
/// store of its own on the same file. A call that is dropped half-way leaves nothing behind.
pub struct SqliteStore {
    path: PathBuf,
    connect: SqliteConnectOptions,
    /// Which file was opened; another one under the same path is not ours.
    identity: Option<Identity>,
    /// `None` after a transaction that did not come to its end: closing the connection is what rolls it back.
    connection: Mutex<Option<SqliteConnection>>,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file that was opened is still the one under its path. Writes to a file that was moved away or
    /// deleted succeed and are lost.
    pub fn is_current(&self) -> bool {
        self.identity.is_some() && self.identity == Identity::of(&self.path)
    }

    /// Which file was opened.
    pub(crate) fn identity(&self) -> Option<Identity> {
        self.identity
    }

    /// Ends the connection in order, which also folds the write-ahead log into the database when nobody else has it
    /// open. Optional: a store that is merely dropped loses nothing.
    ///
    /// # Errors
    /// When SQLite cannot close the file.
    pub async fn close(&self) -> Result<(), StoreError> {
        match self.connection.lock().await.take() {
            Some(connection) => connection.close().await.map_err(|error| self.error(error)),
            None => Ok(()),
        }
    }

    fn error(&self, error: sqlx::Error) -> StoreError {
        store_error(&self.path, error)
    }

    /// The connection, for one statement that reads.
    async fn reader(&self) -> Result<Reader<'_>, StoreError> {
        let mut slot = self.connection.lock().await;
        if slot.is_none() {
            *slot = Some(self.connect.connect().await.map_err(|error| self.error(error))?);
        }
        Ok(Reader { slot })
    }

    /// A write transaction. It takes the write lock at once: one that begins by reading fails when another process
    /// wrote in between, however long it is willing to wait.
    async fn writer(&self) -> Result<Writer<'_>, StoreError> {
        let mut reader = self.reader().await?;
        // From here on an early end, also of this very call, must not leave a transaction open.
        let connection = reader.slot.take();
        let mut writer = Writer {
            slot: reader.slot,
            connection,
        };
        // One trip to the connection's thread. The schema is looked at because a newer Grov may have changed it since.
        let begun = sqlx::query("BEGIN IMMEDIATE; PRAGMA user_version")
            .fetch_one(writer.connection()?)
            .await;
        let found: i64 = match begun
            .and_then(|row| row.try_get(0))
            .map_err(|error| self.error(error))
        {
            Ok(found) => found,
            Err(error) => {
                if error.is_transient() {
                    // Nothing began, so the connection is as good as before.
                    *writer.slot = writer.connection.take();
                }
                return Err(error);
            }
        };
        if found != schema::KNOWN {
            return Err(StoreError::NewerSchema {
                found,
                known: schema::KNOWN,
            });
        }
        Ok(writer)
    }
}

/// The connection, held for reading.
struct Reader<'a> {
    slot: MutexGuard<'a, Option<SqliteConnection>>,
}

impl Reader<'_> {
    fn connection(&mut self) -> Result<&mut SqliteConnection, StoreError> {
        self.slot.as_mut().ok_or_else(no_connection)
    }

    /// All rows of one statement.
    async fn rows(
        mut self,
        store: &SqliteStore,
        query: Query<'_, Sqlite, SqliteArguments>,
    ) -> Result<Vec<SqliteRow>, StoreError> {
        query
            .fetch_all(self.connection()?)
            .await
            .map_err(|error| store.error(error))
    }
}

/// The connection, held for a write transaction. Dropped before [`Writer::commit`], it closes the connection, which
/// rolls back; SQLite itself may already have done so, and then a `ROLLBACK` would fail.
struct Writer<'a> {
    slot: MutexGuard<'a, Option<SqliteConnection>>,
    connection: Option<SqliteConnection>,
}

impl Writer<'_> {
    fn connection(&mut self) -> Result<&mut SqliteConnection, StoreError> {
        self.connection.as_mut().ok_or_else(no_connection)
    }

    async fn commit(mut self) -> Result<(), sqlx::Error> {
        if let Some(connection) = self.connection.as_mut() {
            sqlx::query("COMMIT").execute(connection).await?;
        }
        *self.slot = self.connection.take();
        Ok(())
    }

    /// Takes everything back and keeps the connection, after statements that all succeeded.
    async fn roll_back(mut self) -> Result<(), sqlx::Error> {
        if let Some(connection) = self.connection.as_mut() {
            sqlx::query("ROLLBACK").execute(connection).await?;
        }
        *self.slot = self.connection.take();
        Ok(())
    }
}

fn no_connection() -> StoreError {
    StoreError::Other("the connection is gone; the next call opens a new one".to_owned())
}
