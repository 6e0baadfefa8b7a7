//! The `grov run` that a daemon belongs to.
//!
//! The launcher holds the other end of the daemon's standard input and writes the process id of its command there. The daemon
//! stops when both are gone: also if the launcher is killed, and not before the command that uses the daemon ends.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use std::io::Read;
use std::time::Duration;
use tokio::sync::oneshot;

/// Interval between two checks whether the command of a killed launcher still runs.
const CHECK_INTERVAL: Duration = Duration::from_millis(300);

pub(crate) struct Launcher(oneshot::Receiver<()>);

impl Launcher {
    /// Watches the launcher, on a thread of its own: standard input can only be read blocking.
    pub(crate) fn watch() -> Self {
        let (gone, is_gone) = oneshot::channel();
        let watching = std::thread::Builder::new().name("grov-launcher".to_owned());
        let watching = watching.spawn(move || {
            wait();
            // The daemon may be stopping already.
            let _ = gone.send(());
        });
        if let Err(error) = watching {
            tracing::error!(%error, "the end of the command will not be noticed");
        }
        Self(is_gone)
    }

    /// Resolves when launcher and command have ended; never without a launcher.
    pub(crate) async fn ended(launcher: &mut Option<Self>) {
        let has_ended = match launcher {
            Some(launcher) => (&mut launcher.0).await.is_ok(),
            None => false,
        };
        if !has_ended {
            std::future::pending().await
        }
    }
}

fn wait() {
    let mut text = Vec::new();
    // An error means the same as the end: the launcher is gone.
    let _ = std::io::stdin().read_to_end(&mut text);
    let Some(command) = command(&text) else { return };
    while test_kill_process(command) != Err(Errno::SRCH) {
        std::thread::sleep(CHECK_INTERVAL);
    }
}

/// The process id of the command; `None` if the launcher did not start one.
fn command(text: &[u8]) -> Option<Pid> {
    let text = std::str::from_utf8(text).ok()?;
    Pid::from_raw(text.trim().parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_a_process_id() {
        assert_eq!(command(b"17\n"), Pid::from_raw(17));
        for none in [&b""[..], b"0", b"x", b"99999999999", b"\xff"] {
            assert_eq!(command(none), None, "{none:?}");
        }
    }
}
