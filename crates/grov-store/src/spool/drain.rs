//! Moves records from the spool to a store.

use super::{LineIn, Spool, SpoolError};
use crate::files::{self, Identity};
use grov_domain::{ExchangeRecord, ExchangeStore, Redacted, StoreError};
use grov_redact::Redactor;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

/// The maximum number of records, and bytes, passed to the store at once.
const CHUNK_RECORDS: usize = 256;
const CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// The result of a drain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrainReport {
    /// Records passed to the store, including those that it already had.
    pub drained: u64,
    /// Invalid lines, which were moved to the file ending in `.rejected`.
    pub rejected: u64,
}

/// A spool file that was renamed and is locked against other drains.
pub(crate) struct Drain {
    spool: Spool,
    reader: BufReader<File>,
    pub(crate) rejected: u64,
}

impl Spool {
    /// Starts draining. `None` if no records wait or another process is draining.
    pub(crate) fn drain(&self) -> Result<Option<Drain>, SpoolError> {
        if self.is_empty() {
            return Ok(None);
        }
        if let Some(drain) = self.adopt()? {
            return Ok(Some(drain));
        }
        let draining = self.draining_path();
        {
            let _lock = self.lock()?;
            if draining.exists() || !fs::metadata(&self.path).is_ok_and(|metadata| metadata.is_file()) {
                return Ok(None);
            }
            fs::rename(&self.path, &draining).map_err(|error| self.fault(error))?;
        }
        self.adopt()
    }

    /// Locks the file of an unfinished drain, unless there is none or another process holds it.
    fn adopt(&self) -> Result<Option<Drain>, SpoolError> {
        let path = self.draining_path();
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.fault(error)),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Ok(None),
            Err(fs::TryLockError::Error(error)) => return Err(self.fault(error)),
        }
        // The previous holder of the lock may have deleted the file.
        if Identity::of_file(&file) != Identity::of(&path) {
            return Ok(None);
        }
        Ok(Some(Drain {
            spool: self.clone(),
            reader: BufReader::new(file),
            rejected: 0,
        }))
    }
}

impl Drain {
    /// Reads the next records; empty at the end. They are redacted again, because an older version may have written
    /// them.
    pub(crate) fn read_chunk(&mut self) -> Result<Vec<Redacted<ExchangeRecord>>, SpoolError> {
        let (mut chunk, mut line, mut bytes) = (Vec::new(), Vec::new(), 0);
        while chunk.len() < CHUNK_RECORDS && bytes < CHUNK_BYTES {
            line.clear();
            let length = self
                .reader
                .read_until(b'\n', &mut line)
                .map_err(|error| self.spool.fault(error))?;
            if length == 0 {
                break;
            }
            bytes += length;
            match serde_json::from_slice(&line) {
                Ok(LineIn::Exchange(record)) => chunk.push(Redactor::shared().clean(*record)),
                Err(_) if line.iter().all(u8::is_ascii_whitespace) => {}
                Err(_) => {
                    self.rejected += 1;
                    reject(&self.spool.rejected_path(), &line).map_err(|error| self.spool.fault(error))?;
                }
            }
        }
        Ok(chunk)
    }

    /// Deletes the file after all its records were stored.
    pub(crate) fn finish(self) -> Result<(), SpoolError> {
        fs::remove_file(self.spool.draining_path()).map_err(|error| self.spool.fault(error))
    }
}

fn reject(path: &Path, line: &[u8]) -> io::Result<()> {
    let mut kept = line.to_vec();
    if !kept.ends_with(b"\n") {
        kept.push(b'\n');
    }
    files::open_private(path)?.write_all(&kept)
}

/// Passes all waiting records to a store. Records that the store refuses stay in the spool.
///
/// # Errors
/// Errors of the store, or of the spool as [`StoreError::Other`].
pub async fn drain_spool(store: &dyn ExchangeStore, spool: &Spool) -> Result<DrainReport, StoreError> {
    let fault = |error: SpoolError| StoreError::Other(error.to_string());
    let mut report = DrainReport::default();
    while let Some(mut drain) = spool.drain().map_err(fault)? {
        loop {
            let chunk = drain.read_chunk().map_err(fault)?;
            if chunk.is_empty() {
                break;
            }
            store.append(&chunk).await?;
            report.drained += chunk.len() as u64;
        }
        report.rejected += drain.rejected;
        drain.finish().map_err(fault)?;
    }
    Ok(report)
}
