//! Processes seen from outside: signals, exit, output, and waiting for a condition.

use anyhow::{Context, Result, bail, ensure};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The timeout of every wait. Only a hang is this slow.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(10);

/// Waits until `probe` returns `Some`.
///
/// # Errors
/// `probe` returned `None` for half a minute. `what` describes the condition in the error.
pub fn eventually<T>(what: &str, probe: impl FnMut() -> Option<T>) -> Result<T> {
    within(PATIENCE, what, probe)
}

pub(crate) fn within<T>(limit: Duration, what: &str, mut probe: impl FnMut() -> Option<T>) -> Result<T> {
    let start = Instant::now();
    loop {
        if let Some(found) = probe() {
            return Ok(found);
        }
        ensure!(start.elapsed() < limit, "waited {limit:?} for {what}");
        thread::sleep(POLL);
    }
}

/// Sends a signal, given by its name without `SIG`.
///
/// # Errors
/// The process no longer exists.
pub fn signal(pid: u32, name: &str) -> Result<()> {
    let status = Command::new("kill")
        .args([format!("-{name}"), pid.to_string()])
        .status()
        .context("cannot start kill")?;
    ensure!(status.success(), "cannot send {name} to process {pid}");
    Ok(())
}

/// A process that exited, and its output.
#[derive(Debug)]
pub struct Ended {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Ended {
    /// The exit code, unless a signal ended the process.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }
}

/// Runs a command until it exits.
///
/// # Errors
/// The command does not start, or is still running after `limit` and was killed.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Result<Ended> {
    run_reading(command, Stdio::null(), limit)
}

/// Runs a process with an input until it exits.
pub(crate) fn run_reading(command: &mut Command, input: Stdio, limit: Duration) -> Result<Ended> {
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {command:?}"))?;
    let stdout = Lines::follow(child.stdout.take());
    let stderr = Lines::follow(child.stderr.take());
    let status = match wait(&mut child, limit) {
        Ok(status) => status,
        Err(error) => {
            let _ = child.kill();
            let _ = child.wait();
            bail!("{command:?}: {error:#}\n{}\n{}", stdout.text(), stderr.text());
        }
    };
    Ok(Ended {
        status,
        stdout: stdout.finish(),
        stderr: stderr.finish(),
    })
}

pub(crate) fn wait(child: &mut Child, limit: Duration) -> Result<ExitStatus> {
    within(limit, "the end of the process", || {
        child.try_wait().ok().flatten()
    })
}

/// The output of a running process, line by line.
#[derive(Clone)]
pub(crate) struct Lines {
    text: Arc<Mutex<String>>,
    reader: Arc<Mutex<Option<thread::JoinHandle<()>>>>,
}

impl Lines {
    pub(crate) fn follow(stream: Option<impl Read + Send + 'static>) -> Self {
        let text = Arc::new(Mutex::new(String::new()));
        let sink = Arc::clone(&text);
        let reader = stream.map(|stream| {
            thread::spawn(move || {
                let mut stream = BufReader::new(stream);
                let mut line = Vec::new();
                while matches!(stream.read_until(b'\n', &mut line), Ok(read) if read > 0) {
                    sink.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push_str(&String::from_utf8_lossy(&line));
                    line.clear();
                }
            })
        });
        Self {
            text,
            reader: Arc::new(Mutex::new(reader)),
        }
    }

    pub(crate) fn text(&self) -> String {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The complete output, once the process has closed its end.
    pub(crate) fn finish(&self) -> String {
        if let Some(reader) = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = reader.join();
        }
        self.text()
    }
}
