//! Signals to `grov run`, which are for its command.

use crate::failure::Failure;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What ends a command, and what it may handle.
const FORWARDED: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// Catches signals from the time of its creation.
pub(super) struct Signals(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The command, while it runs.
    command: Option<Pid>,
    /// The first signal that came while no command was running.
    early: Option<i32>,
    has_ended: bool,
    came_after_the_end: bool,
}

impl Signals {
    pub(super) fn catch() -> Result<Self, Failure> {
        let failed = |error| Failure::error("system", format!("cannot handle signals: {error}"));
        let ignored = ignored();
        // A program started by nohup must go on ignoring SIGHUP, and its command too.
        let caught = FORWARDED.iter().filter(|signal| !ignored.contains(signal));
        let mut signals = SignalsInfo::<WithOrigin>::new(caught).map_err(failed)?;
        let shared = Arc::new(Shared::default());
        let handler = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("grov-signals".to_owned())
            .spawn(move || {
                for origin in signals.forever() {
                    // The keys of a terminal and its end reach the command too.
                    let is_from_terminal = origin.cause == Cause::Kernel;
                    handler.received(origin.signal, is_from_terminal);
                }
            })
            .map_err(failed)?;
        Ok(Self(shared))
    }

    /// The first signal before the command was started.
    pub(super) fn early(&self) -> Option<i32> {
        self.0.state().early
    }

    /// Forwards signals to a process from now on.
    pub(super) fn forward_to(&self, pid: u32) {
        let mut state = self.0.state();
        state.command = i32::try_from(pid).ok().and_then(Pid::from_raw);
        if let (Some(command), Some(signal)) = (state.command, state.early) {
            send(command, signal);
        }
    }

    /// The command has ended.
    pub(super) fn forward_to_nobody(&self) {
        let mut state = self.0.state();
        state.command = None;
        state.has_ended = true;
    }

    /// Whether a signal came after the command's end.
    pub(super) fn came_after_the_end(&self) -> bool {
        self.0.state().came_after_the_end
    }

    /// Waits for a signal, without a command.
    pub(super) fn wait(&self) {
        let mut state = self.0.state();
        while state.early.is_none() {
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.has_ended = true;
    }
}

impl Shared {
    fn received(&self, signal: i32, is_from_terminal: bool) {
        let mut state = self.state();
        match state.command {
            Some(_) if is_from_terminal => {}
            Some(command) => send(command, signal),
            None if state.has_ended => state.came_after_the_end = true,
            None => {
                state.early.get_or_insert(signal);
            }
        }
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn send(command: Pid, signal: i32) {
    if let Some(signal) = Signal::from_named_raw(signal) {
        // It may just have ended.
        let _ = kill_process(command, signal);
    }
}

/// The signals that this process was started to ignore. Empty on systems other than Linux.
fn ignored() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    FORWARDED
        .into_iter()
        .filter(|signal| mask >> (signal - 1) & 1 == 1)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_before_the_command_is_kept() {
        let signals = Signals(Arc::default());
        assert_eq!(signals.early(), None);
        signals.0.received(SIGTERM, false);
        signals.0.received(SIGINT, false);
        assert_eq!(signals.early(), Some(SIGTERM));
        signals.forward_to_nobody();
        assert!(!signals.came_after_the_end());
        signals.0.received(SIGINT, true);
        assert!(signals.came_after_the_end());
    }
}
