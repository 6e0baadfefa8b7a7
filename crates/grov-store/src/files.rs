//! Private files of a store, their locks, and setting a damaged database aside.

use grov_domain::{Clock, SystemClock};
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use time::macros::format_description;

/// Appends `suffix` to the file name: `grov.db` and `-wal` give `grov.db-wal`.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Creates the parent directory of `path`, accessible to this user only. An existing directory is not changed.
pub(crate) fn create_folder_of(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    if folder.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Creates an empty file that only this user can read. If the file exists, removes the permissions of group and others.
///
/// An existing file is not opened: closing it would drop the locks that SQLite holds on it in this process.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    match options.write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => tighten(path),
        Err(error) => Err(error),
    }
}

/// Opens a file that only this user can read, creating it if it is missing. Writes are appended.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    let file = options.open(path)?;
    tighten(path)?;
    Ok(file)
}

/// Removes the permissions of group and others.
fn tighten(path: &Path) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    let mode = metadata.permissions().mode();
    if metadata.is_file() && mode & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o700))?;
    }
    Ok(())
}

/// Identifies a file, to detect that it was moved or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity(u64, u64);

impl Identity {
    /// The identity of the file at `path`; `None` when there is none.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(Self::from_metadata)
    }

    /// The identity of an open file.
    pub(crate) fn of_file(file: &File) -> Option<Self> {
        file.metadata().ok().map(Self::from_metadata)
    }

    fn from_metadata(metadata: fs::Metadata) -> Self {
        Self(metadata.dev(), metadata.ino())
    }
}

/// Waits for the exclusive lock of a file. Returns `false` after `timeout`.
///
/// The lock is held for one rename or write, so polling every millisecond is sufficient.
pub(crate) fn lock_within(file: &File, timeout: Duration) -> io::Result<bool> {
    poll_lock(|| file.try_lock(), timeout)
}

fn poll_lock(try_lock: impl Fn() -> Result<(), fs::TryLockError>, timeout: Duration) -> io::Result<bool> {
    let start = Instant::now();
    loop {
        match try_lock() {
            Ok(()) => return Ok(true),
            Err(fs::TryLockError::WouldBlock) if start.elapsed() >= timeout => return Ok(false),
            Err(fs::TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            Err(fs::TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// How long setting a database aside waits for another process that migrates or replaces it. That usually takes
/// milliseconds, and seconds on a busy disk.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// Locks a database for migrating it or setting it aside. The lock is held until the file is closed.
pub(crate) async fn lock_database(path: &Path, timeout: Duration) -> io::Result<File> {
    let file = open_private(&with_suffix(path, ".lock"))?;
    locked(|| file.try_lock(), timeout).await?;
    Ok(file)
}

/// The shared lock for opening a database: while it is held, no process sets the database aside. SQLite opens the
/// database, its log and its shared memory one by one by name, so a rename in between would mix two databases.
///
/// `None` if the lock file is missing and cannot be created: then no process can rename the database either.
pub(crate) async fn lock_for_opening(path: &Path, timeout: Duration) -> io::Result<Option<File>> {
    let lock = with_suffix(path, ".lock");
    let Ok(file) = open_private(&lock).or_else(|_| File::open(&lock)) else {
        return Ok(None);
    };
    locked(|| file.try_lock_shared(), timeout).await?;
    Ok(Some(file))
}

async fn locked(try_lock: impl Fn() -> Result<(), fs::TryLockError>, timeout: Duration) -> io::Result<()> {
    let start = Instant::now();
    while !poll_lock(&try_lock, Duration::from_millis(1))? {
        if start.elapsed() > timeout {
            let reason = "another process is migrating or replacing the database";
            return Err(io::Error::new(io::ErrorKind::WouldBlock, reason));
        }
        // The lock may be held by another call on this thread.
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Deletes a file if it exists.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Whether the file exists and is not empty.
pub(crate) fn is_not_empty(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0)
}

/// Renames a damaged database and its side files to `…corrupt-<time>`, so that a new one can be created. Deletes
/// nothing. Returns the new path of the database.
///
/// # Errors
/// A file cannot be renamed, or another process holds the lock.
pub async fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let _lock = lock_database(path, LOCK_TIMEOUT).await?;
    rename_aside(path)
}

/// Follows the name of a database that was set aside; the time comes after it.
const SET_ASIDE: &str = ".corrupt-";

/// Whether the name is that of a database that was set aside.
pub(crate) fn is_set_aside(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.contains(SET_ASIDE))
}

/// The databases next to this one that were set aside, sorted by name.
pub fn set_aside_databases(path: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Vec::new();
    };
    let beginning = format!("{name}{SET_ASIDE}");
    let is_database = |path: &PathBuf| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let side = ["-wal", "-shm", "-journal", ".lock"]
            .iter()
            .any(|suffix| name.ends_with(suffix));
        name.starts_with(&beginning) && !side
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_database).collect();
    found.sort();
    found
}

/// See [`set_aside`]. The caller holds [`lock_database`].
pub(crate) fn rename_aside(path: &Path) -> io::Result<PathBuf> {
    let stamp = SystemClock
        .now()
        .format(format_description!(
            "[year][month][day]T[hour][minute][second].[subsecond digits:6]Z"
        ))
        .map_err(io::Error::other)?;
    let target = with_suffix(path, &format!("{SET_ASIDE}{stamp}"));
    // The database is renamed last: a new one must never be opened with the old write-ahead log.
    for suffix in ["-wal", "-shm", "-journal", ""] {
        match fs::rename(with_suffix(path, suffix), with_suffix(&target, suffix)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !suffix.is_empty() => {}
            other => other?,
        }
    }
    Ok(target)
}
