//! Reports progress and skipped lines while a file is processed.

use crate::output::note;
use crate::table::one_line;
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum number of skipped lines whose reason is reported.
const MAX_REPORTED: u64 = 20;
/// Time between two reports, and before the first.
const INTERVAL: Duration = Duration::from_secs(1);

/// How far a file is processed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    /// The last processed line.
    pub(crate) line: u64,
    pub(crate) records: u64,
    /// Bytes read.
    pub(crate) bytes: u64,
}

/// Reports progress on standard error: on a terminal in one line that is overwritten, else line by line.
pub(crate) struct Progress {
    started: Instant,
    reported: Instant,
    /// The size of the file, if known.
    size: Option<u64>,
    noun: &'static str,
    is_enabled: bool,
    is_terminal: bool,
    /// Whether the cursor is at the end of a line that the next report overwrites.
    is_open: bool,
    /// Number of skipped lines.
    skipped: u64,
}

impl Progress {
    /// Reports on a terminal, and elsewhere if `always`.
    pub(crate) fn new(always: bool, size: Option<u64>, noun: &'static str) -> Self {
        let is_terminal = io::stderr().is_terminal();
        Self {
            started: Instant::now(),
            reported: Instant::now(),
            size,
            noun,
            is_enabled: is_terminal || always,
            is_terminal,
            is_open: false,
            skipped: 0,
        }
    }

    /// Reports the position, if it is time.
    pub(crate) fn update(&mut self, position: Position) {
        if !self.is_enabled || self.reported.elapsed() < INTERVAL {
            return;
        }
        self.reported = Instant::now();
        let text = report(position, self.size, self.noun, self.started.elapsed());
        let mut stderr = io::stderr().lock();
        // There is no other place to report that standard error cannot be written.
        let _ = match self.is_terminal {
            true => write!(stderr, "\r\u{1b}[K{text}").and_then(|()| stderr.flush()),
            false => writeln!(stderr, "{text}"),
        };
        self.is_open = self.is_terminal;
    }

    /// Counts a line that is skipped, and reports the reason for the first ones.
    pub(crate) fn skip(&mut self, reason: &str) {
        self.skipped += 1;
        if self.skipped <= MAX_REPORTED {
            self.end_line();
            note!("{}", one_line(reason));
        }
    }

    /// Ends the reports. Returns the number of skipped lines.
    pub(crate) fn finish(&mut self) -> u64 {
        self.end_line();
        if self.skipped > MAX_REPORTED {
            note!("{} more lines were skipped", self.skipped - MAX_REPORTED);
        }
        self.skipped
    }

    /// Ends the current line, so that other messages can follow.
    fn end_line(&mut self) {
        if std::mem::take(&mut self.is_open) {
            let _ = writeln!(io::stderr().lock());
        }
    }
}

/// Says on a terminal, from the first second on, that work goes on whose length is not known. Removes that line when it is
/// dropped.
pub(crate) struct Waiting {
    /// Ends the thread when it is dropped.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Waiting {
    /// Begins to wait for work that `what` names.
    pub(crate) fn with(what: &'static str) -> Self {
        let (end, ended) = channel();
        let is_terminal = io::stderr().is_terminal();
        let thread = is_terminal.then(|| std::thread::spawn(move || tell(what, &ended, &mut io::stderr())));
        Self {
            end: Some(end),
            thread,
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // It writes one line and cannot panic.
            let _ = thread.join();
        }
    }
}

/// Writes the seconds that have passed, until the other end is dropped.
fn tell(what: &str, ended: &Receiver<()>, terminal: &mut impl Write) {
    let mut seconds = 0;
    while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
        seconds += 1;
        let _ = write!(terminal, "\r\u{1b}[K{what}: {seconds} s").and_then(|()| terminal.flush());
    }
    if seconds > 0 {
        let _ = write!(terminal, "\r\u{1b}[K").and_then(|()| terminal.flush());
    }
}

fn report(position: Position, size: Option<u64>, noun: &str, elapsed: Duration) -> String {
    let share = size
        .filter(|size| *size > 0)
        .map(|size| format!(" ({} %)", position.bytes.min(size).saturating_mul(100) / size))
        .unwrap_or_default();
    let seconds = elapsed.as_secs().max(1);
    let Position { line, records, .. } = position;
    let rate = records / seconds;
    format!("line {line} done{share}: {records} {noun} in {seconds} s, {rate} per second")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_work_is_not_reported() {
        let (end, ended) = channel();
        drop(end);
        let mut terminal = Vec::new();
        tell("deleting", &ended, &mut terminal);
        assert!(terminal.is_empty());
    }

    #[test]
    fn reports_show_percentage_and_rate() {
        let position = Position {
            line: 30,
            records: 20,
            bytes: 50,
        };
        assert_eq!(
            report(position, Some(200), "records", Duration::from_secs(2)),
            "line 30 done (25 %): 20 records in 2 s, 10 per second"
        );
        for size in [None, Some(0)] {
            assert_eq!(
                report(position, size, "records", Duration::ZERO),
                "line 30 done: 20 records in 1 s, 20 per second"
            );
        }
        assert!(
            report(position, Some(10), "records", Duration::ZERO).contains("100 %"),
            "a file that grew"
        );
    }
}
