//! `grov proxy restart`

use super::{Answer, stop, text};
use crate::arguments::{Common, DaemonFlags};
use crate::daemon_health::{self, ProxyState, ProxyView};
use crate::daemon_start::{DaemonStart, PROGRAM, START_TIMEOUT, find_program};
use crate::failure::Failure;
use crate::output::{Outcome, Terminal, note};
use grov_runtime::{ControlAnswer, ControlCommand, Environment, Home, control};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Longer than the daemon waits for its successor.
const ANSWER_TIMEOUT: Duration = START_TIMEOUT.saturating_add(Duration::from_secs(10));

pub(super) fn run(common: &Common, terminal: Terminal) -> Outcome {
    let environment = Environment::of_process();
    let home = Home::locate(common.home.as_deref(), &environment)?;
    let program = find_program(&environment)?;
    let running = daemon_health::query(&home);
    let answer = match running.state {
        ProxyState::Running => match hand_over(&home, &program)? {
            Some(answer) => answer,
            None => {
                note!(
                    "this daemon cannot hand over its port, which is closed for a moment; its options are not kept"
                );
                anew(&home, &environment, &running)?
            }
        },
        ProxyState::NotAnswering | ProxyState::NotRunning => anew(&home, &environment, &running)?,
    };
    terminal.answer(answer, text)
}

/// Stops the daemon, if there is one, and starts another with the configured options.
fn anew(home: &Home, environment: &Environment, running: &ProxyView) -> Result<Answer, Failure> {
    let flags = DaemonFlags::default();
    // Fails before the old one is stopped.
    let start = DaemonStart::new(home, &flags, environment)?;
    stop::stop(home, running)?;
    let (proxy, started) = start.run()?;
    Ok(Answer {
        url: proxy.url,
        pid: proxy.pid,
        version: proxy.version,
        started,
        handed_over: false,
    })
}

/// Lets the running daemon start `program` as its successor. `None` if it cannot.
fn hand_over(home: &Home, program: &Path) -> Result<Option<Answer>, Failure> {
    let program = program.to_owned();
    let command = ControlCommand::Restart { program };
    match control(home, &command, ANSWER_TIMEOUT) {
        Ok(ControlAnswer::Restarted { pid }) => {
            let proxy = daemon_health::query(home);
            Ok(Some(Answer {
                pid: Some(pid),
                url: proxy.url,
                version: proxy.version,
                started: true,
                handed_over: true,
            }))
        }
        Ok(ControlAnswer::Failed { message, hint }) => {
            let message = format!("the new {PROGRAM} did not start, and the old one goes on: {message}");
            let failure = Failure::error("proxy", message);
            Err(match hint {
                Some(hint) => failure.hint(hint),
                None => failure,
            })
        }
        Err(error) => {
            // An older version, or a home whose path is too long for a socket.
            note!("the daemon does not accept commands: {error}");
            Ok(None)
        }
    }
}

/// Lets a daemon of an older version than `program` hand over to it. `None` if there is no need, or if it fails, which is no reason
/// not to use the old one.
pub(super) fn upgraded(home: &Home, running: &ProxyView, program: &Path) -> Option<Answer> {
    let old = numbers(running.version.as_deref()?)?;
    // Before the program is asked, which takes a few milliseconds.
    if numbers(env!("CARGO_PKG_VERSION"))? <= old || installed(program)? <= old {
        return None;
    }
    match hand_over(home, program) {
        Ok(answer) => answer,
        Err(failure) => {
            note!("warning: {failure}");
            None
        }
    }
}

/// The version that `program` reports.
fn installed(program: &Path) -> Option<[u64; 3]> {
    let output = Command::new(program)
        .arg("--version")
        .env_clear()
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    numbers(
        String::from_utf8_lossy(&output.stdout)
            .split_whitespace()
            .last()?,
    )
}

/// The numbers of a version; `None` for one that has others, such as a pre-release.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let numbers: Vec<u64> = version
        .split('.')
        .map(|number| number.parse().ok())
        .collect::<Option<_>>()?;
    numbers.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert!(numbers("0.10.0") > numbers("0.9.1"));
        assert_eq!(numbers("1.2.3"), Some([1, 2, 3]));
        for other in ["1.2", "1.2.3-rc1", "", "1.2.3.4"] {
            assert_eq!(numbers(other), None, "{other}");
        }
    }
}
