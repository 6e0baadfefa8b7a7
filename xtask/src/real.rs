//! `cargo xtask real`: tests with real programs that are too slow or too large for every run.

use crate::phases::succeed;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};

/// A group of tests with real programs.
struct Target {
    name: &'static str,
    /// Beginnings of paths. CI runs the target if a changed file has one of them.
    files: &'static [&'static str],
    /// The script that installs the programs into `.tools`.
    install: &'static str,
    /// What runs, after the binaries were built.
    command: &'static [&'static str],
}

const TARGETS: &[Target] = &[
    Target {
        name: "clients",
        files: &[
            "crates/grov-domain/src/client_dialect/",
            "crates/grov-proxy-core/src/api_upstreams.rs",
            "crates/grov-wire/src/api.rs",
            "crates/grov-wire/src/foreign",
            "bins/grov-cli/src/commands/registration/clients.rs",
            "scripts/clients/",
            "scripts/install-clients",
        ],
        install: "scripts/install-clients",
        command: &[
            "cargo",
            "nextest",
            "run",
            "--workspace",
            "-E",
            "test(clients::real::)",
        ],
    },
    Target {
        name: "browser",
        files: &[
            "crates/grov-dashboard/",
            "crates/grov-agent-http/assets/",
            "crates/grov-agent-http/src/routes/ui.rs",
            "crates/grov-proxy-core/src/admin/site.rs",
            "bins/grov-proxyd/src/dashboard.rs",
            "scripts/browser/",
        ],
        install: "scripts/install-browser",
        command: &["node", "scripts/browser/check.mjs"],
    },
    Target {
        name: "mcp",
        files: &["crates/grov-mcp/", "bins/grov-proxyd/src/mcp.rs", "scripts/mcp/"],
        install: "scripts/install-mcp-tools",
        command: &["bash", "scripts/mcp/check"],
    },
    Target {
        name: "metrics",
        files: &[
            "crates/grov-telemetry/",
            "crates/grov-proxy-core/src/metrics.rs",
            "docs/metrics.md",
        ],
        install: "scripts/install-prometheus",
        command: &[
            "cargo",
            "nextest",
            "run",
            "--workspace",
            "-E",
            "test(promtool_and_prometheus_accept_the_metrics)",
        ],
    },
    Target {
        name: "mitmproxy",
        files: &[
            "crates/grov-mitm/",
            "crates/grov-ca/",
            "tests/e2e/mitm/mitmproxy.rs",
        ],
        install: "scripts/install-mitmproxy",
        command: &[
            "cargo",
            "nextest",
            "run",
            "--workspace",
            "-E",
            "test(/mitm::mitmproxy::/)",
        ],
    },
    Target {
        name: "n8n",
        files: &[
            "docs/n8n/",
            "scripts/n8n/",
            "bins/grov-agentd/src/webhook.rs",
            "crates/grov-agent/src/webhook.rs",
            "crates/grov-agent-http/src/routes/tools_result.rs",
        ],
        install: "scripts/install-n8n",
        command: &["node", "scripts/n8n/check.mjs"],
    },
];

/// Runs the named targets; with `--changed` those whose files differ from the merge base, or from the last commit on the main branch.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let chosen: Vec<&Target> = match arguments {
        [] => {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            bail!("name a target ({}), or --changed", names.join(", "));
        }
        [flag] if flag == "--changed" => {
            let changed = changed_files(workspace)?;
            let (chosen, skipped): (Vec<_>, Vec<_>) =
                TARGETS.iter().partition(|target| is_touched(target, &changed));
            for target in skipped {
                println!("SKIPPED {}: none of its files changed", target.name);
            }
            chosen
        }
        names => names
            .iter()
            .map(|name| {
                let mut targets = TARGETS.iter();
                targets
                    .find(|target| target.name == name.as_str())
                    .with_context(|| format!("there is no target {name:?}"))
            })
            .collect::<Result<_>>()?,
    };
    if chosen.is_empty() {
        return Ok(());
    }
    succeed(&mut workspace.cargo(&["build", "--workspace", "--bins", "--tests", "--locked"]))?;
    for target in chosen {
        println!("=== real {}", target.name);
        succeed(workspace.command("bash").arg(target.install))?;
        if let Some((program, arguments)) = target.command.split_first() {
            succeed(workspace.command(program).args(arguments).env("GROV_REAL", "1"))?;
        }
    }
    Ok(())
}

fn is_touched(target: &Target, changed: &[String]) -> bool {
    let mut files = target.files.iter();
    files.any(|prefix| changed.iter().any(|path| path.starts_with(prefix)))
}

/// The paths that differ from the merge base with `origin/main`, or from the commit before.
fn changed_files(workspace: &Workspace) -> Result<Vec<String>> {
    let git = |arguments: &[&str]| -> Result<Option<String>> {
        let output = workspace.command("git").args(arguments).output();
        let output = output.context("cannot start git")?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok((output.status.success() && !text.is_empty()).then_some(text))
    };
    let head = git(&["rev-parse", "HEAD"])?.unwrap_or_default();
    let base = git(&["merge-base", "HEAD", "origin/main"])?.filter(|base| *base != head);
    let base = match base {
        Some(base) => Some(base),
        None => git(&["rev-parse", "HEAD~1"])?,
    };
    // A repository with one commit: everything is new.
    let files = match base {
        Some(base) => git(&["diff", "--name-only", &base])?,
        None => git(&["ls-files"])?,
    };
    Ok(files.unwrap_or_default().lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_runs_if_one_of_its_files_changed() {
        let mcp = TARGETS.iter().find(|target| target.name == "mcp").unwrap();
        assert!(is_touched(
            mcp,
            &["docs/x.md".to_owned(), "crates/grov-mcp/src/lib.rs".to_owned()]
        ));
        assert!(!is_touched(mcp, &["crates/grov-mcpx".to_owned()]));
    }
}
