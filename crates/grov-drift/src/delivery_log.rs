//! The memories delivered to a session, one small file per session.
//!
//! Injected text stays in the client's history, so each memory is delivered once. Only the hook path uses these files.

use crate::private_file;
use grov_domain::{ClientSessionId, TaskId};
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Maximum number of bytes read of a log.
const MAX_FILE_BYTES: u64 = 256 * 1024;
/// Logs that were not changed for longer are removed.
const RETENTION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The memories delivered to one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryLog {
    path: PathBuf,
}

impl DeliveryLog {
    /// The log of a session below Grov's home; `None` if the session id is not a valid file name.
    pub fn of(home: &Path, session: &ClientSessionId) -> Option<Self> {
        Some(Self {
            path: file(home, session)?,
        })
    }

    /// Reads the delivered memories; empty if the file cannot be read.
    pub fn read(&self) -> HashSet<TaskId> {
        let mut text = String::new();
        let read =
            File::open(&self.path).and_then(|file| file.take(MAX_FILE_BYTES).read_to_string(&mut text));
        if read.is_err() {
            return HashSet::new();
        }
        text.lines().map(TaskId::new).collect()
    }

    /// Appends memories.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&self, memories: &[TaskId]) -> io::Result<()> {
        let lines: String = memories
            .iter()
            .map(|memory| format!("{}\n", memory.as_str()))
            .collect();
        // A single write, so that concurrent hooks do not mix their lines.
        private_file::open(&self.path, OpenOptions::new().append(true))?.write_all(lines.as_bytes())
    }

    /// Removes the log: the client's history was cleared.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn clear(&self) -> io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The sessions whose history has one of these memories, the most recently told first. Of those that were idle for longer than 30 days
    /// nothing is known.
    pub fn sessions_told(home: &Path, memories: &[TaskId]) -> Vec<ClientSessionId> {
        let mut found = Vec::new();
        let entries = std::fs::read_dir(folder(home));
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(session) = name.to_str().map(ClientSessionId::new) else {
                continue;
            };
            // The folder has other files of sessions, too; their names are no session ids.
            let told = Self::of(home, &session).map(|log| log.read()).unwrap_or_default();
            if memories.iter().any(|memory| told.contains(memory)) {
                let modified = entry.metadata().and_then(|metadata| metadata.modified());
                found.push((modified.unwrap_or(SystemTime::UNIX_EPOCH), session));
            }
        }
        found.sort_by_key(|(modified, _)| std::cmp::Reverse(*modified));
        found.into_iter().map(|(_, session)| session).collect()
    }

    /// Removes the logs of sessions that were idle for 30 days.
    pub fn remove_old(home: &Path, now: SystemTime) {
        let entries = std::fs::read_dir(folder(home));
        for entry in entries.into_iter().flatten().flatten() {
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            let age = modified
                .ok()
                .and_then(|modified| now.duration_since(modified).ok());
            if age.is_some_and(|age| age > RETENTION) {
                // Another hook may have removed it.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// The file of a session; `None` if the session id is not a valid file name.
pub(crate) fn file(home: &Path, session: &ClientSessionId) -> Option<PathBuf> {
    let name = session.as_str();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let is_name = !name.is_empty() && name.len() <= 128 && name.bytes().all(plain);
    is_name.then(|| folder(home).join(name))
}

fn folder(home: &Path) -> PathBuf {
    home.join("hooks/told")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(home: &Path, session: &str) -> Option<DeliveryLog> {
        DeliveryLog::of(home, &ClientSessionId::new(session))
    }

    #[test]
    fn delivered_memories_are_recorded() {
        let home = tempfile::tempdir().unwrap();
        let one = log(home.path(), "0199-a").unwrap();
        assert_eq!(one.read(), HashSet::new());
        one.clear().unwrap();
        one.add(&[TaskId::new("a"), TaskId::new("b")]).unwrap();
        one.add(&[TaskId::new("c")]).unwrap();
        assert_eq!(one.read(), ["a", "b", "c"].map(TaskId::new).into());
        assert_eq!(log(home.path(), "0199-b").unwrap().read(), HashSet::new());
        one.clear().unwrap();
        assert_eq!(one.read(), HashSet::new());
    }

    #[test]
    fn sessions_that_were_told_a_memory_are_found() {
        let home = tempfile::tempdir().unwrap();
        let told = |memories: &[&str]| -> Vec<String> {
            let memories: Vec<TaskId> = memories.iter().map(|id| TaskId::new(*id)).collect();
            let found = DeliveryLog::sessions_told(home.path(), &memories);
            let mut names: Vec<String> = found.iter().map(ToString::to_string).collect();
            names.sort();
            names
        };
        assert_eq!(told(&["a"]), Vec::<String>::new());
        for (session, memory) in [("s1", "a"), ("s2", "b"), ("s3", "a")] {
            let log = log(home.path(), session).unwrap();
            log.add(&[TaskId::new("other"), TaskId::new(memory)]).unwrap();
        }
        std::fs::write(folder(home.path()).join("s4.answers"), "a\n").unwrap();
        assert_eq!(told(&["a", "unknown"]), ["s1", "s3"]);
        assert_eq!(told(&[]), Vec::<String>::new());
    }

    #[test]
    fn invalid_session_ids_have_no_log() {
        let home = Path::new("/h");
        for name in ["", "..", "a/b", "../x", "a\0", "ü", &"a".repeat(129)] {
            assert_eq!(log(home, name), None, "{name:?}");
        }
    }

    #[test]
    fn old_logs_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let old = log(home.path(), "old").unwrap();
        old.add(&[TaskId::new("a")]).unwrap();
        let now = SystemTime::now();
        DeliveryLog::remove_old(home.path(), now + RETENTION / 2);
        assert_eq!(old.read().len(), 1);
        DeliveryLog::remove_old(home.path(), now + RETENTION * 2);
        assert_eq!(old.read().len(), 0);
        DeliveryLog::remove_old(Path::new("/nonexistent"), now);
    }
}
