//! Phases of a longer run: each is announced and timed, and the first failure ends the run.

use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

/// The phases run so far, with their durations.
#[derive(Default)]
pub(crate) struct Phases {
    done: Vec<(String, Duration)>,
}

impl Phases {
    /// Runs one phase; a failure ends the run and names the phase.
    pub(crate) fn run(&mut self, name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
        println!("==> {name}");
        let start = Instant::now();
        let outcome = work();
        self.done.push((name.to_owned(), start.elapsed()));
        outcome.with_context(|| format!("{name} failed"))
    }

    /// Runs one command as a phase.
    pub(crate) fn command(&mut self, name: &str, command: &mut Command) -> Result<()> {
        self.run(name, || succeed(command))
    }

    /// One line per phase, in the order they ran.
    pub(crate) fn summary(&self) -> String {
        let mut text = String::new();
        for (name, took) in &self.done {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{:>8.1} s  {name}", took.as_secs_f64());
        }
        text
    }
}

/// Runs a command until it exits; its output goes to this process's output.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_phase_is_named_and_timed() {
        let mut phases = Phases::default();
        phases.run("first", || Ok(())).unwrap();
        let error = phases.run("second", || bail!("no luck")).unwrap_err();
        assert_eq!(format!("{error:#}"), "second failed: no luck");
        let summary = phases.summary();
        let names: Vec<&str> = summary
            .lines()
            .filter_map(|line| line.split("s  ").nth(1))
            .collect();
        assert_eq!(names, ["first", "second"]);
    }
}
