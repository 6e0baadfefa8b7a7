//! `grov proxy logs`

use crate::arguments::LogArguments;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{ExitStatus, Outcome, print};
use grov_runtime::printable;
use serde::Serialize;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// Maximum number of bytes that are read from the end of the log.
const MAX_TAIL: u64 = 4 * 1024 * 1024;
/// Interval between two looks for new lines.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(300);

#[derive(Serialize)]
struct Answer {
    path: String,
    lines: Vec<String>,
}

pub(super) fn run(context: &Context, arguments: &LogArguments) -> Outcome {
    let path = context.settings.log().file.clone();
    let path = path.unwrap_or_else(|| context.home.daemon_log());
    let failed = |error: io::Error| Failure::error("log", format!("cannot read {}: {error}", path.display()));
    let opened = match File::open(&path) {
        Ok(file) => Some(file),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    let Some(mut file) = opened else {
        let message = format!("there is no log at {}", path.display());
        let failure = Failure::negative("no_log", message);
        return Err(failure.hint("a daemon in the background writes it; one in a terminal logs there"));
    };
    let lines = tail(&mut file, arguments.lines).map_err(failed)?;
    if context.terminal.wants_json() {
        let answer = Answer {
            path: path.to_string_lossy().into_owned(),
            lines,
        };
        return context.answer(answer, |_, _| String::new());
    }
    for line in lines {
        print(&format!("{}\n", printable(&line)))?;
    }
    if arguments.follow {
        follow(&path, file).map_err(failed)?;
    }
    Ok(ExitStatus::Success)
}

/// The last lines of the file. Leaves it at its end.
fn tail(file: &mut File, count: usize) -> io::Result<Vec<String>> {
    let length = file.metadata()?.len();
    let start = length.saturating_sub(MAX_TAIL);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().skip(usize::from(start > 0)).collect();
    let first = lines.len().saturating_sub(count);
    Ok(lines.into_iter().skip(first).map(str::to_owned).collect())
}

/// Prints new lines until standard output closes or a signal ends this program. Continues with the next file after a rotation.
fn follow(path: &Path, mut file: File) -> io::Result<()> {
    let mut rest = Vec::new();
    loop {
        file.read_to_end(&mut rest)?;
        if let Some(end) = rest.iter().rposition(|byte| *byte == b'\n') {
            let text = String::from_utf8_lossy(&rest[..=end]).into_owned();
            for line in text.lines() {
                if print(&format!("{}\n", printable(line))).is_err() {
                    return Ok(());
                }
            }
            rest.drain(..=end);
        }
        let is_rotated = match (file.metadata(), std::fs::metadata(path)) {
            (Ok(open), Ok(named)) => (open.dev(), open.ino()) != (named.dev(), named.ino()),
            _ => false,
        };
        if is_rotated {
            // What was written just before.
            file.read_to_end(&mut rest)?;
            file = File::open(path)?;
            continue;
        }
        std::thread::sleep(FOLLOW_INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_last_lines_are_shown() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"one\ntwo\nthree\n").unwrap();
        assert_eq!(tail(&mut file, 2).unwrap(), ["two", "three"]);
        assert_eq!(tail(&mut file, 9).unwrap().len(), 3);
        assert_eq!(tail(&mut file, 0).unwrap(), [""; 0]);
    }
}
