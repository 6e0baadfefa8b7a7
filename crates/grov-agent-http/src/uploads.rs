//! Uploaded files, by the hash of their content. A name that a client gives is never a path.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use uuid::Uuid;

/// A file younger than this is not removed: its document may be about to be stored.
const MIN_AGE: Duration = Duration::from_secs(60 * 60);

/// The directory of uploaded files.
#[derive(Clone, Debug)]
pub struct Uploads {
    directory: PathBuf,
    /// Held while a file is found and touched, or found old and removed, so that no file is removed that was just kept.
    changing: Arc<Mutex<()>>,
}

impl Uploads {
    /// Names the directory. It is created with the first file.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            changing: Arc::default(),
        }
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where the content with this SHA-256 (hexadecimal) is; `None` if it is no hash.
    pub fn path(&self, sha256: &str) -> Option<PathBuf> {
        is_hash(sha256).then(|| self.directory.join(&sha256[..2]).join(sha256))
    }

    /// Keeps a content under its hash, completely or not at all. Blocks.
    ///
    /// # Errors
    ///
    /// Returns the error of the file system.
    pub fn keep(&self, sha256: &str, content: &[u8]) -> io::Result<()> {
        let not_a_hash = || io::Error::new(io::ErrorKind::InvalidInput, "not a SHA-256");
        let path = self.path(sha256).ok_or_else(not_a_hash)?;
        let changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(existing) = File::options().write(true).open(&path)
            && existing.metadata()?.len() == content.len() as u64
        {
            // So that it is not removed as unused meanwhile.
            return existing.set_modified(SystemTime::now());
        }
        // What follows writes another file, and its name is given to it at once.
        drop(changing);
        let folder = self.directory.join(&sha256[..2]);
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        let temporary = folder.join(format!(".{}.tmp", Uuid::now_v7()));
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary)
            .and_then(|mut file| {
                file.write_all(content)?;
                file.sync_all()
            })
            .and_then(|()| fs::rename(&temporary, &path));
        if written.is_err() {
            // Only the first error is returned; the file may not exist.
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    /// Reads a content; `None` if it is not kept here. Blocks.
    ///
    /// # Errors
    ///
    /// Returns the error of the file system.
    pub fn read(&self, sha256: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(path) = self.path(sha256) else {
            return Ok(None);
        };
        match fs::read(path) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the hashes of files that are old enough to be removed, and removes what an interrupted write left. Blocks.
    ///
    /// # Errors
    ///
    /// Returns the error of the file system.
    pub fn removable(&self, now: SystemTime) -> io::Result<Vec<String>> {
        let folders = match fs::read_dir(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            folders => folders?,
        };
        let mut hashes = Vec::new();
        for folder in folders {
            let folder = folder?;
            if !folder.file_type()?.is_dir() || folder.file_name().len() != 2 {
                continue;
            }
            for file in fs::read_dir(folder.path())? {
                let file = file?;
                let Ok(name) = file.file_name().into_string() else {
                    continue;
                };
                let Some(modified) = unless_gone(file.metadata())? else {
                    continue;
                };
                let age = modified.modified().map(|at| now.duration_since(at));
                if !matches!(age, Ok(Ok(age)) if age >= MIN_AGE) {
                    continue;
                }
                if is_hash(&name) {
                    hashes.push(name);
                } else if name.starts_with('.') && name.ends_with(".tmp") {
                    unless_gone(fs::remove_file(file.path()))?;
                }
            }
        }
        Ok(hashes)
    }

    /// Removes a file if it is still old enough. Blocks.
    ///
    /// # Errors
    ///
    /// Returns the error of the file system.
    pub fn remove(&self, sha256: &str, now: SystemTime) -> io::Result<()> {
        let Some(path) = self.path(sha256) else {
            return Ok(());
        };
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(found) = unless_gone(fs::metadata(&path))? else {
            return Ok(());
        };
        if now
            .duration_since(found.modified()?)
            .is_ok_and(|age| age >= MIN_AGE)
        {
            unless_gone(fs::remove_file(path))?;
        }
        Ok(())
    }
}

/// A file that vanished meanwhile, such as one that another instance renamed or removed, is no error.
fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const HASH: &str = "abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789";

    #[test]
    fn a_content_is_kept_privately_under_its_hash() {
        let directory = tempfile::tempdir().unwrap();
        let uploads = Uploads::new(directory.path().join("uploads"));
        uploads.keep(HASH, b"text").unwrap();
        uploads.keep(HASH, b"text").unwrap();
        let path = directory.path().join("uploads/ab").join(HASH);
        assert_eq!(fs::read(&path).unwrap(), b"text");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(uploads.read(HASH).unwrap().as_deref(), Some(&b"text"[..]));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn nothing_but_a_hash_is_a_name() {
        let uploads = Uploads::new("/nowhere");
        for name in ["../../x", "", "ABCDEF", &HASH.to_uppercase(), "../ab"] {
            assert!(uploads.path(name).is_none(), "{name}");
            assert!(uploads.keep(name, b"").is_err(), "{name}");
        }
    }

    #[test]
    fn a_file_that_vanished_is_no_error() {
        let directory = tempfile::tempdir().unwrap();
        let uploads = Uploads::new(directory.path());
        uploads.remove(HASH, SystemTime::now()).unwrap();
        assert!(
            unless_gone(fs::metadata(directory.path().join("x")))
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn only_old_files_may_be_removed() {
        let directory = tempfile::tempdir().unwrap();
        let uploads = Uploads::new(directory.path());
        assert_eq!(uploads.removable(SystemTime::now()).unwrap(), [""; 0]);
        uploads.keep(HASH, b"text").unwrap();
        let left = directory.path().join("ab/.x.tmp");
        fs::write(&left, "").unwrap();
        assert_eq!(uploads.removable(SystemTime::now()).unwrap(), [""; 0]);
        let later = SystemTime::now() + MIN_AGE + Duration::from_secs(1);
        assert_eq!(uploads.removable(later).unwrap(), [HASH]);
        assert!(!left.exists());
        uploads.remove(HASH, SystemTime::now()).unwrap();
        assert!(uploads.read(HASH).unwrap().is_some());
        uploads.remove(HASH, later).unwrap();
        assert!(uploads.read(HASH).unwrap().is_none());
    }
}
