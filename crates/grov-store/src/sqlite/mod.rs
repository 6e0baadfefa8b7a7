//! The SQLite backend.

mod append;
mod changes;
mod clean;
mod drift;
mod error;
mod examine;
mod file_reasoning;
mod hooks;
mod ledger;
mod log;
mod maintenance;
mod memory;
mod open;
mod rescue;
mod rows;
mod schema;
mod sessions;
mod spending;
mod tasks;
mod transitions;
mod values;

pub use examine::Examination;
pub use open::OpenOptions;
pub(crate) use rescue::{RESCUED, TRIES, clean_up, copy_without_log};

use crate::files::Identity;
use async_trait::async_trait;
use error::{Replaced, store_error};
use futures_util::TryStreamExt;
use grov_domain::{StoreConnection, StoreError};
use log::Log;
use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteConnectOptions, SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::timeout_at;

/// How a write transaction begins.
macro_rules! begin {
    () => {
        "BEGIN IMMEDIATE; PRAGMA user_version; "
    };
}
use begin;

/// A store in one SQLite file, shared with other processes.
///
/// It holds a single connection, so calls wait for each other: a reader that must not wait for a writer opens a
/// store of its own on the same file. A call that is dropped half-way leaves nothing behind.
pub struct SqliteStore {
    path: PathBuf,
    connect: SqliteConnectOptions,
    /// How long a statement waits for another process, unless its call says otherwise.
    patience: Duration,
    /// Which file was opened; another one under the same path is not ours.
    identity: Option<Identity>,
    /// The write-ahead log of the open connection; `None` without a connection.
    log: std::sync::Mutex<Option<Log>>,
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

    /// Whether the database that was opened is still the one under its path, and its write-ahead log too. Writes to
    /// a file that was moved away or deleted succeed and are lost. A few system calls, no SQLite.
    pub fn is_current(&self) -> bool {
        self.is_same_file() && self.has_its_log()
    }

    /// Whether the database file that was opened is still the one under its path.
    pub(crate) fn is_same_file(&self) -> bool {
        self.identity.is_some() && self.identity == Identity::of(&self.path)
    }

    /// Whether the write-ahead log that the connection writes is the one on disk and not overwritten.
    fn has_its_log(&self) -> bool {
        // Copied, so that nobody waits for the file system under the lock.
        let log = *self.log();
        log.is_none_or(|log| log.is_in_place(&self.path))
    }

    /// Nothing that can panic runs under this lock.
    fn log(&self) -> std::sync::MutexGuard<'_, Option<Log>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut slot = self.connection.lock().await;
        *self.log() = None;
        match slot.take() {
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
            let mut connection = self.connect.connect().await.map_err(|error| self.error(error))?;
            // SQLite opens the log with the first read.
            let read = schema::version(&mut connection).await;
            read.map_err(|error| self.error(error))?;
            *self.log() = Some(Log::of(&self.path));
            *slot = Some(connection);
        }
        Ok(Reader { slot })
    }

    /// A write transaction. It takes the write lock at once: one that begins by reading fails when another process
    /// wrote in between, however long it is willing to wait.
    async fn writer(&self) -> Result<Writer<'_>, StoreError> {
        Ok(self.writer_running(sqlx::query(begin!())).await?.0)
    }

    /// A write transaction that begins with these statements, which follow [`begin!`]: one trip to the connection's
    /// thread for all. Returns their rows too.
    async fn writer_running(
        &self,
        statements: Query<'_, Sqlite, SqliteArguments>,
    ) -> Result<(Writer<'_>, Vec<SqliteRow>), StoreError> {
        let mut writer = Writer::over(self, self.reader().await?);
        match self.begin(&mut writer, statements, 0).await {
            Ok(rows) => Ok((writer, rows)),
            Err(NotBegun::Busy(error)) => {
                // Nothing began, so the connection is as good as before.
                writer.put_back();
                Err(error)
            }
            Err(NotBegun::Fault(error)) => Err(error),
        }
    }

    /// The same for a call that must not last: waits for others until then and no longer; `None` when that was in
    /// vain. `statements` come behind the beginning, with `arguments`.
    async fn writer_running_until(
        &self,
        until: Instant,
        statements: &str,
        arguments: SqliteArguments,
    ) -> Result<Option<(Writer<'_>, Vec<SqliteRow>)>, StoreError> {
        let Ok(reader) = timeout_at(until.into(), self.reader()).await else {
            return Ok(None);
        };
        let mut writer = Writer::over(self, reader?);
        let patience = until.saturating_duration_since(Instant::now()).as_millis();
        // A pragma takes no bound value; the numbers are ours.
        let statements = AssertSqlSafe(format!(
            concat!(
                "PRAGMA busy_timeout = {}; ",
                begin!(),
                "PRAGMA busy_timeout = {}; {}"
            ),
            patience,
            self.patience.as_millis(),
            statements
        ));
        let query = sqlx::query_with(statements, arguments).persistent(patience < FEW_PATIENCES);
        match self.begin(&mut writer, query, 1).await {
            Ok(mut rows) => {
                // What the pragma says.
                rows.remove(0);
                Ok(Some((writer, rows)))
            }
            Err(NotBegun::Busy(_)) => {
                set_patience(writer.connection()?, self.patience)
                    .await
                    .map_err(|error| self.error(error))?;
                writer.put_back();
                Ok(None)
            }
            Err(NotBegun::Fault(error)) => Err(error),
        }
    }

    /// Runs statements with [`begin!`] in them, behind some that give so many rows. The rows behind it.
    async fn begin(
        &self,
        writer: &mut Writer<'_>,
        statements: Query<'_, Sqlite, SqliteArguments>,
        before: usize,
    ) -> Result<Vec<SqliteRow>, NotBegun> {
        let mut rows = statements.fetch(writer.connection().map_err(NotBegun::Fault)?);
        for _ in 0..before {
            let row = rows.try_next().await;
            row.map_err(|error| NotBegun::Fault(self.error(error)))?;
        }
        let begun = rows.try_next().await;
        let version = begun.and_then(|row| row.ok_or(sqlx::Error::RowNotFound)?.try_get(0));
        let found: i64 = version.map_err(|error| match self.error(error) {
            error if error.is_transient() => NotBegun::Busy(error),
            error => NotBegun::Fault(error),
        })?;
        // A newer Grov may have changed the schema since it was opened.
        if found != schema::KNOWN {
            return Err(NotBegun::Fault(StoreError::NewerSchema {
                found,
                known: schema::KNOWN,
            }));
        }
        let rows = rows.try_collect().await;
        rows.map_err(|error| NotBegun::Fault(self.error(error)))
    }
}

