//! Runs other commands of this program.

use crate::arguments::Common;
use crate::failure::Failure;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a command with the same home, in a directory or else the project of this command. Its output is dropped; if it fails,
/// its message is the error.
pub(crate) fn run(common: &Common, directory: Option<&Path>, words: &[&str]) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::error("grov", error.to_string());
    let grov = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut command = Command::new(grov);
    if let Some(home) = &common.home {
        command.arg("--home").arg(home);
    }
    match (directory, &common.project) {
        (Some(directory), _) => drop(command.current_dir(directory)),
        (None, Some(project)) => drop(command.arg("--project").arg(project)),
        (None, None) => {}
    }
    let output = command.args(words).stdin(Stdio::null()).output();
    let output = output.map_err(|error| failed(&error))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(&String::from_utf8_lossy(&output.stderr).trim())),
    }
}
