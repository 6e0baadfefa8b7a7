//! `cargo xtask test`: all tests, in the way that fits this machine, with a loud word about whatever could not run.

use crate::phases::succeed;
use crate::workspace::Workspace;
use anyhow::{Context, Result, anyhow, ensure};
use std::process::Stdio;
use std::time::Instant;

/// Where `scripts/install-client` leaves the client.
const CLIENT: &str = ".tools/client/claude";
/// The module of the tests that drive the real client.
const CLIENT_TESTS: &str = "real_client::";

/// What this machine offers and asks for.
#[derive(Clone, Copy, Debug)]
struct Setting {
    /// cargo-nextest is installed.
    nextest: bool,
    /// The real client is installed.
    client: bool,
    /// Nothing may be skipped and nothing may change: a run that decides about a change.
    strict: bool,
}

/// Builds everything, installs the client where that is possible, and runs the tests; `extra` goes to the runner.
pub(crate) fn run(workspace: &Workspace, extra: &[String]) -> Result<()> {
    let start = Instant::now();
    let strict = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
    let missing = install_client(workspace).err();
    let missing = match missing {
        Some(error) if strict => {
            return Err(anyhow!("{error:#}"))
                .context("in CI nothing is skipped, but the client is not there");
        }
        other => other,
    };
    let setting = Setting {
        nextest: has_nextest(workspace),
        client: missing.is_none(),
        strict,
    };

    // One build of binaries and tests together: the features of the dependencies are the same for both, and the
    // whole-system tests find the binaries of exactly this source.
    let locked: &[&str] = if strict { &["--locked"] } else { &[] };
    let build = [&["build", "--workspace", "--bins", "--tests"], locked].concat();
    succeed(&mut workspace.cargo(&build))?;
    let mut tests = workspace.cargo(&[]);
    tests
        .args(arguments(setting, extra))
        .env("GROV_BIN_DIR", workspace.built());
    let outcome = succeed(&mut tests);
    println!("tests: {:.1} s", start.elapsed().as_secs_f64());
    if let Some(error) = missing {
        eprintln!("\nNOT RUN: the tests with the real Claude Code client (`{CLIENT_TESTS}`): {error:#}");
    }
    outcome
}

/// What cargo is told, so that the summary of the test runner counts what is left out.
fn arguments(setting: Setting, extra: &[String]) -> Vec<String> {
    let runner: &[&str] = if setting.nextest {
        &["nextest", "run", "--workspace"]
    } else {
        &[
            "test",
            "--workspace",
            "--bins",
            "--lib",
            "--tests",
            "--no-fail-fast",
        ]
    };
    let mut arguments: Vec<String> = runner.iter().map(|&word| word.to_owned()).collect();
    if setting.strict {
        arguments.push("--locked".to_owned());
        if setting.nextest {
            arguments.extend(["--profile".to_owned(), "ci".to_owned()]);
        }
    }
    if setting.nextest && !setting.client {
        arguments.extend([
            "--filterset".to_owned(),
            format!("not test(/(^|::){CLIENT_TESTS}/)"),
        ]);
    }
    arguments.extend_from_slice(extra);
    if !setting.nextest && !setting.client {
        if !extra.iter().any(|argument| argument == "--") {
            arguments.push("--".to_owned());
        }
        arguments.extend(["--skip".to_owned(), CLIENT_TESTS.to_owned()]);
    }
    arguments
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
    succeed(workspace.command("bash").arg("scripts/install-client"))?;
    let client = workspace.root.join(CLIENT);
    ensure!(
        client.exists(),
        "scripts/install-client left no {}",
        client.display()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(nextest: bool, client: bool, strict: bool, extra: &[&str]) -> String {
        let extra: Vec<String> = extra.iter().map(|&word| word.to_owned()).collect();
        arguments(
            Setting {
                nextest,
                client,
                strict,
            },
            &extra,
        )
        .join(" ")
    }

    #[test]
    fn nothing_is_left_out_where_everything_is_there() {
        assert_eq!(
            line(true, true, true, &["x"]),
            "nextest run --workspace --locked --profile ci x"
        );
        assert_eq!(line(true, true, false, &[]), "nextest run --workspace");
        let plain = "test --workspace --bins --lib --tests --no-fail-fast";
        assert_eq!(line(false, true, false, &["x"]), format!("{plain} x"));
    }

    #[test]
    fn without_the_client_the_runner_is_told_to_skip_its_tests() {
        assert!(line(true, false, false, &["x"]).ends_with("--filterset not test(/(^|::)real_client::/) x"));
        assert!(line(false, false, false, &[]).ends_with("-- --skip real_client::"));
        assert!(line(false, false, false, &["--", "x"]).ends_with("-- x --skip real_client::"));
    }
}
