//! Recovers from a damaged database, or from a write-ahead log that was deleted or overwritten while it was open.

use super::connection::Slot;
use super::{OnCorruption, SqliteStore, StoreError, schema, store_error};
use crate::files::{self, Identity, LOCK_TIMEOUT, with_suffix};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Executor, Row};
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

/// How often a copy is repeated because other processes wrote during it.
const MAX_TRIES: u32 = 5;

/// The file suffix of a copy before it replaces the database.
pub(super) const COPY_SUFFIX: &str = ".rescued";

/// Deletes an unusable copy.
pub(super) fn remove_copy(copy: &Path) {
    for suffix in ["-wal", "-shm", ""] {
        // If this fails, the next copy deletes it.
        let _ = files::remove_if_there(&with_suffix(copy, suffix));
    }
}

/// Moves a copy to the place of a missing database, after a process was killed between two renames.
///
/// # Errors
/// Another process holds the lock for longer than `timeout`, or the copy cannot be renamed.
pub(super) async fn restore_copy(database: &Path, timeout: Duration) -> Result<(), StoreError> {
    let copy = with_suffix(database, COPY_SUFFIX);
    let is_left = || copy.is_file() && matches!(database.try_exists(), Ok(false));
    if !is_left() {
        return Ok(());
    }
    let fault = |error: io::Error| match error.kind() {
        io::ErrorKind::WouldBlock => StoreError::Busy(format!("{}: {error}", database.display())),
        _ => StoreError::NotWritable(format!("{}: {error}", copy.display())),
    };
    let _lock = files::lock_database(database, timeout).await.map_err(fault)?;
    // Another process may have done it in the meantime.
    if !is_left() {
        return Ok(());
    }
    match check_copy(&copy).await {
        Ok(()) => fs::rename(&copy, database).map_err(fault),
        // The copy is incomplete, and the database was deleted.
        Err(StoreError::Corrupt(_)) => Ok(()),
        Err(other) => Err(other),
    }
}

impl SqliteStore {
    /// Whether [`SqliteStore::recover`] must be called.
    pub(super) fn must_recover(&self, slot: &Slot) -> bool {
        match slot {
            Slot::Closed => false,
            Slot::Open(_) => self.mode.reopens().is_some() && !self.is_current(),
            Slot::Damaged { .. } => true,
        }
    }

    /// Closes a connection whose files are not in place, after saving the content that it can still read. Sets a
    /// damaged database aside.
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

    /// Renames a damaged database and replaces it by a copy of its readable part, if any.
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
        // Another process may have replaced it in the meantime.
        if damaged.is_none() || Identity::of(&self.path) != damaged {
            return Ok(());
        }
        // The file may be intact and only its log damaged or deleted. The copy is made before any rename, so that a
        // database remains after a full disk or a kill.
        let copy = with_suffix(&self.path, COPY_SUFFIX);
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
            // If this fails, the next opening moves the copy.
            fs::rename(&copy, &self.path).map_err(fault)?;
        }
        tracing::error!(%damage, kept = %kept.display(), is_restored, "the database was damaged and has been renamed; \
             if only its write-ahead log was damaged, the last checkpoint is restored; otherwise a new database is created");
        Ok(())
    }

    /// After the write-ahead log was deleted, replaced or overwritten: replaces the database by a new file with
    /// everything that the open connection can read. A new file, because other connections to the old one would
    /// continue with the old log.
    async fn save_log(&self, connection: &mut SqliteConnection) -> Result<(), StoreError> {
        let fault = |error: io::Error| self.not_writable(&error);
        let lock = files::lock_database(&self.path, LOCK_TIMEOUT)
            .await
            .map_err(fault)?;
        // Another store of this process may have done it in the meantime.
        if !self.is_same_file() {
            return Ok(());
        }
        let copy = with_suffix(&self.path, COPY_SUFFIX);
        if let Err(error) = self.copy_to(connection, &copy).await {
            remove_copy(&copy);
            drop(lock);
            // A full disk or a missing permission does not mean that the database is damaged.
            return match error {
                StoreError::Corrupt(damage) => {
                    let damage = format!("its write-ahead log was overwritten: {damage}");
                    let identity = self.open_files().and_then(super::OpenFiles::identity);
                    self.set_aside(damage, identity).await
                }
                other => Err(other),
            };
        }
        // If other processes began a new log, its content is not in the copy, so the old file is kept with it.
        // Otherwise the old file holds nothing more.
        let kept = match files::is_not_empty(&with_suffix(&self.path, "-wal")) {
            true => Some(files::rename_aside(&self.path).map_err(fault)?),
            false => {
                for suffix in ["-wal", "-shm"] {
                    files::remove_if_there(&with_suffix(&self.path, suffix)).map_err(fault)?;
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

    /// Copies everything that the connection can read to `target` and checks the result. This includes content that is
    /// only in a deleted log, which the connection still has open. Repeats the copy while other processes write; later
    /// writers get an error that the database was replaced.
    async fn copy_to(&self, connection: &mut SqliteConnection, target: &Path) -> Result<(), StoreError> {
        let not_writable =
            |error: io::Error| StoreError::NotWritable(format!("{}: {error}", target.display()));
        let fault = |error| self.error(error);
        for _ in 0..MAX_TRIES {
            let before = data_version(connection).await.map_err(fault)?;
            files::remove_if_there(target).map_err(not_writable)?;
            // Created first, so that no other user can read it.
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

/// Returns a number that changes when another connection writes.
async fn data_version(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    connection.fetch_one("PRAGMA data_version").await?.try_get(0)
}

/// Copies a database file without its log: the state of the last checkpoint. The caller ensures that no process writes
/// to it.
///
/// # Errors
/// [`StoreError::Corrupt`] if the file itself is damaged, [`StoreError::NotWritable`] if there is no room for a copy.
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
        // The disk cannot be read.
        _ => StoreError::Corrupt(format!("{}: {error}", database.display())),
    })?;
    check_copy(target).await
}

/// Checks a copy and switches it to a write-ahead log, which `VACUUM INTO` does not do.
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
