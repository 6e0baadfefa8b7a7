//! Starts this program again: as the proxy, and as a worker that continues after the hook.

use super::processor::Processor;
use grov_drift::{HookError, Programs, Work};
use grov_runtime::{Environment, Home, Settings, daemon};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a proxy may take to start. The client's timeout for the hook is a little longer.
const START_PATIENCE: Duration = Duration::from_secs(17);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// Maximum bytes that are read from the standard error of a daemon that does not start.
const LONGEST_WORDS: u64 = 4 * 1024;
/// Bytes that can be written to a pipe before it is read: one page, which is the capacity of a new pipe on Linux after the
/// user has exceeded `pipe-user-pages-soft`.
const FITS: usize = 4 * 1024;

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
        let own = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
        let mut command = Command::new(own);
        if let Some(home) = self.named_home {
            command.arg("--home").arg(home);
        }
        Ok(command)
    }

    /// Starts a worker process and writes `work` to its standard input.
    fn spawn_worker(&self, work: &Work, settings: &Settings) -> Result<(), String> {
        let text = serde_json::to_vec(work).map_err(|error| format!("work to be handed over: {error}"))?;
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
        let (reader, mut writer) = std::io::pipe().map_err(|error| format!("a pipe: {error}"))?;
        let mut hand = |text: &[u8]| {
            let handed = writer.write_all(text);
            handed.map_err(|error| format!("a worker did not take its work: {error}"))
        };
        // Written before the worker starts, if the pipe can hold it: the client may end this process at any time.
        let (before, behind) = if text.len() <= FITS {
            (text.as_slice(), &[][..])
        } else {
            (&[][..], text.as_slice())
        };
        hand(before)?;
        let worker = command.stdin(reader).spawn();
        // Closes this process's copy of the read end, so that writing fails if the worker has ended.
        drop(command);
        worker.map_err(|error| format!("a worker: {error}"))?;
        hand(behind)
    }
}

impl Programs for Own<'_> {
    fn start_proxy(&self, port: u16) -> Result<(), HookError> {
        let mut command = self.command().map_err(HookError::Process)?;
        command
            .args(["proxy", "--detach", "--port"])
            .arg(port.to_string());
        wait_for(command).map_err(HookError::Process)
    }

    fn exits_after_response(&self) -> bool {
        true
    }

    fn start_worker(&self, work: Work, settings: &Settings) -> Result<(), HookError> {
        self.spawn_worker(&work, settings).map_err(HookError::Process)
    }
}

fn wait_for(mut command: Command) -> Result<(), String> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("the proxy: {error}"))?;
    let deadline = Instant::now() + START_PATIENCE;
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(LOOK_AGAIN),
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => {
                return Err(said_by(&mut child).unwrap_or_else(|| format!("it ended with {status}")));
            }
            Err(error) => return Err(format!("the proxy: {error}")),
        }
    }
    Err("it did not start in time. Run grov doctor for details".to_owned())
}

/// The standard error of a program that ended, as one line; `None` if it is empty.
fn said_by(child: &mut Child) -> Option<String> {
    let mut said = String::new();
    let stderr = child.stderr.as_mut()?;
    stderr.take(LONGEST_WORDS).read_to_string(&mut said).ok()?;
    let lines = said
        .lines()
        .map(|line| line.strip_prefix("error: ").unwrap_or(line).trim());
    let said = lines
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("; ");
    (!said.is_empty()).then_some(said)
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
