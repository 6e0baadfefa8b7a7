//! Recovery from a database that was damaged, or whose write-ahead log was deleted or overwritten while it was open.

use super::connection::Slot;
use super::{OnCorruption, SqliteStore, StoreError, schema, store_error};
use crate::files::{self, Identity, LOCK_TIMEOUT, beside};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Executor, Row};
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

/// How often a copy is started again because other processes wrote meanwhile.
const TRIES: u32 = 5;

/// The suffix of a copy until it takes the database's place.
pub(super) const COPY: &str = ".rescued";

/// Deletes a copy that is of no use.
pub(super) fn remove_copy(copy: &Path) {
    for suffix in ["-wal", "-shm", ""] {
        // The next copy deletes it first.
        let _ = files::remove_if_there(&beside(copy, suffix));
    }
}

/// Puts a copy in the place of a missing database: the process that made it was killed between two renames.
///
/// # Errors
/// When another process holds the lock for longer than `timeout`, or the copy cannot be renamed.
pub(super) async fn adopt_copy(database: &Path, timeout: Duration) -> Result<(), StoreError> {
    let copy = beside(database, COPY);
    let is_left = || copy.is_file() && matches!(database.try_exists(), Ok(false));
    if !is_left() {
        return Ok(());
    }
    let fault = |error: io::Error| match error.kind() {
        io::ErrorKind::WouldBlock => StoreError::Busy(format!("{}: {error}", database.display())),
        _ => StoreError::NotWritable(format!("{}: {error}", copy.display())),
    };
    let _lock = files::lock_database(database, timeout).await.map_err(fault)?;
    // Another process may have done it meanwhile.
    if !is_left() {
        return Ok(());
    }
    match check_copy(&copy).await {
        Ok(()) => fs::rename(&copy, database).map_err(fault),
        // An incomplete copy, beside a database that somebody deleted.
        Err(StoreError::Corrupt(_)) => Ok(()),
        Err(other) => Err(other),
    }
}

impl SqliteStore {
    /// Whether [`SqliteStore::recover`] has something to do.
    pub(super) fn must_recover(&self, slot: &Slot) -> bool {
        match slot {
            Slot::Closed => false,
            Slot::Open(_) => self.mode.reopens().is_some() && !self.is_current(),
            Slot::Damaged { .. } => true,
        }
    }

    /// Closes a connection whose files are no longer in place, after saving what it still sees, and sets a damaged database
    /// aside.
    pub(super) async fn recover(&self, slot: &mut Slot) -> Result<(), StoreError> {
        match slot {
            Slot::Open(connection) if self.is_same_file() => self.save_log(connection).await?,
            Slot::Damaged { damage, identity, .. } => {
                let result = self.set_aside(damage.clone(), *identity).await;
                *slot = Slot::Closed;
                result?;
            }
            Slot::Open(_) | Slot::Closed => {}
        }
        *slot = Slot::Closed;
        self.set_open_files(None);
        Ok(())
    }

    /// Renames a damaged database and puts in its place what can be read of it, if anything.
    pub(super) async fn set_aside(
        &self,
        damage: String,
        damaged: Option<Identity>,
    ) -> Result<(), StoreError> {
        if self.mode.reopens() != Some(OnCorruption::SetAside) {
            return Err(StoreError::Corrupt(damage));
        }
        let fault =
            |error: io::Error| StoreError::Corrupt(format!("{damage}; setting it aside failed: {error}"));
        let _lock = files::lock_database(&self.path, LOCK_TIMEOUT)
            .await
            .map_err(fault)?;
        // Another process may have replaced it meanwhile.
        if damaged.is_none() || Identity::of(&self.path) != damaged {
            return Ok(());
        }
        // The file may be sound and only its log damaged or deleted. The copy is made before anything is moved, so that a
        // full disk or a kill leaves a database.
        let copy = beside(&self.path, COPY);
        let is_restored = match copy_without_log(&self.path, &copy).await {
            Ok(()) => true,
            Err(error) => {
                remove_copy(&copy);
                let StoreError::Corrupt(_) = error else {
                    return Err(error);
                };
                false
            }
        };
        let kept = files::rename_aside(&self.path).map_err(fault)?;
        if is_restored {
            // Should this fail, the next opening puts the copy in its place.
            fs::rename(&copy, &self.path).map_err(fault)?;
        }
        tracing::error!(%damage, kept = %kept.display(), is_restored, "the store was damaged and is set aside; \
             if only its log was damaged, the state of the last checkpoint is restored, else a new store begins");
        Ok(())
    }

