//! `grov` commands that use a running daemon.

use crate::turn;
use crate::upstream::Upstream;
use anyhow::{Context, Result};
use grov_tests::{Grov, eventually, exchange, signal};
use std::fs;
use std::time::{Duration, Instant};

/// Stops a detached daemon even if the test fails.
struct Detached(u32);

impl Drop for Detached {
    fn drop(&mut self) {
        let _ = signal(self.0, "KILL");
    }
}

#[test]
fn the_command_line_finds_uses_and_misses_a_detached_daemon() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let grov = Grov::on(&home);
    assert_eq!(grov.run_json(&["proxy-status"])?.json["proxy"]["running"], false);

    let started = grov.run(&["proxy", "--detach", "--port", "0", "--upstream", &upstream.url()])?;
    assert_eq!(started.code(), Some(0), "{}", started.stderr);
    let proxy = grov.run_json(&["proxy-status"])?.json["proxy"].clone();
    let pid = proxy["pid"]
        .as_u64()
        .and_then(|pid| u32::try_from(pid).ok())
        .context("no pid")?;
    let _daemon = Detached(pid);
    assert_eq!(proxy["running"], true, "{proxy}");
    let url = proxy["url"].as_str().context("no url")?;
    let port = url
        .rsplit(':')
        .next()
        .and_then(|port| port.parse().ok())
        .context("no port")?;
    assert_eq!(
        exchange(port, &turn::prompt(&turn::session(1), "[[scenario:tools]]"))?.status,
        200
    );
    let step = grov.wait_for_steps(&turn::session(1), 1)?.remove(0);
    assert_eq!(step["action_type"], "write");
    let answer = grov.run_json(&["proxy-status"])?.json;
    assert_eq!(
        (&answer["sessions"][0]["prompts"], &answer["sessions"][0]["steps"]),
        (&1.into(), &1.into())
    );

    signal(pid, "TERM")?;
    eventually("the daemon to be gone", || {
        (grov.run_json(&["proxy-status"]).ok()?.json["proxy"]["running"] == false).then_some(())
    })
}

#[test]
fn the_demo_needs_no_setup_and_leaves_no_files() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let start = Instant::now();
    let answer = Grov::on(&home).run_json(&["demo"])?;
    assert_eq!(answer.code, Some(0), "{}", answer.json);
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "the demo took {:?}",
        start.elapsed()
    );
    let left: Vec<_> = fs::read_dir(folder.path())?
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert!(left.is_empty(), "the demo left {left:?}");
    Ok(())
}

#[test]
fn an_unknown_session_is_reported_without_an_error() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let ended = Grov::on(&folder.path().join("grov")).run(&["steps", "no-such-session", "--json"])?;
    assert_eq!(ended.code(), Some(1), "{} {}", ended.stdout, ended.stderr);
    let answer: serde_json::Value = serde_json::from_str(&ended.stdout)?;
    assert_eq!(answer["schema"], 1);
    Ok(())
}
