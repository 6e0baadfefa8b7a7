//! Telling a person how far the work on a file is.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often it is told, and how long something may take before it is told at all.
const OFTEN: Duration = Duration::from_secs(1);

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// The last line that is done.
    pub(crate) line: u64,
    /// Records that were dealt with.
    pub(crate) records: u64,
    /// Bytes read.
    pub(crate) bytes: u64,
}

/// Tells now and then, on standard error.
pub(crate) struct Progress {
    started: Instant,
    told: Instant,
    /// Bytes in all, if known.
    size: Option<u64>,
    /// What the records are called.
    noun: &'static str,
    how: How,
    /// A line that is to be written over stands on the terminal.
    is_open: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Not,
    /// One line, written over.
    Over,
    /// A line each time.
    Lines,
}

impl Progress {
    /// On a terminal, and elsewhere where `asked`.
    pub(crate) fn new(asked: bool, size: Option<u64>, noun: &'static str) -> Self {
        let how = match (io::stderr().is_terminal(), asked) {
            (true, _) => How::Over,
            (false, true) => How::Lines,
            (false, false) => How::Not,
        };
        Self {
            started: Instant::now(),
            told: Instant::now(),
            size,
            noun,
            how,
            is_open: false,
        }
    }

    /// Tells, if it is time.
    pub(crate) fn tell(&mut self, mark: Mark) {
        if self.how == How::Not || self.told.elapsed() < OFTEN {
            return;
        }
        self.told = Instant::now();
        let text = told(mark, self.size, self.noun, self.started.elapsed());
        // Nobody can be told that telling failed.
        let mut stderr = io::stderr().lock();
        let _ = match self.how {
            How::Over => write!(stderr, "\r\u{1b}[K{text}").and_then(|()| stderr.flush()),
            _ => writeln!(stderr, "{text}"),
        };
        self.is_open = self.how == How::Over;
    }

    /// Ends the line that stands on the terminal, so that something else can be told.
    pub(crate) fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            let _ = writeln!(io::stderr().lock());
        }
    }
}

fn told(mark: Mark, size: Option<u64>, noun: &str, elapsed: Duration) -> String {
    let share = size
        .filter(|size| *size > 0)
        .map(|size| format!(" ({} %)", mark.bytes.min(size).saturating_mul(100) / size))
        .unwrap_or_default();
    let seconds = elapsed.as_secs().max(1);
    format!(
        "line {} done{share}: {} {noun} in {seconds} s, {} a second",
        mark.line,
        mark.records,
        mark.records / seconds
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_it_is() {
        let mark = Mark {
            line: 30,
            records: 20,
            bytes: 50,
        };
        assert_eq!(
            told(mark, Some(200), "records", Duration::from_secs(2)),
            "line 30 done (25 %): 20 records in 2 s, 10 a second"
        );
        for size in [None, Some(0)] {
            assert_eq!(
                told(mark, size, "records", Duration::ZERO),
                "line 30 done: 20 records in 1 s, 20 a second"
            );
        }
        assert!(
            told(mark, Some(10), "records", Duration::ZERO).contains("100 %"),
            "a file that grew"
        );
    }
}
