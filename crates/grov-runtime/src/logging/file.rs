//! A log file that several processes may write to. It is renamed when the day changes and at a maximum size.

use crate::home::create_private;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use time::{Date, OffsetDateTime};

/// A file of this size in bytes is renamed even if the day has not ended.
const MAX_FILE: u64 = 10 * 1024 * 1024;

/// The newest file. Older ones have the date of their last line behind the name, and a number if there are several of a day.
pub(super) struct RotatingFile {
    path: PathBuf,
    file: File,
    /// The date of the last line (UTC), which is in the name of the renamed file.
    date: Date,
    max_length: u64,
    /// Number of renamed files that are kept.
    keep: u32,
    now: fn() -> OffsetDateTime,
}

impl RotatingFile {
    pub(super) fn open(path: &Path, keep: u32) -> io::Result<Self> {
        Self::opened(path, MAX_FILE, keep, OffsetDateTime::now_utc)
    }

    fn opened(path: &Path, max_length: u64, keep: u32, now: fn() -> OffsetDateTime) -> io::Result<Self> {
        let file = create_private(path, OpenOptions::new().append(true).create(true))?;
        let metadata = file.metadata()?;
        let is_empty = metadata.len() == 0;
        let date = metadata.modified().map(|time| OffsetDateTime::from(time).date());
        Ok(Self {
            path: path.to_owned(),
            file,
            date: date.ok().filter(|_| !is_empty).unwrap_or_else(|| now().date()),
            max_length,
            keep,
            now,
        })
    }

    /// Opens the file again if another process has renamed it, or it was removed.
    fn follow(&mut self) -> io::Result<()> {
        let named = std::fs::metadata(&self.path);
        let own = self.file.metadata()?;
        if named.is_ok_and(|named| (named.dev(), named.ino()) == (own.dev(), own.ino())) {
            return Ok(());
        }
        *self = Self::opened(&self.path, self.max_length, self.keep, self.now)?;
        Ok(())
    }

    fn rotate(&mut self) -> io::Result<()> {
        // Another process may be renaming the same file. The lock ends with the file.
        self.file.lock()?;
        let before = self.file.metadata()?.ino();
        self.follow()?;
        if self.file.metadata()?.ino() != before {
            return Ok(());
        }
        std::fs::rename(&self.path, self.free_name())?;
        self.follow()?;
        self.remove_old();
        Ok(())
    }

    /// A name with the date that no file has.
    fn free_name(&self) -> PathBuf {
        let named = |suffix: String| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{}{suffix}", self.date));
            PathBuf::from(name)
        };
        let numbered = (1_u32..).map(|number| named(format!(".{number}")));
        let mut names = std::iter::once(named(String::new())).chain(numbered);
        names
            .find(|name| !name.exists())
            .unwrap_or_else(|| named(String::new()))
    }

    /// Removes all renamed files but the newest. Errors are ignored: the next rotation tries again.
    fn remove_old(&self) {
        let Some(name) = self.path.file_name().and_then(|name| name.to_str()) else {
            return;
        };
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let entries = std::fs::read_dir(folder.unwrap_or(Path::new(".")));
        let mut renamed: Vec<_> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| {
                let entry = entry.file_name();
                let rest = entry.to_str().and_then(|entry| entry.strip_prefix(name));
                rest.is_some_and(is_date)
            })
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        renamed.sort();
        let surplus = renamed.len().saturating_sub(self.keep as usize);
        for (_, path) in renamed.into_iter().take(surplus) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Whether the end of a name is that of a renamed file, such as `.2026-01-31` or `.2026-01-31.2`.
fn is_date(end: &str) -> bool {
    let digits =
        |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some(end) = end.strip_prefix('.') else {
        return false;
    };
    let (date, number) = end.split_once('.').unwrap_or((end, "1"));
    let mut parts = date.split('-');
    let is_date = [4, 2, 2]
        .into_iter()
        .all(|count| parts.next().is_some_and(|part| digits(part, count)));
    is_date && parts.next().is_none() && digits(number, number.len().max(1))
}

impl Write for RotatingFile {
    /// Writes the whole line to one file, with the process before it: several may write.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let today = (self.now)().date();
        self.follow()?;
        let length = self.file.metadata()?.len();
        if length > 0 && (self.date != today || length + line.len() as u64 > self.max_length) {
            self.rotate()?;
        }
        self.date = today;
        let mut text = format!("[s{}] ", std::process::id()).into_bytes();
        text.extend_from_slice(line);
        self.file.write_all(&text)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI64, Ordering};

    const MAX: u64 = 60;

    fn read(path: &Path) -> String {
        let prefix = format!("[s{}] ", std::process::id());
        std::fs::read_to_string(path).unwrap().replace(&prefix, "")
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_new_day_begins_a_new_file() {
        static DAY: AtomicI64 = AtomicI64::new(20_000);
        let now = || OffsetDateTime::from_unix_timestamp(DAY.load(Ordering::Relaxed) * 86_400).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("proxy.log");
        std::fs::write(folder.path().join("proxy.log.backup"), "mine").unwrap();
        let mut file = RotatingFile::opened(&path, MAX, 2, now).unwrap();
        for day in 0..4 {
            DAY.store(20_000 + day, Ordering::Relaxed);
            file.write_all(format!("day {day}\n").as_bytes()).unwrap();
        }
        assert_eq!(
            names(folder.path()),
            [
                "proxy.log",
                "proxy.log.2024-10-05",
                "proxy.log.2024-10-06",
                "proxy.log.backup"
            ],
            "two are kept"
        );
        assert_eq!(read(&path), "day 3\n");
        assert_eq!(read(&folder.path().join("proxy.log.2024-10-06")), "day 2\n");
    }

    #[test]
    fn a_full_file_is_renamed_without_splitting_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let now = || OffsetDateTime::UNIX_EPOCH;
        let mut file = RotatingFile::opened(&path, 1, 9, now).unwrap();
        for line in ["first\n", "second\n", "third\n"] {
            file.write_all(line.as_bytes()).unwrap();
        }
        assert_eq!(
            names(folder.path()),
            ["log", "log.1970-01-01", "log.1970-01-01.1"]
        );
        assert_eq!(read(&path), "third\n");
    }

    #[test]
    fn several_writers_share_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut one = RotatingFile::open(&path, 3).unwrap();
        let mut other = RotatingFile::open(&path, 3).unwrap();
        one.write_all(b"a\n").unwrap();
        other.write_all(b"b\n").unwrap();
        one.rotate().unwrap();
        other.write_all(b"c\n").unwrap();
        one.write_all(b"d\n").unwrap();
        assert_eq!(read(&path), "c\nd\n");
        std::fs::remove_file(&path).unwrap();
        one.write_all(b"e\n").unwrap();
        assert_eq!(read(&path), "e\n");
    }

    #[test]
    fn only_renamed_files_are_recognized() {
        for name in [".2026-01-31", ".2026-01-31.12"] {
            assert!(is_date(name), "{name}");
        }
        for name in [
            "",
            ".1",
            ".2026-01",
            ".2026-01-31.x",
            ".2026-01-31-1",
            ".2026-01-31.",
            "2026-01-31",
        ] {
            assert!(!is_date(name), "{name}");
        }
    }
}
