//! Commands to the running daemon, over its socket in the home.

use crate::Home;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// A command to the daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlCommand {
    /// Hand over to a new process, with the same arguments and environment.
    Restart {
        /// The program of the new process.
        program: PathBuf,
    },
}

/// The daemon's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlAnswer {
    /// The new process accepts connections.
    Restarted {
        /// Its process id.
        pid: u32,
    },
    /// Nothing has changed.
    Failed {
        /// What happened.
        message: String,
        /// What the user can do.
        hint: Option<String>,
    },
}

/// Sends a command to the daemon of `home` and waits for the answer.
///
/// # Errors
/// No daemon listens there, or it does not answer within `timeout`.
pub fn control(home: &Home, command: &ControlCommand, timeout: Duration) -> io::Result<ControlAnswer> {
    let stream = UnixStream::connect(home.control_socket())?;
    stream.set_read_timeout(Some(timeout))?;
    stream.set_write_timeout(Some(timeout))?;
    let mut line = serde_json::to_vec(command)?;
    line.push(b'\n');
    (&stream).write_all(&line)?;
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer)?;
    Ok(serde_json::from_str(&answer)?)
}
