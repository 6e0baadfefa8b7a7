//! Answers of commands on standard output.

use crate::stop::Stop;
use std::io::{self, Write};

/// Prints a text and a line break. A reader that closed the pipe is no error.
pub(crate) fn print(text: &str) -> Result<(), Stop> {
    let mut stdout = io::stdout();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed.map_err(Stop::fault),
    }
}

/// Prints a message on standard error.
pub(crate) fn message(text: &str) {
    // Standard error may be closed.
    let _ = writeln!(io::stderr(), "{}", grov_runtime::printable(text));
}
