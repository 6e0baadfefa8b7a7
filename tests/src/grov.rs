//! The command line `grov`.

use crate::binary;
use crate::process::{self, Ended, PATIENCE};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::ffi::OsString;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// `grov` with one home directory.
#[derive(Clone, Debug)]
pub struct Grov {
    home: PathBuf,
    directory: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

/// The result of a command with `--json`.
#[derive(Debug)]
pub struct Answer {
    /// The exit code.
    pub code: Option<i32>,
    /// The one JSON object on standard output.
    pub json: Value,
}

impl Grov {
    /// The command line with this home, run in this home.
    pub fn on(home: &Path) -> Self {
        let directory = home.parent().unwrap_or(home).to_owned();
        Self {
            home: home.to_owned(),
            directory,
            environment: Vec::new(),
        }
    }

    /// Runs commands in another directory.
    pub fn within(mut self, directory: &Path) -> Self {
        directory.clone_into(&mut self.directory);
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Runs a command until it exits.
    ///
    /// # Errors
    /// The command does not start or does not exit.
    pub fn run(&self, arguments: &[&str]) -> Result<Ended> {
        process::run(&mut self.command(arguments)?, 2 * PATIENCE)
    }

    /// Runs a hook with an event on standard input, as the client does, until it exits.
    ///
    /// # Errors
    /// The hook does not start or does not exit.
    pub fn hook(&self, event: &str, input: &Value) -> Result<Ended> {
        self.run_given(&["hook", event], input)
    }

    /// Runs a command with JSON on standard input until it exits.
    ///
    /// # Errors
    /// The command does not start or does not exit.
    pub fn run_given(&self, arguments: &[&str], input: &Value) -> Result<Ended> {
        let mut file = tempfile::tempfile()?;
        file.write_all(input.to_string().as_bytes())?;
        file.rewind()?;
        let mut command = self.command(arguments)?;
        process::run_reading(&mut command, file.into(), 2 * PATIENCE)
    }

    /// The command line with these arguments, to be started.
    ///
    /// # Errors
    /// The binary does not exist.
    pub fn command(&self, arguments: &[&str]) -> Result<Command> {
        let mut command = Command::new(binary("grov")?);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
            .env("HOME", self.home.parent().unwrap_or(&self.home))
            .env("GROV_HOME", &self.home);
        command
            .envs(self.environment.iter().cloned())
            .current_dir(&self.directory)
            .args(arguments);
        Ok(command)
    }

    /// Runs a command with `--json`.
    ///
    /// # Errors
    /// Standard output is not one JSON object with `"schema": 1`.
    pub fn run_json(&self, arguments: &[&str]) -> Result<Answer> {
        let ended = self.run(&[arguments, &["--json"]].concat())?;
        let json: Value = serde_json::from_str(&ended.stdout).with_context(|| {
            format!(
                "{arguments:?} --json printed {:?} and {:?}",
                ended.stdout, ended.stderr
            )
        })?;
        ensure!(json["schema"] == 1, "{arguments:?} --json has no schema: {json}");
        Ok(Answer {
            code: ended.code(),
            json,
        })
    }

    /// The steps of a session from `grov steps`; empty while the session is unknown.
    ///
    /// # Errors
    /// The command fails for another reason.
    pub fn steps(&self, session: &str) -> Result<Vec<Value>> {
        let answer = self.run_json(&["steps", session])?;
        ensure!(
            matches!(answer.code, Some(0 | 1)),
            "grov steps failed: {}",
            answer.json
        );
        Ok(answer.json["steps"].as_array().cloned().unwrap_or_default())
    }

    /// The steps of a session, once there are at least `count`.
    ///
    /// # Errors
    /// The timeout passes before.
    pub fn wait_for_steps(&self, session: &str, count: usize) -> Result<Vec<Value>> {
        let mut newest = Ok(Vec::new());
        let found = process::eventually("the steps to be stored", || {
            newest = self.steps(session);
            newest
                .as_ref()
                .is_ok_and(|steps| steps.len() >= count)
                .then_some(())
        });
        let newest = newest?;
        found.with_context(|| format!("{} of {count} steps are there", newest.len()))?;
        Ok(newest)
    }

    /// The sessions from `grov proxy-status`.
    ///
    /// # Errors
    /// The command fails.
    pub fn sessions(&self) -> Result<Vec<Value>> {
        let answer = self.run_json(&["proxy-status"])?;
        Ok(answer.json["sessions"].as_array().cloned().unwrap_or_default())
    }
}
