//! A daemon that ends with the command.

use super::signals::Signals;
use crate::daemon_start::{DaemonStart, PROGRAM, START_TIMEOUT, failed, not_started};
use crate::failure::Failure;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long responses may continue when the command has ended, unless `proxy.shutdown_grace` is set.
const GRACE: &str = "5s";
/// How long this program waits for the daemon's end: the grace period, and the time to write its records.
const END_TIMEOUT: Duration = Duration::from_secs(12);
const LISTENING: &str = "listening on ";
const CONNECT_PROXY: &str = "CONNECT proxy (HTTPS_PROXY) on ";

pub(super) struct OwnDaemon {
    child: Child,
    url: String,
    /// Where it accepts CONNECT, if it does.
    mitm_url: Option<String>,
    /// The daemon ends when this closes, unless the command still runs.
    input: Mutex<Option<ChildStdin>>,
}

impl OwnDaemon {
    /// Starts the daemon and waits until it accepts connections.
    pub(super) fn start(start: &DaemonStart<'_>, program: &Path) -> Result<Self, Failure> {
        let mut command = start.command(program, &["--run"]);
        if !start.settings.is_set("proxy.shutdown_grace") {
            command.env("GROV_PROXY_SHUTDOWN_GRACE", GRACE);
        }
        // Keys of the terminal stop the command, which decides what to do.
        command
            .process_group(0)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn();
        let mut child =
            child.map_err(|error| failed(&format!("cannot start {}", program.display()), &error))?;
        let (sender, printed) = mpsc::channel();
        let stderr = child.stderr.take();
        // Reads to the end, so that the daemon can always write.
        std::thread::spawn(move || {
            let lines = stderr.map(|stderr| BufReader::new(stderr).lines());
            for line in lines.into_iter().flatten().map_while(Result::ok) {
                // Nobody listens any more once the daemon has started.
                let _ = sender.send(line);
            }
        });
        let deadline = Instant::now() + START_TIMEOUT;
        let mut text = String::new();
        let mut mitm_url = None;
        loop {
            match printed.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    if let Some(url) = line.strip_prefix(CONNECT_PROXY) {
                        mitm_url = Some(url.trim().to_owned());
                    } else if let Some(url) = line.strip_prefix(LISTENING) {
                        return Ok(Self {
                            url: url.trim().to_owned(),
                            mitm_url,
                            input: Mutex::new(child.stdin.take()),
                            child,
                        });
                    } else {
                        text.push_str(&format!("{line}\n"));
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(not_started(start.home, &text, None));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = child.wait();
                    let status =
                        status.map_err(|error| failed(&format!("cannot wait for {PROGRAM}"), &error))?;
                    return Err(not_started(start.home, &text, status.code()));
                }
            }
        }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn mitm_url(&self) -> Option<&str> {
        self.mitm_url.as_deref()
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Tells the daemon which process uses it, so that it goes on if only this program is killed.
    pub(super) fn serves(&self, pid: u32) {
        if let Ok(mut input) = self.input.lock()
            && let Some(input) = input.as_mut()
        {
            // Fails if the daemon has ended; then the command's requests fail.
            let _ = writeln!(input, "{pid}").and_then(|()| input.flush());
        }
    }

    /// Lets the daemon end, and waits for that. Another signal ends the waiting.
    pub(super) fn end(mut self, signals: &Signals) {
        drop(self.input);
        let start = Instant::now();
        while start.elapsed() < END_TIMEOUT && !signals.came_after_the_end() {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
