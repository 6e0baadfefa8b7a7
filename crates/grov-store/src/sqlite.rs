//! The SQLite backend.

mod activity;
mod append;
mod columns;
mod connection;
mod context;
mod drift;
mod error;
mod file_reasoning;
mod finding_marks;
mod hooks;
mod insert;
mod integrity;
mod items;
mod journal;
mod ledger;
mod links;

mod memory;
mod open;
mod open_files;
mod read_limits;
mod recovery;
mod retention;
mod routed_usage;
mod schema;
mod scrub_secrets;
mod select;
mod session_changes;
mod sessions;
mod spending;
mod tasks;
mod transitions;

pub use integrity::IntegrityReport;
pub use open::{OnCorruption, OpenOptions, SqliteOpener};

use async_trait::async_trait;
use columns::params;
use connection::Slot;
use error::store_error;
use grov_domain::{Store, StoreConnection, StoreError};
use open::Mode;
use open_files::OpenFiles;
use sqlx::Connection as _;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use tokio::sync::Mutex;

/// A store in one SQLite file, shared with other processes.
///
/// It has a single connection, so calls wait for each other. A reader that must not wait for a writer opens its own
/// store on the same file. A call that is cancelled leaves no partial change.
///
/// A short process opens its store once ([`SqliteStore::open`], [`SqliteStore::open_existing`]). The store of a
/// long-running process ([`SqliteStore::reopening`]) tolerates a database that is missing, locked, damaged or replaced:
/// it opens the database on demand, and reopens it after a failed call or when the files on disk were replaced. Each
/// call tries once; [`crate::BatchWriter`] retries with a back-off.
pub struct SqliteStore {
    path: PathBuf,
    options: OpenOptions,
    mode: Mode,
    slot: Mutex<Slot>,
    /// The files of the open connection; `None` without one.
    open_files: std::sync::Mutex<Option<OpenFiles>>,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Store for SqliteStore {}

impl SqliteStore {
    fn new(path: &Path, options: &OpenOptions, mode: Mode) -> Self {
        Self {
            path: path.to_owned(),
            options: options.clone(),
            mode,
            slot: Mutex::default(),
            open_files: std::sync::Mutex::default(),
        }
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether writes reach the files on disk. `false` after the database or its write-ahead log was deleted, replaced
    /// or overwritten, until the database is reopened: writes to a file that was moved or deleted succeed and are lost.
    /// Also `false` while a damaged database waits to be set aside. Cheap; never waits.
    pub fn is_current(&self) -> bool {
        let slot = self.slot.try_lock();
        if slot.is_ok_and(|slot| matches!(*slot, Slot::Damaged { .. })) {
            return false;
        }
        self.open_files()
            .is_none_or(|files| files.are_in_place(&self.path))
    }

    /// Whether the path still names the database file that was opened.
    fn is_same_file(&self) -> bool {
        self.open_files()
            .is_none_or(|files| files.has_database(&self.path))
    }

    /// Returns a copy, so that the lock is not held during file system calls.
    fn open_files(&self) -> Option<OpenFiles> {
        *self.open_files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_open_files(&self, files: Option<OpenFiles>) {
        *self.open_files.lock().unwrap_or_else(PoisonError::into_inner) = files;
    }

    /// Opens the database if it is not open or if its files were replaced.
    ///
    /// # Errors
    /// See [`SqliteStore::open`].
    pub async fn reopen(&self) -> Result<(), StoreError> {
        self.connection().await.map(drop)
    }

    /// Closes the connection. This also checkpoints the write-ahead log if no other process has the database open.
    /// Optional: a store that is dropped loses nothing. The next call opens the database again.
    ///
    /// # Errors
    /// SQLite cannot close the file.
    pub async fn close(&self) -> Result<(), StoreError> {
        let mut slot = self.slot.lock().await;
        self.set_open_files(None);
        match std::mem::take(&mut *slot) {
            Slot::Open(connection) => connection.close().await.map_err(|error| self.error(error)),
            Slot::Closed | Slot::Damaged { .. } => Ok(()),
        }
    }

    fn error(&self, error: sqlx::Error) -> StoreError {
        store_error(&self.path, error)
    }
}

#[async_trait]
impl StoreConnection for SqliteStore {
    // Within a read transaction, SQLite keeps its page cache although other processes write.
    async fn begin_reading(&self) -> Result<(), StoreError> {
        self.connection()
            .await?
            .execute("BEGIN", params![])
            .await
            .map(drop)
    }

    async fn end_reading(&self) -> Result<(), StoreError> {
        self.connection()
            .await?
            .execute("COMMIT", params![])
            .await
            .map(drop)
    }

    async fn close(&self) -> Result<(), StoreError> {
        SqliteStore::close(self).await
    }
}
