//! Starts this program again: as the proxy, and as a worker that continues after the hook.

use super::processor::Processor;
use grov_drift::{HookError, Programs, Work};
use grov_runtime::{Environment, Home, Settings, daemon};
use serde::Deserialize;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Bytes that can be written to a pipe before it is read: one page, which is the capacity of a new pipe on Linux after the
/// user has exceeded `pipe-user-pages-soft`.
const PIPE_CAPACITY: usize = 4 * 1024;

/// What `grov proxy move` answers.
#[derive(Deserialize)]
struct Moved {
    url: String,
}

/// This program with the same home.
pub(super) struct Own<'a> {
    /// The home as the command line names it.
    pub(super) named_home: Option<&'a Path>,
    pub(super) home: &'a Home,
    pub(super) environment: &'a Environment,
    /// The restriction of this process to one processor. It is removed before a program is started.
    pub(super) processor: Option<Processor>,
}

impl Own<'_> {
    fn command(&self) -> Result<Command, String> {
        if let Some(processor) = &self.processor {
            processor.leave();
        }
        let own = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
        let mut command = Command::new(own);
        if let Some(home) = self.named_home {
            command.arg("--home").arg(home);
        }
        Ok(command)
    }

    /// Runs a command of this program to its end. Returns its output; if it fails, its message as an error.
    fn run(&self, words: &[&str]) -> Result<Vec<u8>, HookError> {
        let mut command = self.command().map_err(HookError::Process)?;
        let ended = command.args(words).stdin(Stdio::null()).output();
        let ended = ended.map_err(|error| HookError::Process(format!("cannot start grov: {error}")))?;
        if ended.status.success() {
            return Ok(ended.stdout);
        }
        let status = ended.status;
        let error = one_line(&String::from_utf8_lossy(&ended.stderr));
        Err(HookError::Process(
            error.unwrap_or_else(|| format!("it ended with {status}")),
        ))
    }

    /// Starts a worker process and writes `work` to its standard input.
    fn spawn_worker(&self, work: &Work, settings: &Settings) -> Result<(), String> {
        let text = serde_json::to_vec(work).map_err(|error| format!("cannot serialize the work: {error}"))?;
        let mut command = self.command()?;
        command.arg("hook-worker").arg(work.session());
        // The worker must not get the client's keys, tokens and addresses.
        let environment = daemon::scrubbed_environment(self.environment, settings);
        command.env_clear().envs(environment.iter());
        // The worker's directory may not exist yet.
        self.home.create().map_err(|error| error.to_string())?;
        command
            .current_dir(self.home.root())
            // The client may end its own process group as soon as its hooks are done.
            .process_group(0)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let (reader, mut writer) =
            std::io::pipe().map_err(|error| format!("cannot create a pipe: {error}"))?;
        let mut write = || {
            let written = writer.write_all(&text);
            written.map_err(|error| format!("a worker did not read its work: {error}"))
        };
        // Write before the worker starts if the pipe can hold it: the client may end this process at any time.
        let fits = text.len() <= PIPE_CAPACITY;
        if fits {
            write()?;
        }
        let worker = command.stdin(reader).spawn();
        // Closes this process's copy of the read end, so that writing fails if the worker has ended.
        drop(command);
        worker.map_err(|error| format!("cannot start a worker: {error}"))?;
        if fits { Ok(()) } else { write() }
    }
}

impl Programs for Own<'_> {
    fn start_proxy(&self, port: u16) -> Result<(), HookError> {
        // The command itself gives up after three seconds, before the client stops waiting for the hook.
        self.run(&["proxy", "--detach", "--for-hook", "--port", &port.to_string()])
            .map(|_| ())
    }

    fn move_proxy(&self) -> Result<String, HookError> {
        let answer = self.run(&["proxy", "move", "--json"])?;
        let answer: Moved = serde_json::from_slice(&answer)
            .map_err(|error| HookError::Process(format!("grov proxy move: {error}")))?;
        Ok(answer.url)
    }

    fn exits_after_response(&self) -> bool {
        true
    }

    fn start_worker(&self, work: Work, settings: &Settings) -> Result<(), HookError> {
        self.spawn_worker(&work, settings).map_err(HookError::Process)
    }
}

/// The lines of a program's standard error as one; `None` if it is empty.
fn one_line(stderr: &str) -> Option<String> {
    let lines = stderr
        .lines()
        .map(|line| line.strip_prefix("error: ").unwrap_or(line).trim())
        .filter(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join("; ");
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::processor::tests::allowed;

    #[test]
    fn a_started_program_may_run_on_every_processor() {
        let home = tempfile::tempdir().unwrap();
        let environment = Environment::default();
        let before = allowed();
        let own = Own {
            named_home: None,
            home: &Home::locate(Some(home.path()), &environment).unwrap(),
            environment: &environment,
            processor: Processor::keep(),
        };
        own.command().unwrap();
        assert_eq!(allowed(), before);
    }
}
