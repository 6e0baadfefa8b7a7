//! The spool: a file of JSON lines that holds records while the store is unavailable.
//!
//! Any process can append and drain. A drain first renames the file to `….draining`, under the lock that appending
//! takes, and deletes it when every record in it is stored. If the process dies in between, the next drain continues
//! with that file. Storing a record twice changes nothing, so no record is lost or duplicated. Invalid lines, such as
//! after a process died while writing, are moved to `….rejected`.

mod drain;

pub(crate) use drain::Drain;
pub use drain::{DrainReport, drain_spool};

use crate::files;
use grov_domain::ExchangeRecord;
use grov_domain::Redacted;
use grov_redact::Redactor;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long an append waits for the lock. It is held for one write or rename.
const LOCK_TIMEOUT: Duration = Duration::from_millis(250);

/// The default size limit, in bytes: a store that stays unavailable must not fill the disk.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Why records could not be appended to the spool.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpoolError {
    /// Another process held the lock too long.
    #[error("the spool {0} is locked by another process")]
    Locked(PathBuf),
    /// The file reached its size limit.
    #[error(
        "the spool {path} has reached its limit of {max_bytes} bytes; check why the store is unavailable"
    )]
    Full {
        /// The file.
        path: PathBuf,
        /// The limit.
        max_bytes: u64,
    },
    /// The file cannot be read or written.
    #[error("the spool {path} failed: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// One line as written.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum LineOut<'a> {
    Exchange(&'a Redacted<ExchangeRecord>),
}

/// One line as read.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum LineIn {
    Exchange(Box<ExchangeRecord>),
}

/// A spool file.
#[derive(Clone, Debug)]
pub struct Spool {
    path: PathBuf,
    max_bytes: u64,
}

impl Spool {
    /// The spool at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            max_bytes: MAX_BYTES,
        }
    }

    /// The spool that belongs to a database: `spool.jsonl` in its folder.
    pub fn for_database(database: &Path) -> Self {
        Self::new(database.with_file_name("spool.jsonl"))
    }

    /// Sets the size limit of the file, in bytes. The default is 256 MiB.
    pub fn with_max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends all records or none. Creates the file if needed, readable by this user only.
    ///
    /// # Errors
    /// The file is locked, full or cannot be written.
    pub fn append(&self, records: &[Redacted<ExchangeRecord>]) -> Result<(), SpoolError> {
        let mut lines = vec![b'\n'];
        for record in records {
            serde_json::to_writer(&mut lines, &LineOut::Exchange(record))
                .map_err(|error| self.fault(error.into()))?;
            lines.push(b'\n');
        }
        let _lock = self.lock()?;
        let mut file = files::open_private(&self.path).map_err(|error| self.fault(error))?;
        let length = file.metadata().map_err(|error| self.fault(error))?.len();
        if length + lines.len() as u64 > self.max_bytes {
            return Err(SpoolError::Full {
                path: self.path.clone(),
                max_bytes: self.max_bytes,
            });
        }
        // Ends an incomplete last line first, so that it does not spoil the next one.
        let torn = ends_incomplete(&mut file, length).map_err(|error| self.fault(error))?;
        let lines = if torn { &lines[..] } else { &lines[1..] };
        file.write_all(lines).map_err(|error| {
            // If this fails, the partial write remains as an invalid line.
            let _ = file.set_len(length);
            self.fault(error)
        })
    }

    /// The number of waiting records, including those of an unfinished drain.
    pub fn waiting(&self) -> u64 {
        count_lines(&self.path) + count_lines(&self.draining_path())
    }

    /// Whether no records wait; cheaper than [`Self::waiting`].
    pub(crate) fn is_empty(&self) -> bool {
        let holds =
            |path: &Path| fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
        !holds(&self.path) && !holds(&self.draining_path())
    }

    fn draining_path(&self) -> PathBuf {
        files::with_suffix(&self.path, ".draining")
    }

    /// Redacts the rejected lines.
    pub(crate) fn redact_rejected(&self) -> Result<(), SpoolError> {
        let path = self.rejected_path();
        let _lock = self.lock()?;
        let Ok(bytes) = fs::read(&path) else {
            return Ok(());
        };
        let text = String::from_utf8_lossy(&bytes);
        let redacted: String = text
            .split_inclusive('\n')
            .map(|line| Redactor::shared().json(line).into_inner())
            .collect();
        if redacted == text {
            return Ok(());
        }
        let new = files::with_suffix(&path, ".new");
        let replaced = files::open_private(&new)
            .and_then(|mut file| {
                file.set_len(0)?;
                file.write_all(redacted.as_bytes())
            })
            .and_then(|()| fs::rename(&new, &path));
        replaced.map_err(|error| self.fault(error))
    }

    fn rejected_path(&self) -> PathBuf {
        files::with_suffix(&self.path, ".rejected")
    }

    fn lock(&self) -> Result<File, SpoolError> {
        let path = files::with_suffix(&self.path, ".lock");
        files::create_folder_of(&path).map_err(|error| self.fault(error))?;
        let file = files::open_private(&path).map_err(|error| self.fault(error))?;
        match files::lock_within(&file, LOCK_TIMEOUT) {
            Ok(true) => Ok(file),
            Ok(false) => Err(SpoolError::Locked(self.path.clone())),
            Err(error) => Err(self.fault(error)),
        }
    }

    fn fault(&self, source: io::Error) -> SpoolError {
        SpoolError::Io {
            path: self.path.clone(),
            source,
        }
    }
}

fn ends_incomplete(file: &mut File, length: u64) -> io::Result<bool> {
    if length == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != [b'\n'])
}

fn count_lines(path: &Path) -> u64 {
    let Ok(mut file) = File::open(path) else { return 0 };
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return 0;
    }
    let mut buffer = [0; 16 * 1024];
    let mut lines = 0;
    while let Ok(length @ 1..) = file.read(&mut buffer) {
        lines += buffer[..length].iter().filter(|byte| **byte == b'\n').count() as u64;
    }
    lines
}
