//! `cargo xtask test`: all tests, in the way that fits this machine, with a loud word about whatever could not run.

use crate::phases::succeed;
use crate::workspace::Workspace;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

/// What the tests with the real client find it by.
const CLIENT: &str = ".tools/client/claude";
/// Names the tests that drive the real client.
const CLIENT_TESTS: &str = "real_client::";

/// Builds everything, installs the client where that is possible, and runs the tests; `arguments` go to the runner.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let start = Instant::now();
    let strict = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
    let missing = install_client(workspace).err();
    if let Some(error) = &missing
        && strict
    {
        return Err(anyhow::anyhow!("{error:#}"))
            .context("in CI nothing is skipped, but the client is not there");
    }

    // One build of binaries and tests together: the features of the dependencies are the same for both, and the
    // whole-system tests find the binaries of exactly this source.
    succeed(&mut workspace.cargo(&["build", "--workspace", "--bins", "--tests", "--locked"]))?;
    let nextest = has_nextest(workspace);
    let mut command = if nextest {
        workspace.cargo(&["nextest", "run", "--workspace", "--locked"])
    } else {
        workspace.cargo(&[
            "test",
            "--workspace",
            "--bins",
            "--lib",
            "--tests",
            "--locked",
            "--no-fail-fast",
        ])
    };
    if nextest && strict {
        command.args(["--profile", "ci"]);
    }
    command.env("GROV_BIN_DIR", binaries(workspace));
    match (&missing, nextest) {
        (None, _) => {
            command.args(arguments);
        }
        (Some(_), true) => {
            command
                .args(["--filterset", &format!("not test(/(^|::){CLIENT_TESTS}/)")])
                .args(arguments);
        }
        (Some(_), false) => {
            let separator = if arguments.iter().any(|argument| argument == "--") {
                None
            } else {
                Some("--")
            };
            command
                .args(arguments)
                .args(separator)
                .args(["--skip", CLIENT_TESTS]);
        }
    }
    let outcome = succeed(&mut command);
    println!("tests: {:.1} s", start.elapsed().as_secs_f64());
    if let Some(error) = missing {
        eprintln!("\nNOT RUN: the tests with the real Claude Code client (`{CLIENT_TESTS}`): {error:#}");
    }
    outcome
}

fn binaries(workspace: &Workspace) -> std::path::PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    target
        .map_or_else(
            || workspace.root.join("target"),
            |target| workspace.root.join(target),
        )
        .join("debug")
}

fn has_nextest(workspace: &Workspace) -> bool {
    let mut probe = workspace.cargo(&["nextest", "--version"]);
    probe
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn install_client(workspace: &Workspace) -> Result<()> {
    let mut install = workspace.command("bash");
    install.arg("scripts/install-client");
    succeed(&mut install)?;
    let client = workspace.root.join(Path::new(CLIENT));
    anyhow::ensure!(
        client.exists(),
        "scripts/install-client left no {}",
        client.display()
    );
    Ok(())
}
