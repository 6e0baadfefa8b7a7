//! `cargo xtask ci`: the static checks that a change must pass. The tests themselves are `cargo xtask test`.

use crate::phases::{Phases, succeed};
use crate::tidy;
use crate::workspace::Workspace;
use anyhow::Result;

/// Runs every check in turn, cheapest first, and prints how long each took.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut phases = Phases::default();
    let outcome = run_phases(workspace, &mut phases);
    print!("\n{}", phases.summary());
    outcome
}

fn run_phases(workspace: &Workspace, phases: &mut Phases) -> Result<()> {
    phases.command("fmt", &mut workspace.cargo(&["fmt", "--all", "--check"]))?;
    phases.run("tidy", || tidy::run(workspace))?;
    let clippy = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ];
    phases.command("clippy", &mut workspace.cargo(&clippy))?;
    phases.command(
        "docs",
        workspace
            .cargo(&["doc", "--workspace", "--no-deps", "--locked"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    // Builds everything that runs below with one set of features, the same as for the tests.
    let build = [
        "build",
        "--workspace",
        "--bins",
        "--tests",
        "--examples",
        "--locked",
    ];
    phases.command("build", &mut workspace.cargo(&build))?;
    phases.command(
        "doctests",
        &mut workspace.cargo(&["test", "--workspace", "--doc", "--locked"]),
    )?;
    // An example exits by itself and fails with an error, so it is run and not only compiled.
    for example in workspace.packages()?.iter().flat_map(|package| &package.examples) {
        let program = workspace.built().join("examples").join(example);
        phases.run(&format!("example {example}"), || {
            succeed(&mut workspace.command(&program))
        })?;
    }
    Ok(())
}
