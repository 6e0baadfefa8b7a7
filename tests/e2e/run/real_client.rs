//! The real client, started by `grov run`.

use super::Upstream;
use anyhow::{Context, Result};
use grov_tests::{Grov, RealClient};
use std::process::Command;

#[test]
fn the_real_client_works_by_a_base_url_and_is_recorded() -> Result<()> {
    works(&["--base-url"], true)
}

#[test]
fn the_real_client_works_by_a_connect_proxy_and_is_recorded() -> Result<()> {
    works(&[], false)
}

/// `names_gateway`: the upstream is what the client's own base URL names, else an option.
fn works(options: &[&str], names_gateway: bool) -> Result<()> {
    let Some(client) = RealClient::installed()? else {
        return Ok(());
    };
    let upstream = Upstream::start()?;
    let home = client.home().join(".grov");
    let direct = client.command(&upstream.url(), "Add a greeting. [[scenario:tools]]", &[]);
    let mut launcher = Command::new(grov_tests::binary("grov")?);
    launcher.arg("run").args(options).arg("--home").arg(&home);
    if !names_gateway {
        launcher.args(["--upstream", &upstream.url()]);
    }
    launcher.arg("--");
    launcher.arg(direct.get_program()).args(direct.get_args());
    launcher.env_clear().current_dir(client.project());
    for (name, value) in direct.get_envs() {
        if let Some(value) = value
            && (names_gateway || name != "ANTHROPIC_BASE_URL")
        {
            launcher.env(name, value);
        }
    }
    let run = client.run(&mut launcher)?;
    assert_eq!(run.result()?, "The greeting is written, changed and counted.");
    assert_eq!(run.retries(), 0);
    assert!(upstream.turns() > 0);
    let steps = Grov::on(&home).steps(run.session()?)?;
    let tools: Vec<&str> = steps.iter().filter_map(|step| step["tool"].as_str()).collect();
    assert_eq!(steps.len(), 4, "recorded when grov run has ended: {tools:?}");
    let greeting = std::fs::read_to_string(client.project().join("greeting.txt"));
    assert_eq!(greeting.context("no greeting")?, "hello\ngrov\n");
    Ok(())
}
