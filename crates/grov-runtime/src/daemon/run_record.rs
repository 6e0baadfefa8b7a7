//! Daemons that serve one `grov run`. They share the home's database but not its lock: each has a locked record of its own.

use super::{LockError, MAX_RECORD, Record};
use crate::Home;
use crate::home::create_private;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The published record of such a daemon. Dropping it removes the file; the system releases its lock also after a crash.
#[derive(Debug)]
pub struct RunRecord {
    path: PathBuf,
    _file: File,
}

impl RunRecord {
    /// Publishes `record` in the home, which must exist.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn publish(home: &Home, record: &Record) -> Result<Self, LockError> {
        let path = home.run_records().join(format!("{}.json", record.pid));
        let file = Self::write(home, &path, record);
        match file {
            Ok(file) => Ok(Self { path, _file: file }),
            Err(source) => Err(LockError::Io { path, source }),
        }
    }

    fn write(home: &Home, path: &Path, record: &Record) -> io::Result<File> {
        home.create_run_records().map_err(io::Error::other)?;
        let temporary = path.with_extension("tmp");
        let mut options = OpenOptions::new();
        let mut file = create_private(&temporary, options.write(true).create(true).truncate(true))?;
        // Locked before it has its name: readers remove records that are not locked.
        file.lock()?;
        file.write_all(&serde_json::to_vec(record)?)?;
        std::fs::rename(&temporary, path)?;
        Ok(file)
    }
}

impl Drop for RunRecord {
    fn drop(&mut self) {
        // A reader may have removed it.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The records of running daemons that serve one `grov run`. Removes those that a crash left.
pub fn run_records(home: &Home) -> Vec<Record> {
    let entries = std::fs::read_dir(home.run_records())
        .into_iter()
        .flatten()
        .flatten();
    let records = entries.map(|entry| entry.path());
    records
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .filter_map(|path| read_live(&path))
        .collect()
}

fn read_live(path: &Path) -> Option<Record> {
    let file = File::open(path).ok()?;
    if !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
        let _ = std::fs::remove_file(path);
        return None;
    }
    let mut content = Vec::new();
    file.take(MAX_RECORD).read_to_end(&mut content).ok()?;
    serde_json::from_slice(&content).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;
    use time::OffsetDateTime;

    #[test]
    fn a_record_is_found_while_its_daemon_runs() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        assert_eq!(run_records(&home), []);
        let record = Record::of_this_process("http://127.0.0.1:1", "1.2.3", OffsetDateTime::UNIX_EPOCH);
        let published = RunRecord::publish(&home, &record).unwrap();
        assert_eq!(run_records(&home), std::slice::from_ref(&record));
        let left = std::fs::read(&published.path).unwrap();
        drop(published);
        assert_eq!(run_records(&home), []);
        let path = home.run_records().join("7.json");
        std::fs::write(&path, left).unwrap();
        assert_eq!(
            run_records(&home),
            [],
            "the record of a killed daemon does not count"
        );
        assert!(!path.exists());
    }
}
