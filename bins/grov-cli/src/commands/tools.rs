//! `grov tools` and `grov mcp`: replaces itself with `envoy`.

use crate::arguments::Common;
use crate::failure::Failure;
use crate::output::Outcome;
use crate::programs::beside_or_in_path;
use grov_runtime::Environment;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

const PROGRAM: &str = "envoy";
/// What is wrong without the program, and what to do.
pub(crate) const MISSING: &str = "envoy is neither next to grov nor in PATH";
pub(crate) const INSTALL: &str = "install it next to grov, or add its directory to PATH";

/// Whether `grov tools` and `grov mcp` find their program.
pub(crate) fn is_installed(environment: &Environment) -> bool {
    beside_or_in_path(PROGRAM, environment).is_some()
}

pub(crate) fn run(common: &Common, arguments: &[OsString]) -> Outcome {
    become_envoy(common, arguments)
}

/// `grov mcp`
pub(crate) fn mcp(common: &Common, with_tools: bool) -> Outcome {
    let words: &[&str] = if with_tools { &["mcp", "--tools"] } else { &["mcp"] };
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    become_envoy(common, &words)
}

/// The program of its own keeps hooks, which `grov` answers, small.
fn become_envoy(common: &Common, arguments: &[OsString]) -> Outcome {
    let environment = Environment::of_process();
    let program = beside_or_in_path(PROGRAM, &environment)
        .ok_or_else(|| Failure::error("tools", MISSING).hint(INSTALL))?;
    let mut command = Command::new(&program);
    for (flag, value) in [("--home", &common.home), ("--project", &common.project)] {
        if let Some(value) = value {
            command.arg(flag).arg(value);
        }
    }
    let error = command.args(arguments).exec();
    Err(Failure::error(
        "tools",
        format!("cannot start {}: {error}", program.display()),
    ))
}
