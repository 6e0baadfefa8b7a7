//! The answered events of each session, so that duplicate registrations of Grov answer each event once.
//!
//! If two settings files register Grov with different commands, the client runs both at once. The first process locks the
//! session's file and replies; the other waits for the lock and gives an empty reply.

use crate::error::HookError;
use crate::error_log::log_error;
use crate::hook::HookContext;
use crate::private_file;
use grov_domain::ClientSessionId;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Number of events kept per session, the newest. A few are enough, because the client waits for all hooks of an event.
const MAX_EVENTS: usize = 8;
/// Maximum number of bytes read of a file.
const MAX_FILE_BYTES: u64 = 64 * 1024;
/// How long to wait for a duplicate hook. The client waits for both.
const LOCK_TIMEOUT: Duration = Duration::from_millis(200);
const RETRY_INTERVAL: Duration = Duration::from_millis(1);

/// The answered events of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnsweredEvents {
    path: PathBuf,
}

impl AnsweredEvents {
    /// The list of a session below Grov's home; `None` if the session id is not a valid file name.
    pub(crate) fn of(home: &Path, session: &ClientSessionId) -> Option<Self> {
        // Valid session ids contain no dot, so this is never another session's file.
        let path = crate::delivery_log::file(home, session)?.with_extension("answers");
        Some(Self { path })
    }

    /// Locks the list until the returned value is dropped. `None` if another process holds it for longer than `timeout`.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub(crate) fn lock(&self, timeout: Duration) -> io::Result<Option<LockedEvents>> {
        let Some(mut file) = private_file::lock(&self.path, timeout, RETRY_INTERVAL)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        (&mut file).take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
        let lines = String::from_utf8_lossy(&bytes)
            .lines()
            .map(str::to_owned)
            .collect();
        Ok(Some(LockedEvents { file, lines }))
    }
}

/// The locked list. Only the process that holds the lock answers events.
#[derive(Debug)]
pub(crate) struct LockedEvents {
    file: File,
    /// Milliseconds since 1970, a space, and the event.
    lines: Vec<String>,
}

impl LockedEvents {
    /// Whether `event` was answered, at most `within` ago.
    pub(crate) fn has(&self, event: &str, within: Option<Duration>) -> bool {
        let now = millis();
        let is_recent = |at: &str| {
            let at: Option<u128> = at.parse().ok();
            within.is_none_or(|within| at.is_some_and(|at| now.saturating_sub(at) <= within.as_millis()))
        };
        self.lines
            .iter()
            .filter_map(|line| line.split_once(' '))
            .any(|(at, known)| known == event && is_recent(at))
    }

    /// Records `event` as answered.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn record(mut self, event: &str) -> io::Result<()> {
        self.lines.push(format!("{} {event}", millis()));
        let first = self.lines.len().saturating_sub(MAX_EVENTS);
        let mut text = self.lines[first..].join("\n");
        text.push('\n');
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(text.as_bytes())?;
        self.file.set_len(text.len() as u64)
    }
}

/// Runs `answer` unless a duplicate hook answered the event already: with two registrations the client runs both. Events
/// without a key are only answered one at a time.
pub(crate) fn answer_once(
    context: &HookContext<'_>,
    event: Option<&str>,
    within: Option<Duration>,
    answer: impl FnOnce() -> Result<Option<String>, HookError>,
) -> Result<Option<String>, HookError> {
    let session = context.input.session_id.as_deref().map(ClientSessionId::new);
    let answers = session.and_then(|session| AnsweredEvents::of(context.home.root(), &session));
    let Some(answers) = answers else { return answer() };
    let locked = answers.lock(LOCK_TIMEOUT).map_err(HookError::AnsweredEvents)?;
    let Some(locked) = locked.filter(|locked| event.is_none_or(|event| !locked.has(event, within))) else {
        return Ok(None);
    };
    let text = answer()?;
    if let Some(event) = event
        && let Err(error) = locked.record(event)
    {
        log_error(Some(context.home), HookError::AnsweredEvents(error));
    }
    Ok(text)
}

fn millis() -> u128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_TIME: Duration = Duration::ZERO;

    fn answers(home: &Path) -> AnsweredEvents {
        AnsweredEvents::of(home, &ClientSessionId::new("s")).unwrap()
    }

    #[test]
    fn an_event_is_answered_once() {
        let home = tempfile::tempdir().unwrap();
        let first = answers(home.path()).lock(NO_TIME).unwrap().unwrap();
        assert!(!first.has("a", None));
        assert!(
            answers(home.path()).lock(NO_TIME).unwrap().is_none(),
            "another process holds the lock"
        );
        first.record("a").unwrap();
        let second = answers(home.path()).lock(NO_TIME).unwrap().unwrap();
        assert!(second.has("a", None) && !second.has("b", None));
        assert!(second.has("a", Some(Duration::from_secs(3600))));
        drop(second);
        for number in 0..MAX_EVENTS {
            let next = answers(home.path()).lock(NO_TIME).unwrap().unwrap();
            next.record(&format!("event {number}")).unwrap();
        }
        let last = answers(home.path()).lock(NO_TIME).unwrap().unwrap();
        assert!(last.has("event 0", None) && last.has("event 7", None) && !last.has("a", None));
    }

    #[test]
    fn an_old_answer_is_ignored() {
        let home = tempfile::tempdir().unwrap();
        drop(answers(home.path()).lock(NO_TIME).unwrap());
        let path = home.path().join("hooks/told/s.answers");
        std::fs::write(&path, "1000 start\nno line\n\u{0}\n").unwrap();
        let locked = answers(home.path()).lock(NO_TIME).unwrap().unwrap();
        assert!(locked.has("start", None));
        assert!(!locked.has("start", Some(Duration::from_secs(3600))));
    }

    #[test]
    fn a_waiting_process_gets_the_lock() {
        let home = tempfile::tempdir().unwrap();
        let first = answers(home.path()).lock(NO_TIME).unwrap().unwrap();
        std::thread::scope(|threads| {
            let waiting = threads.spawn(|| answers(home.path()).lock(Duration::from_secs(60)));
            first.record("a").unwrap();
            let second = waiting.join().unwrap().unwrap().unwrap();
            assert!(second.has("a", None));
        });
    }
}
