//! Commands of this user's other programs, over a socket in the home: one line of JSON each, answered by one line.

use crate::handover::{HandOver, StartFailure, Successor};
use grov_runtime::{ControlAnswer, ControlCommand, Home, Shutdown};
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};

/// Maximum length of a command in bytes.
const MAX_COMMAND: u64 = 16 * 1024;
/// How long a client may take to send its command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(5);

/// The socket. Its file is removed when this is dropped, unless another daemon has replaced it.
pub(crate) struct Control {
    listener: UnixListener,
    path: PathBuf,
}

impl Control {
    /// Listens in `home`, whose lock this process must hold. Replaces the socket of an earlier daemon.
    pub(crate) fn listen(home: &Home) -> io::Result<Self> {
        let path = home.control_socket();
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        Ok(Self { listener, path })
    }

    /// Answers commands until the daemon stops or is replaced.
    pub(crate) async fn run(self, hand_over: Arc<HandOver>, mut shutdown: Shutdown) {
        loop {
            let accepted = tokio::select! {
                () = shutdown.requested() => break,
                accepted = self.listener.accept() => accepted,
            };
            let is_replaced = match accepted {
                Ok((stream, _)) => answer(stream, &hand_over).await,
                Err(error) => {
                    tracing::debug!(%error, "a command cannot be accepted");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    false
                }
            };
            if is_replaced {
                // The socket file is the successor's.
                return;
            }
        }
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Answers one command. Returns whether another process has replaced this daemon.
async fn answer(stream: UnixStream, hand_over: &Arc<HandOver>) -> bool {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    let mut limited = (&mut stream).take(MAX_COMMAND);
    let read = tokio::time::timeout(COMMAND_TIMEOUT, limited.read_until(b'\n', &mut line)).await;
    if !matches!(read, Ok(Ok(_))) {
        return false;
    }
    let result = match serde_json::from_slice(&line) {
        Ok(ControlCommand::Restart { program }) => {
            let hand_over = Arc::clone(hand_over);
            let replaced = tokio::task::spawn_blocking(move || hand_over.to(&program)).await;
            replaced.unwrap_or_else(|error| Err(failure(&error)))
        }
        Err(error) => Err(failure(&error)),
    };
    let is_replaced = result.is_ok();
    let answer = match result {
        Ok(Successor { pid }) => ControlAnswer::Restarted { pid },
        Err(StartFailure { message, hint }) => ControlAnswer::Failed { message, hint },
    };
    if let Ok(mut text) = serde_json::to_vec(&answer) {
        text.push(b'\n');
        // The client may have gone.
        let _ = stream.write_all(&text).await;
    }
    is_replaced
}

fn failure(error: &dyn std::fmt::Display) -> StartFailure {
    StartFailure {
        message: format!("the command cannot be carried out: {error}"),
        hint: None,
    }
}
