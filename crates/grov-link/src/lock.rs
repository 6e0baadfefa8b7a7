//! One process of a home sends and receives.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Held by the process that keeps the links of a home going. The system releases it when the process ends, however it ends.
#[derive(Debug)]
pub struct SenderLock {
    _file: File,
}

impl SenderLock {
    /// Takes the lock; `None` if another process holds it.
    ///
    /// # Errors
    ///
    /// The lock file cannot be created.
    pub fn try_take(home: &Path) -> io::Result<Option<Self>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(home.join("link.lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(error)) => Err(error),
        }
    }
}
