//! `cargo xtask ci`: the static checks that a change must pass. The tests themselves are `cargo xtask test`.

use crate::phases::Phases;
use crate::tidy;
use crate::workspace::Workspace;
use anyhow::Result;

/// Runs every check in turn, cheapest first, and prints what each took.
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
    phases.command(
        "doctests",
        &mut workspace.cargo(&["test", "--workspace", "--doc", "--locked"]),
    )?;
    for (package, example) in RUN_EXAMPLES {
        let arguments = [
            "run",
            "--quiet",
            "--locked",
            "--package",
            package,
            "--example",
            example,
        ];
        phases.command(&format!("example {example}"), &mut workspace.cargo(&arguments))?;
    }
    Ok(())
}

/// Examples that end by themselves and fail loudly: they are run, not only compiled.
const RUN_EXAMPLES: &[(&str, &str)] = &[("grov-proxy-core", "embed")];
