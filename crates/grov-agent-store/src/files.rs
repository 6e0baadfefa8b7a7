//! The files of a SQLite database: private, and locked while they are in use.

use grov_agent::AgentStoreError;
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Appends to a file name: `agent.db` and `-wal` give `agent.db-wal`.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// An error of a file, with its path.
pub(crate) fn not_writable(path: &Path, error: &io::Error) -> AgentStoreError {
    AgentStoreError::NotWritable(format!(
        "{}: {error}; check that the directory exists, belongs to you and has space",
        path.display()
    ))
}

/// Creates the file and its directory for this user only. Removes the permissions of others from an existing file.
pub(crate) fn create_private(path: &Path) -> Result<(), AgentStoreError> {
    let create = || {
        if let Some(folder) = path.parent().filter(|folder| !folder.is_dir()) {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        match create_new(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => tighten(path),
            created => created.map(drop),
        }
    };
    create().map_err(|error| not_writable(path, &error))
}

/// Creates a file for this user only. An existing one is an error.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

fn tighten(path: &Path) -> io::Result<()> {
    let mode = std::fs::metadata(path)?.permissions().mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    std::fs::set_permissions(path, Permissions::from_mode(mode & 0o700))
}

/// Deletes a file if it exists.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// A lock on a file beside the database: shared while a process has it open, exclusive while it is replaced. The
/// operating system releases it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct InUse(#[expect(dead_code, reason = "holds the lock until it is closed")] File);

impl InUse {
    /// Waits until the database is not being replaced.
    pub(crate) async fn wait(path: &Path, most: Duration) -> Result<Self, AgentStoreError> {
        let start = Instant::now();
        let file = Self::file(path)?;
        loop {
            match file.try_lock_shared() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) if start.elapsed() < most => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(AgentStoreError::Unavailable(format!(
                        "{} is being restored by another process",
                        path.display()
                    )));
                }
                Err(TryLockError::Error(error)) => return Err(not_writable(path, &error)),
            }
        }
    }

    /// Takes the database for replacing it. Fails if a process has it open.
    pub(crate) fn alone(path: &Path) -> Result<Self, AgentStoreError> {
        let file = Self::file(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(AgentStoreError::Conflict(format!(
                "{} is in use; stop grov-agentd and try again. Nothing was changed",
                path.display()
            ))),
            Err(TryLockError::Error(error)) => Err(not_writable(path, &error)),
        }
    }

    fn file(path: &Path) -> Result<File, AgentStoreError> {
        let lock = with_suffix(path, ".lock");
        let opened = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&lock);
        opened.map_err(|error| not_writable(&lock, &error))
    }
}
