//! Opening a database.

use super::connection::{Connection, Slot};
use super::open_files::OpenFiles;
use super::recovery::{COPY_SUFFIX, remove_copy, restore_copy};
use super::{SqliteStore, schema};
use crate::files::{self, Identity};
use async_trait::async_trait;
use grov_domain::{StoreConnection, StoreError, StoreOpener};
use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteSynchronous};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What to do with a damaged database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnCorruption {
    /// Rename it (see [`crate::set_aside`]) and start a new one. For a daemon, which must continue recording.
    SetAside,
    /// Leave it and fail.
    Fail,
}

/// How a store opens its database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    ReadOnly,
    ReadWrite,
    /// For reading and writing; opened on demand and reopened after errors.
    Reopening(OnCorruption),
}

impl Mode {
    /// What a reopening store does with a damaged database; `None` for other stores.
    pub(super) fn reopens(self) -> Option<OnCorruption> {
        match self {
            Self::Reopening(on_corruption) => Some(on_corruption),
            Self::ReadOnly | Self::ReadWrite => None,
        }
    }
}

/// How to open a database.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// How long a call waits for another process that is writing. Default 2 s; 20 ms for a short process started by a
    /// hook.
    pub busy_timeout: Duration,
    /// How long opening waits for another process that migrates the schema or replaces a damaged database, which takes
    /// seconds on a slow or busy disk. Default 30 s; 20 ms for a short process.
    pub migration_timeout: Duration,
    /// The maximum number of pages (4 KiB each) of the database; `None` for SQLite's own limit. A write that exceeds it
    /// fails as on a full disk.
    pub max_pages: Option<u32>,
    /// Whether nothing is created: opening fails if there is no database. For a process that must not outlive its home.
    pub must_exist: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(2),
            migration_timeout: Duration::from_secs(30),
            max_pages: None,
            must_exist: false,
        }
    }
}

impl OpenOptions {
    /// For short processes: timeouts of 20 ms.
    pub fn brief() -> Self {
        Self::with_timeout(Duration::from_millis(20))
    }

    /// Uses `timeout` for other writers and for migrations.
    pub fn with_timeout(timeout: Duration) -> Self {
        Self {
            busy_timeout: timeout,
            migration_timeout: timeout,
            ..Self::default()
        }
    }

    fn connect(&self, path: &Path) -> SqliteConnectOptions {
        let mut options = SqliteConnectOptions::new()
            .filename(path)
            .busy_timeout(self.busy_timeout)
            // A commit survives the death of the process, but not a power cut. No sync per transaction.
            .synchronous(SqliteSynchronous::Normal)
            // Truncates a log that grew during a burst.
            .pragma("journal_size_limit", "4194304")
            .pragma("temp_store", "MEMORY")
            // Overwrites deleted content within its page. Forgetting a memory rewrites all pages.
            .pragma("secure_delete", "FAST")
            // In KiB. Half of SQLite's default; a batch of records does not fill it.
            .pragma("cache_size", "-1024")
            .row_buffer_size(512)
            .disable_statement_logging();
        if let Some(pages) = self.max_pages {
            options = options.pragma("max_page_count", pages.to_string());
        }
        options
    }
}

/// Opens the database at one path.
#[derive(Clone, Debug)]
pub struct SqliteOpener(PathBuf);

impl SqliteOpener {
    /// Creates an opener for the database at `path`.
    pub fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }
}

#[async_trait]
impl StoreOpener for SqliteOpener {
    async fn open(&self, timeout: Option<Duration>) -> Result<Box<dyn StoreConnection>, StoreError> {
        Ok(Box::new(SqliteStore::open(&self.0, &options(timeout)).await?))
    }

    async fn open_existing(
        &self,
        timeout: Option<Duration>,
    ) -> Result<Option<Box<dyn StoreConnection>>, StoreError> {
        let store = SqliteStore::open_existing(&self.0, &options(timeout)).await?;
        Ok(store.map(|store| Box::new(store) as Box<dyn StoreConnection>))
    }
}

fn options(timeout: Option<Duration>) -> OpenOptions {
    timeout.map_or_else(OpenOptions::default, OpenOptions::with_timeout)
}

impl SqliteStore {
    /// Opens the database for reading and writing. Creates it (file mode 0600, directory mode 0700) and migrates its
    /// schema as needed.
    ///
    /// # Errors
    /// [`StoreError::NotWritable`] if the directory or file cannot be created or written, [`StoreError::Busy`] if
    /// another process holds it, [`StoreError::Corrupt`] if it is not a database (see [`crate::set_aside`]),
    /// [`StoreError::NewerSchema`] if a newer Grov wrote it.
    pub async fn open(path: &Path, options: &OpenOptions) -> Result<Self, StoreError> {
        let store = Self::new(path, options, Mode::ReadWrite);
        store.reopen().await?;
        Ok(store)
    }

