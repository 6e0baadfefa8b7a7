//! One JSON object on standard output, and the exit code.

use grov_tools::Envelope;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Prints the object, and returns its exit code.
pub(crate) fn finish(envelope: Envelope) -> ExitCode {
    clear_progress();
    let mut stdout = io::BufWriter::with_capacity(64 * 1024, io::stdout().lock());
    // A reader that closed the output, or a terminal that went away, cannot be told.
    let _ = serde_json::to_writer(&mut stdout, &envelope)
        .map_err(io::Error::from)
        .and_then(|()| stdout.write_all(b"\n"))
        .and_then(|()| stdout.flush());
    ExitCode::from(envelope.exit_code())
}

/// Prints help.
pub(crate) fn print(text: &str) -> ExitCode {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    ExitCode::SUCCESS
}

fn clear_progress() {
    let mut stderr = io::stderr().lock();
    if io::stderr().is_terminal() {
        let _ = write!(stderr, "\r\u{1b}[K").and_then(|()| stderr.flush());
    }
}
