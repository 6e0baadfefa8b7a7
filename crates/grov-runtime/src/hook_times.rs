//! How long hooks take that run as processes: each adds four bytes to a file of the home, which the daemon counts.
//!
//! The file is there only while a daemon runs, so that hooks without one write nothing. Records that are added while the daemon
//! empties the file, once in 16,384 hooks, are lost.

use crate::Home;
use crate::home::create_private;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::Duration;

/// Bytes of a record: microseconds, and the highest bit for a guard.
const RECORD: usize = 4;
const GUARD: u32 = 1 << 31;
/// The daemon empties the file beyond this.
const EMPTIED_ABOVE: u64 = 64 * 1024;
/// Hooks add nothing beyond this: no daemon reads the file.
const MAX_BYTES: u64 = 1024 * 1024;

/// A hook that ran as a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookTime {
    /// Whether it ran before a tool call.
    pub is_guard: bool,
    /// From the start of the program to its end.
    pub time: Duration,
}

impl HookTime {
    /// Adds the hook to those of its home, if a daemon counts them. A hook never fails because of this.
    pub fn note(self, home: &Home) {
        let Ok(mut file) = OpenOptions::new().append(true).open(path(home)) else {
            return;
        };
        if file.metadata().is_ok_and(|metadata| metadata.len() < MAX_BYTES) {
            let _ = file.write_all(&self.record());
        }
    }

    fn record(self) -> [u8; RECORD] {
        let micros = u32::try_from(self.time.as_micros()).unwrap_or(u32::MAX);
        let kind = if self.is_guard { GUARD } else { 0 };
        (micros.min(GUARD - 1) | kind).to_le_bytes()
    }

    fn read(record: [u8; RECORD]) -> Self {
        let value = u32::from_le_bytes(record);
        Self {
            is_guard: value & GUARD != 0,
            time: Duration::from_micros((value & !GUARD).into()),
        }
    }
}

/// The file of a running daemon. Removed when dropped.
#[derive(Debug)]
pub struct HookTimes {
    path: PathBuf,
    file: File,
}

impl HookTimes {
    /// Begins to count the hooks of a home.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn count(home: &Home) -> io::Result<Self> {
        let path = path(home);
        let options = &mut OpenOptions::new();
        let file = create_private(&path, options.read(true).write(true).create(true).truncate(true))?;
        Ok(Self { path, file })
    }

    /// Returns the hooks since the last call.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn take(&mut self) -> io::Result<Vec<HookTime>> {
        let mut bytes = Vec::new();
        self.file.read_to_end(&mut bytes)?;
        let (records, rest) = bytes.as_chunks();
        let end = self.file.stream_position()?;
        if end > EMPTIED_ABOVE {
            self.file.set_len(0)?;
            self.file.seek(SeekFrom::Start(0))?;
        } else {
            // A record that is not whole yet is read the next time.
            self.file.seek(SeekFrom::Start(end - rest.len() as u64))?;
        }
        Ok(records.iter().map(|record| HookTime::read(*record)).collect())
    }
}

impl Drop for HookTimes {
    fn drop(&mut self) {
        // Another daemon of this home would have made the file anew.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn path(home: &Home) -> PathBuf {
    home.root().join("hook-times")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(is_guard: bool, micros: u64) -> HookTime {
        HookTime {
            is_guard,
            time: Duration::from_micros(micros),
        }
    }

    fn home(folder: &tempfile::TempDir) -> Home {
        Home::locate(Some(folder.path()), &crate::Environment::default()).unwrap()
    }

    #[test]
    fn hooks_are_counted_once_while_a_daemon_runs() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder);
        hook(true, 1).note(&home);
        assert!(!path(&home).exists(), "nobody counts");
        let mut times = HookTimes::count(&home).unwrap();
        let noted = [hook(true, 5200), hook(false, 70), hook(false, 0)];
        noted.into_iter().for_each(|hook| hook.note(&home));
        assert_eq!(times.take().unwrap(), noted);
        assert_eq!(times.take().unwrap(), []);
        hook(true, u64::MAX / 2).note(&home);
        assert_eq!(times.take().unwrap(), [hook(true, u64::from(GUARD) - 1)]);
        drop(times);
        assert!(!path(&home).exists());
    }

    #[test]
    fn the_file_stays_small() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder);
        let mut times = HookTimes::count(&home).unwrap();
        let many = MAX_BYTES / RECORD as u64 + 100;
        for _ in 0..many {
            hook(false, 1).note(&home);
        }
        assert_eq!(std::fs::metadata(path(&home)).unwrap().len(), MAX_BYTES);
        assert_eq!(times.take().unwrap().len() as u64, MAX_BYTES / RECORD as u64);
        assert_eq!(std::fs::metadata(path(&home)).unwrap().len(), 0);
        hook(false, 2).note(&home);
        assert_eq!(times.take().unwrap(), [hook(false, 2)]);
    }
}