#[async_trait]
impl StoreConnection for SqliteStore {
    // Nothing that others write in between makes a page be read again.
    async fn begin_reading(&self) -> Result<(), StoreError> {
        self.reader().await?.run(self, "BEGIN").await
    }

    async fn end_reading(&self) -> Result<(), StoreError> {
        self.reader().await?.run(self, "COMMIT").await
    }

    async fn close(&self) -> Result<(), StoreError> {
        SqliteStore::close(self).await
    }
}

/// Why there is no transaction.
enum NotBegun {
    /// Others were writing all the time; the connection is as it was.
    Busy(StoreError),
    /// Something may have begun, so the connection has to go.
    Fault(StoreError),
}

/// Below so many milliseconds there are few enough patiences to keep a prepared statement for each.
const FEW_PATIENCES: u128 = 16;

/// How long the connection waits for another process that is writing.
async fn set_patience(connection: &mut SqliteConnection, patience: Duration) -> Result<(), sqlx::Error> {
    // A pragma takes no bound value; the number is ours.
    sqlx::QueryBuilder::<Sqlite>::new("PRAGMA busy_timeout = ")
        .push(patience.as_millis())
        .build()
        .persistent(false)
        .execute(connection)
        .await?;
    Ok(())
}

/// The connection, held for reading.
struct Reader<'a> {
    slot: MutexGuard<'a, Option<SqliteConnection>>,
}

impl Reader<'_> {
    fn connection(&mut self) -> Result<&mut SqliteConnection, StoreError> {
        self.slot.as_mut().ok_or_else(no_connection)
    }

    /// A statement without arguments and rows.
    async fn run(mut self, store: &SqliteStore, statement: &'static str) -> Result<(), StoreError> {
        let ran = sqlx::query(statement).execute(self.connection()?).await;
        ran.map(drop).map_err(|error| store.error(error))
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
    store: &'a SqliteStore,
    slot: MutexGuard<'a, Option<SqliteConnection>>,
    connection: Option<SqliteConnection>,
}

impl<'a> Writer<'a> {
    fn over(store: &'a SqliteStore, mut reader: Reader<'a>) -> Self {
        // From here on an early end, also of this very call, must not leave a transaction open.
        let connection = reader.slot.take();
        Self {
            store,
            slot: reader.slot,
            connection,
        }
    }

    /// Keeps the connection, in which nothing is under way.
    fn put_back(&mut self) {
        *self.slot = self.connection.take();
    }

    fn connection(&mut self) -> Result<&mut SqliteConnection, StoreError> {
        self.connection.as_mut().ok_or_else(no_connection)
    }

    async fn commit(mut self) -> Result<(), sqlx::Error> {
        if let Some(connection) = self.connection.as_mut() {
            sqlx::query("COMMIT").execute(connection).await?;
        }
        self.put_back();
        self.in_place()
    }

    /// Commits without carrying the write-ahead log over into the database, which takes a while and is left to the
    /// next writer.
    async fn commit_briefly(mut self) -> Result<(), sqlx::Error> {
        if let Some(connection) = self.connection.as_mut() {
            sqlx::query("PRAGMA wal_autocheckpoint = 0; COMMIT; PRAGMA wal_autocheckpoint = 1000")
                .execute(connection)
                .await?;
        }
        self.put_back();
        self.in_place()
    }

    /// What was committed is lost where another process put a database in place of this one: SQLite goes on with the old
    /// file and says nothing.
    fn in_place(&self) -> Result<(), sqlx::Error> {
        match self.store.is_same_file() {
            true => Ok(()),
            false => Err(Replaced.into()),
        }
    }

    /// Takes everything back and keeps the connection, after statements that all succeeded.
    async fn roll_back(mut self) -> Result<(), sqlx::Error> {
        if let Some(connection) = self.connection.as_mut() {
            sqlx::query("ROLLBACK").execute(connection).await?;
        }
        self.put_back();
        Ok(())
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        // The connection closes with this writer, and the last one to close deletes the log.
        if self.connection.is_some() {
            *self.store.log() = None;
        }
    }
}

fn no_connection() -> StoreError {
    StoreError::Other("the connection is gone; the next call opens a new one".to_owned())
}
