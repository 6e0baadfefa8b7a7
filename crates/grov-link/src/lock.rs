//! One process of a home sends and receives.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Held by the process that keeps the links of a home going. The system releases it when the process ends, however it ends.
#[derive(Debug)]
pub struct SenderLock {
    _file: File,
}

impl SenderLock {
    /// Takes the lock, and notes in its file who holds it; `None` if another process holds it.
    ///
    /// # Errors
    ///
    /// The lock file cannot be created.
    pub fn try_take(home: &Path) -> io::Result<Option<Self>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(path(home))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // The note is for `holder` alone; the lock holds on a full disk too.
        let _ = file
            .set_len(0)
            .and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Some(Self { _file: file }))
    }

    /// Returns the id of the process that holds the lock; `None` if no process does, or it is of a version that does not say.
    pub fn holder(home: &Path) -> Option<u32> {
        let mut file = File::open(path(home)).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {}
            _ => return None,
        }
        let mut text = String::new();
        file.read_to_string(&mut text).ok()?;
        text.trim().parse().ok()
    }
}

fn path(home: &Path) -> PathBuf {
    home.join("link.lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_known_while_it_holds_the_lock() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(SenderLock::holder(home.path()), None);
        assert!(!path(home.path()).exists());
        std::fs::write(path(home.path()), "4294967290 and more\n").unwrap();
        let lock = SenderLock::try_take(home.path()).unwrap().unwrap();
        assert_eq!(SenderLock::holder(home.path()), Some(std::process::id()));
        assert!(SenderLock::try_take(home.path()).unwrap().is_none());
        drop(lock);
        assert_eq!(SenderLock::holder(home.path()), None);
    }
}