    /// Creates a store that opens the database with the first call and reopens it after errors; see [`SqliteStore`].
    pub fn reopening(path: &Path, options: &OpenOptions, on_corruption: OnCorruption) -> Self {
        Self::new(path, options, Mode::Reopening(on_corruption))
    }

    /// Opens an existing database read-only; `None` if it does not exist.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub async fn open_existing(path: &Path, options: &OpenOptions) -> Result<Option<Self>, StoreError> {
        restore_copy(path, options.migration_timeout).await?;
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.len() > 0 => {}
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::Other(format!("{}: {error}", path.display()))),
        }
        let (store, version) = Self::open_as_is(path, options).await?;
        match version {
            0 => Ok(None),
            schema::KNOWN => Ok(Some(store)),
            // An older version wrote it, so tables may be missing.
            _ => Self::open(path, options).await.map(Some),
        }
    }

    /// Whether an existing database is known to need no [scrubbing](Self::scrub_secrets). Does not change it. `false` for a
    /// database with an older schema.
    ///
    /// # Errors
    /// As [`SqliteStore::open_existing`].
    pub async fn is_scrubbed(path: &Path, options: &OpenOptions) -> Result<bool, StoreError> {
        let (store, version) = Self::open_as_is(path, options).await?;
        Ok(version == schema::KNOWN && !store.may_hold_secrets().await?)
    }

    /// Opens an existing database read-only, with any schema version. Returns the version too.
    async fn open_as_is(path: &Path, options: &OpenOptions) -> Result<(Self, i64), StoreError> {
        let store = Self::new(path, options, Mode::ReadOnly);
        let (connection, identity, version) = store.connect().await?;
        store.set_open_files(Some(OpenFiles::of(path, identity)));
        *store.slot.lock().await = Slot::Open(connection);
        Ok((store, version))
    }

    /// Connects to the database. Returns the connection, the identity of the file and its schema version.
    async fn connect(&self) -> Result<(SqliteConnection, Option<Identity>, i64), StoreError> {
        let path = &self.path;
        let is_read_only = self.mode == Mode::ReadOnly;
        let _lock = self.lock_for_opening().await?;
        if self.options.must_exist && !path.is_file() {
            let gone = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(self.not_writable(&gone));
        }
        if !is_read_only {
            // SQLite creates its side files with the permissions of the database.
            files::create_private(path).map_err(|error| self.not_writable(&error))?;
        }
        let options = self.options.connect(path).read_only(is_read_only);
        let connected = options.connect().await;
        let mut connection = connected.map_err(|error| self.error(error))?;
        let identity = Identity::of(path);
        let version = schema::version(&mut connection).await;
        let found = version.map_err(|error| self.error(error))?;
        if found > schema::KNOWN {
            return Err(StoreError::NewerSchema {
                found,
                known: schema::KNOWN,
            });
        }
        Ok((connection, identity, found))
    }

    /// Keeps other processes from setting the database aside while it is opened.
    async fn lock_for_opening(&self) -> Result<Option<File>, StoreError> {
        let path = &self.path;
        let lock = files::lock_for_opening(path, self.options.migration_timeout)
            .await
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::WouldBlock => StoreError::Busy(format!("{}: {error}", path.display())),
                _ => StoreError::Other(format!("{}: {error}", path.display())),
            })?;
        // No process makes a copy while it holds this lock, so a copy next to a database is old. It must never replace
        // a newer database.
        let copy = files::with_suffix(path, COPY_SUFFIX);
        if lock.is_some() && copy.is_file() && path.is_file() {
            remove_copy(&copy);
        }
        Ok(lock)
    }

    pub(super) fn not_writable(&self, error: &std::io::Error) -> StoreError {
        StoreError::NotWritable(format!("{}: {error}", self.path.display()))
    }
}

impl Connection<'_> {
    /// Opens the database. If it is damaged, sets it aside first, if the store does that.
    pub(super) async fn open(&mut self) -> Result<(), StoreError> {
        let store = self.store();
        let found = Identity::of(&store.path);
        match self.open_once().await {
            Err(StoreError::Corrupt(damage)) if store.mode.reopens().is_some() => {
                store.set_aside(damage, found).await?;
                self.open_once().await
            }
            opened => opened,
        }
    }

    async fn open_once(&mut self) -> Result<(), StoreError> {
        let store = self.store();
        let path = &store.path;
        if store.mode != Mode::ReadOnly && !store.options.must_exist {
            files::create_folder_of(path).map_err(|error| store.not_writable(&error))?;
        }
        if store.mode != Mode::ReadOnly {
            restore_copy(path, store.options.migration_timeout).await?;
        }
        let (connection, identity, version) = store.connect().await?;
        *self.slot = Slot::Open(connection);
        if version < schema::KNOWN && store.mode != Mode::ReadOnly {
            // The migration locks the database itself. If it fails, the connection is closed.
            self.in_transaction = true;
            schema::migrate(self, store.options.migration_timeout).await?;
            self.in_transaction = false;
        }
        store.set_open_files(Some(OpenFiles::of(path, identity)));
        Ok(())
    }
}
