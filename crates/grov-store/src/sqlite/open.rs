//! Opening a database.

use super::log::Log;
use super::rescue::{RESCUED, adopt_copy, clean_up};
use super::{SqliteStore, schema, store_error};
use crate::files::{self, Identity};
use grov_domain::StoreError;
use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteSynchronous};
use std::fs::File;
use std::path::Path;
use std::time::Duration;
use tokio::sync::Mutex;

/// How to open a database.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// How long a call waits for another process that is writing. A daemon can afford two seconds (the default), a
    /// short process started by a hook 20 ms.
    pub busy_timeout: Duration,
    /// How long opening waits for another process that brings the schema up to date or replaces a damaged database. On
    /// a slow or busy disk a migration takes seconds, and whoever comes second has nothing to do but wait: thirty
    /// seconds (the default), for a short process 20 ms.
    pub migration_timeout: Duration,
    /// The largest number of pages (4 KiB each) the database may grow to; `None` for SQLite's own bound. What would
    /// exceed it fails as on a full disk.
    pub max_pages: Option<u32>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(2),
            migration_timeout: Duration::from_secs(30),
            max_pages: None,
        }
    }
}

impl OpenOptions {
    /// For short processes, which must not keep anybody waiting: 20 ms.
    pub fn brief() -> Self {
        Self::patient(Duration::from_millis(20))
    }

    /// Waits so long for others, whatever they do.
    pub fn patient(patience: Duration) -> Self {
        Self {
            busy_timeout: patience,
            migration_timeout: patience,
            ..Self::default()
        }
    }

    fn connect(&self, path: &Path) -> SqliteConnectOptions {
        let mut options = SqliteConnectOptions::new()
            .filename(path)
            .busy_timeout(self.busy_timeout)
            // Survives the death of the process, though not a power cut; no sync per transaction.
            .synchronous(SqliteSynchronous::Normal)
            // A log that one burst made large does not stay so.
            .pragma("journal_size_limit", "4194304")
            .pragma("temp_store", "MEMORY")
            // What is deleted is overwritten inside its page; whole pages are given back when something is forgotten.
            .pragma("secure_delete", "FAST")
            // In KiB: half of SQLite's default, which a batch of records does not fill.
            .pragma("cache_size", "-1024")
            .row_buffer_size(512)
            .disable_statement_logging();
        if let Some(pages) = self.max_pages {
            options = options.pragma("max_page_count", pages.to_string());
        }
        options
    }
}

impl SqliteStore {
    /// Opens the database for reading and writing, creating it (file 0600, folder 0700) and bringing its schema up
    /// to date as needed.
    ///
    /// # Errors
    /// [`StoreError::NotWritable`] when the folder or file cannot be created or written, [`StoreError::Busy`] when
    /// another process holds it, [`StoreError::Corrupt`] when it is no database (see [`crate::set_aside`]),
    /// [`StoreError::NewerSchema`] when a newer Grov wrote it.
    pub async fn open(path: &Path, options: &OpenOptions) -> Result<Self, StoreError> {
        let not_writable = |error| StoreError::NotWritable(format!("{}: {error}", path.display()));
        files::create_folder_of(path).map_err(not_writable)?;
        adopt_copy(path, options.migration_timeout).await?;
        let opening = opening(path, options).await?;
        // SQLite gives its side files the permissions of the database.
        files::create_private(path).map_err(not_writable)?;
        let connect = options.connect(path);
        let mut connection = connected(&connect, path).await?;
        let identity = Identity::of(path);
        let version = checked_version(&mut connection, path).await?;
        // A migration takes the lock for itself.
        drop(opening);
        if version < schema::KNOWN {
            schema::migrate(path, &mut connection, options.migration_timeout).await?;
        }
        Ok(Self::over(path, connect, options, identity, connection))
    }

    /// Opens a database that is there, for reading alone; `None` when there is none.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub async fn open_existing(path: &Path, options: &OpenOptions) -> Result<Option<Self>, StoreError> {
        adopt_copy(path, options.migration_timeout).await?;
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.len() > 0 => {}
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::Other(format!("{}: {error}", path.display()))),
        }
        let opening = opening(path, options).await?;
        let connect = options.connect(path).read_only(true);
        let mut connection = connected(&connect, path).await?;
        let identity = Identity::of(path);
        let version = checked_version(&mut connection, path).await?;
        drop(opening);
        match version {
            0 => Ok(None),
            schema::KNOWN => Ok(Some(Self::over(path, connect, options, identity, connection))),
            // Written by an older version: what is asked for may not be in it yet.
            _ => Self::open(path, options).await.map(Some),
        }
    }

    /// Whether a database that is there is known to hold nothing that is [to be cleaned](Self::clean). Nothing is changed
    /// in it: one of an older version is not known to be.
    ///
    /// # Errors
    /// As [`SqliteStore::open_existing`].
    pub async fn is_clean(path: &Path, options: &OpenOptions) -> Result<bool, StoreError> {
        let opening = opening(path, options).await?;
        let connect = options.connect(path).read_only(true);
        let mut connection = connected(&connect, path).await?;
        let identity = Identity::of(path);
        let version = checked_version(&mut connection, path).await?;
        drop(opening);
        if version != schema::KNOWN {
            return Ok(false);
        }
        let store = Self::over(path, connect, options, identity, connection);
        Ok(!store.needs_cleaning().await?)
    }

    fn over(
        path: &Path,
        connect: SqliteConnectOptions,
        options: &OpenOptions,
        identity: Option<Identity>,
        connection: SqliteConnection,
    ) -> Self {
        Self {
            path: path.to_owned(),
            connect,
            patience: options.busy_timeout,
            identity,
            log: std::sync::Mutex::new(Some(Log::of(path))),
            connection: Mutex::new(Some(connection)),
        }
    }
}

/// Keeps the database in its place while it is being opened.
async fn opening(path: &Path, options: &OpenOptions) -> Result<Option<File>, StoreError> {
    let lock = files::lock_for_opening(path, options.migration_timeout)
        .await
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::WouldBlock => StoreError::Busy(format!("{}: {error}", path.display())),
            _ => StoreError::Other(format!("{}: {error}", path.display())),
        })?;
    // Nobody makes a copy under this lock: one beside a database is old, and must never take the place of a newer one.
    let copy = files::beside(path, RESCUED);
    if lock.is_some() && copy.is_file() && path.is_file() {
        clean_up(&copy);
    }
    Ok(lock)
}

async fn connected(options: &SqliteConnectOptions, path: &Path) -> Result<SqliteConnection, StoreError> {
    options.connect().await.map_err(|error| store_error(path, error))
}

async fn checked_version(connection: &mut SqliteConnection, path: &Path) -> Result<i64, StoreError> {
    let found = schema::version(connection)
        .await
        .map_err(|error| store_error(path, error))?;
    if found > schema::KNOWN {
        return Err(StoreError::NewerSchema {
            found,
            known: schema::KNOWN,
        });
    }
    Ok(found)
}
