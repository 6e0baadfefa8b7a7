//! `grov proxy stop`

use crate::arguments::Common;
use crate::daemon_health::{self, ProxyState, ProxyView, waits_for};
use crate::daemon_start::{POLL_INTERVAL, PROGRAM};
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, note};
use grov_runtime::{Environment, Home, daemon};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde::Serialize;
use std::time::{Duration, Instant};

/// How long a daemon that does not answer may take to stop before it is killed.
const HUNG_TIMEOUT: Duration = Duration::from_secs(5);
/// After this time, the command says what it waits for.
const SILENCE: Duration = Duration::from_secs(1);
/// How long running responses may take. A daemon's own limit is usually shorter.
const STOP_TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Serialize)]
struct Answer {
    /// False if no daemon was running.
    stopped: bool,
    pid: Option<u32>,
    /// Whether it did not react and was killed.
    killed: bool,
}

/// How a daemon was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    NotRunning,
    Gracefully,
    Killed,
}

pub(super) fn run(common: &Common, terminal: Terminal) -> Outcome {
    let environment = Environment::of_process();
    let home = Home::locate(common.home.as_deref(), &environment)?;
    let running = daemon_health::query(&home);
    let how = stop(&home, &running)?;
    let answer = Answer {
        stopped: how != Stopped::NotRunning,
        pid: running.pid.filter(|_| how != Stopped::NotRunning),
        killed: how == Stopped::Killed,
    };
    terminal.answer(answer, text)
}

/// Stops the daemon: its running responses may end first. One that does not answer is killed after some seconds.
pub(crate) fn stop(home: &Home, running: &ProxyView) -> Result<Stopped, Failure> {
    if running.state == ProxyState::NotRunning {
        return Ok(Stopped::NotRunning);
    }
    let process = running.pid.and_then(|pid| i32::try_from(pid).ok());
    let Some(process) = process.and_then(Pid::from_raw) else {
        let failure = Failure::error("proxy", format!("{PROGRAM} is just starting"));
        return Err(failure.hint("try again in a moment"));
    };
    let failed = |error: Errno| Failure::error("proxy", format!("cannot stop {PROGRAM}: {error}"));
    let signal = |signal| match kill_process(process, signal) {
        Err(error) if error != Errno::SRCH => Err(failed(error)),
        _ => Ok(()),
    };
    signal(Signal::TERM)?;
    let is_hung = running.state == ProxyState::NotAnswering;
    if is_hung {
        // A stopped process handles the signal only then.
        signal(Signal::CONT)?;
    }
    let timeout = if is_hung { HUNG_TIMEOUT } else { STOP_TIMEOUT };
    let is_gone = || test_kill_process(process) == Err(Errno::SRCH) || !daemon::is_running(home);
    if within(SILENCE.min(timeout), is_gone) {
        return Ok(Stopped::Gracefully);
    }
    if !is_hung {
        // The daemon notes it when it begins to stop.
        let responses = daemon::read(home).and_then(|record| record.stopping);
        let waits = waits_for(responses.unwrap_or_default());
        note!("{PROGRAM} is stopping: {waits}; a second `grov proxy stop` ends it at once");
    }
    if within(timeout.saturating_sub(SILENCE), is_gone) {
        return Ok(Stopped::Gracefully);
    }
    if !is_hung {
        let failure = Failure::error("proxy", format!("{PROGRAM} still has running responses"));
        return Err(failure.hint("a second `grov proxy stop` cuts them off"));
    }
    note!("{PROGRAM} does not react and is killed; records of the last second may be lost");
    signal(Signal::KILL)?;
    match within(HUNG_TIMEOUT, is_gone) {
        true => Ok(Stopped::Killed),
        false => Err(Failure::error("proxy", format!("{PROGRAM} cannot be killed"))),
    }
}

fn within(timeout: Duration, condition: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !condition() {
        if start.elapsed() >= timeout {
            return false;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    true
}

fn text(answer: &Answer, _style: Style) -> String {
    match (answer.pid, answer.killed) {
        (Some(pid), false) => format!("{PROGRAM} (pid {pid}) has stopped\n"),
        (Some(pid), true) => format!("{PROGRAM} (pid {pid}) was killed\n"),
        (None, _) => format!("{PROGRAM} was not running\n"),
    }
}
