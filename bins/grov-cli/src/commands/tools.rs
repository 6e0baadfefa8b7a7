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
    let program = beside_or_in_path(PROGRAM, &Environment::of_process()).ok_or_else(|| {
        Failure::error("tools", format!("{PROGRAM} is neither next to grov nor in PATH"))
            .hint("install it next to grov, or add its directory to PATH")
    })?;
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