    /// After the write-ahead log was deleted, replaced or overwritten: puts a database with everything that the open
    /// connection still sees in place of this one. It is a new file, because every other connection to the old one would
    /// go on with the old log.
    async fn save_log(&self, connection: &mut SqliteConnection) -> Result<(), StoreError> {
        let fault = |error: io::Error| self.not_writable(&error);
        let lock = files::lock_database(&self.path, LOCK_TIMEOUT)
            .await
            .map_err(fault)?;
        // Another store of this process may have done it meanwhile.
        if !self.is_same_file() {
            return Ok(());
        }
        let copy = beside(&self.path, COPY);
        if let Err(error) = self.copy_to(connection, &copy).await {
            remove_copy(&copy);
            drop(lock);
            // A full disk or a missing permission is no sign of damage.
            return match error {
                StoreError::Corrupt(damage) => {
                    let damage = format!("its write-ahead log was overwritten: {damage}");
                    let identity = self.open_files().and_then(super::OpenFiles::identity);
                    self.set_aside(damage, identity).await
                }
                other => Err(other),
            };
        }
        // A log that other processes began is not in the copy, so the old file is kept with it. Without one the old file
        // holds nothing more.
        let kept = match files::holds_something(&beside(&self.path, "-wal")) {
            true => Some(files::rename_aside(&self.path).map_err(fault)?),
            false => {
                for suffix in ["-wal", "-shm"] {
                    files::remove_if_there(&beside(&self.path, suffix)).map_err(fault)?;
                }
                None
            }
        };
        fs::rename(&copy, &self.path).map_err(fault)?;
        tracing::error!(
            path = %self.path.display(), kept = kept.map(|kept| kept.display().to_string()),
            "the write-ahead log was deleted or replaced while it was in use; its content is saved"
        );
        Ok(())
    }

    /// Writes everything that the connection sees to `target`, replacing it, and checks the result: also what is only in a
    /// deleted log, because the connection still has that file open. Starts again while others write; a process that
    /// writes later is told that the database was replaced.
    async fn copy_to(&self, connection: &mut SqliteConnection, target: &Path) -> Result<(), StoreError> {
        let not_writable =
            |error: io::Error| StoreError::NotWritable(format!("{}: {error}", target.display()));
        let fault = |error| self.error(error);
        for _ in 0..TRIES {
            let before = data_version(connection).await.map_err(fault)?;
            files::remove_if_there(target).map_err(not_writable)?;
            // SQLite writes into an empty private file, so that no other user can read it.
            files::create_private(target).map_err(not_writable)?;
            let copied = sqlx::query("VACUUM INTO ?1").bind(target.to_string_lossy().into_owned());
            copied.execute(&mut *connection).await.map_err(fault)?;
            if data_version(connection).await.map_err(fault)? != before {
                continue;
            }
            check_copy(target).await?;
            if data_version(connection).await.map_err(fault)? == before {
                return Ok(());
            }
        }
        check_copy(target).await
    }
}

/// A number that changes when another connection wrote.
async fn data_version(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    connection.fetch_one("PRAGMA data_version").await?.try_get(0)
}

/// Makes `target` a copy of a database file without its log: the state of the last checkpoint. The caller makes sure that
/// no process writes it meanwhile.
///
/// # Errors
/// [`StoreError::Corrupt`] when the file is damaged itself, [`StoreError::NotWritable`] when there is no room for a copy.
async fn copy_without_log(database: &Path, target: &Path) -> Result<(), StoreError> {
    let not_writable = |error: io::Error| StoreError::NotWritable(format!("{}: {error}", target.display()));
    remove_copy(target);
    files::remove_if_there(target)
        .and_then(|()| files::create_private(target))
        .map_err(not_writable)?;
    fs::copy(database, target).map_err(|error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            not_writable(error)
        }
        // A disk that cannot be read.
        _ => StoreError::Corrupt(format!("{}: {error}", database.display())),
    })?;
    check_copy(target).await
}

/// Checks a copy and gives it a write-ahead log, which `VACUUM INTO` does not.
async fn check_copy(target: &Path) -> Result<(), StoreError> {
    let fault = |error| store_error(target, error);
    let options = SqliteConnectOptions::new().filename(target);
    let mut connection = options.connect().await.map_err(fault)?;
    let checked = connection.fetch_one("PRAGMA integrity_check(1)").await;
    let result: String = checked.and_then(|row| row.try_get(0)).map_err(fault)?;
    let version = schema::version(&mut connection).await.map_err(fault)?;
    if result != "ok" || version == 0 {
        let what = if version == 0 {
            "it holds no tables"
        } else {
            &result
        };
        return Err(StoreError::Corrupt(format!("{}: {what}", target.display())));
    }
    connection
        .execute("PRAGMA journal_mode = WAL")
        .await
        .map_err(fault)?;
    connection.close().await.map_err(fault)
}
