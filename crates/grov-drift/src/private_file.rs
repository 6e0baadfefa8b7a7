//! Files below Grov's home that only this user can read.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// Opens or creates a file, and creates its folder.
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    options.create(true).mode(0o600).open(path)
}

/// Opens and locks a file until the returned value is dropped; `None` if another process holds the lock for longer than
/// `timeout`.
pub(crate) fn lock(path: &Path, timeout: Duration, retry_interval: Duration) -> io::Result<Option<File>> {
    let file = open(path, OpenOptions::new().read(true).write(true).truncate(false))?;
    let until = Instant::now() + timeout;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(retry_interval),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}
