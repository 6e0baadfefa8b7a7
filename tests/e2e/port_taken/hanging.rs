//! Sessions of the real client whose requests nobody would answer. Without the proxy's help the client waits for minutes.

use super::silent;
use crate::hooks::{init, prepare};
use crate::upstream::{NOWHERE, Upstream};
use anyhow::{Context, Result, ensure};
use grov_tests::{Grov, RealClient, eventually, signal};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The client's settings before Grov's registration.
const SETTINGS: &str = "{\n  \"includeCoAuthoredBy\": false\n}\n";

/// A client whose settings send its requests to the proxy at a port. The proxy is stopped at the end.
struct Routed {
    client: RealClient,
    grov: Grov,
    _upstream: Upstream,
}

impl Routed {
    fn to(port: u16) -> Result<Option<Self>> {
        let Some(client) = RealClient::installed()? else {
            return Ok(None);
        };
        let upstream = Upstream::start()?;
        let grov = prepare(&client, SETTINGS)?;
        let config = format!("[proxy]\nport = {port}\nupstream = \"{}\"\n", upstream.url());
        fs::write(client.home().join(".grov/config.toml"), config)?;
        init(&grov, &["--proxy", "--statusline"])?;
        Ok(Some(Self {
            client,
            grov,
            _upstream: upstream,
        }))
    }

    fn settings(&self) -> PathBuf {
        self.client.home().join(".claude/settings.json")
    }

    fn proxy_url(&self) -> Result<String> {
        let status = self.grov.run_json(&["proxy-status"])?.json;
        let url = status["proxy"]["url"].as_str();
        Ok(url.with_context(|| format!("no proxy: {status}"))?.to_owned())
    }

    /// The status line of a session that sends its requests to a port.
    fn status_line(&self, port: u16) -> Result<String> {
        let url = format!("http://127.0.0.1:{port}");
        let grov = Grov::on(&self.client.home().join(".grov")).env("ANTHROPIC_BASE_URL", &url);
        Ok(grov.run(&["statusline"])?.stdout)
    }
}

impl Drop for Routed {
    fn drop(&mut self) {
        let _ = self.grov.run(&["proxy", "stop"]);
    }
}

#[test]
fn a_session_whose_port_a_silent_program_has_moves_to_a_free_one() -> Result<()> {
    let taken = silent()?;
    let Some(routed) = Routed::to(taken.port)? else {
        return Ok(());
    };
    let line = routed.status_line(taken.port)?;
    ensure!(line.contains(&format!("port {} taken", taken.port)), "{line}");
    let run = routed.client.prompt("", "hello", &[])?;
    run.result()?;
    assert_eq!(run.retries(), 0, "{run:?}");
    let url = routed.proxy_url()?;
    let settings = fs::read_to_string(routed.settings())?;
    assert!(
        settings.contains(&url),
        "{settings} does not send requests to {url}"
    );
    let sessions = routed.grov.sessions()?;
    assert_eq!(sessions.len(), 1, "the proxy has not recorded the session");
    // The next one needs nothing of that.
    routed.client.prompt("", "hello again", &[])?.result()?;
    assert_eq!(routed.proxy_url()?, url);
    let ended = routed.grov.run(&["unregister"])?;
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(fs::read_to_string(routed.settings())?, SETTINGS);
    Ok(())
}

#[test]
fn a_prompt_that_nobody_would_answer_is_refused_with_the_reason() -> Result<()> {
    let taken = silent()?;
    let Some(client) = RealClient::installed()? else {
        return Ok(());
    };
    let grov = prepare(&client, SETTINGS)?;
    let config = format!("[proxy]\nport = {}\nupstream = \"{NOWHERE}\"\n", taken.port);
    fs::write(client.home().join(".grov/config.toml"), config)?;
    // Hooks alone: the base URL is the user's own, which Grov must not change.
    init(&grov, &[])?;
    let run = client.prompt(&format!("http://127.0.0.1:{}", taken.port), "hello", &[])?;
    let shown = format!("{run:?}");
    assert!(shown.contains("another program listens"), "{shown}");
    assert_eq!(run.retries(), 0, "{shown}");
    Ok(())
}

/// What the hook answers to a prompt of a client that sends its requests to this URL.
fn prompt(folder: &Path, url: &str) -> Result<Value> {
    let grov = Grov::on(&folder.join("grov")).env("ANTHROPIC_BASE_URL", url);
    let ended = grov.hook(
        "UserPromptSubmit",
        &json!({"session_id": "s", "cwd": folder, "prompt": "Fix the login", "prompt_id": "p"}),
    )?;
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    Ok(serde_json::from_str(&ended.stdout).unwrap_or_default())
}

#[test]
fn a_prompt_starts_the_proxy_that_died_and_is_refused_while_it_is_stopped() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let upstream = Upstream::start()?;
    let grov = Grov::on(&folder.path().join("grov"));
    let start = grov.run_json(&["proxy", "start", "--port", "0", "--upstream", &upstream.url()])?;
    let url = start.json["url"].as_str().context("no url")?.to_owned();
    let running = |grov: &Grov| -> Result<Option<u32>> {
        let status = grov.run_json(&["proxy-status"])?.json;
        Ok(status["proxy"]["pid"]
            .as_u64()
            .and_then(|pid| u32::try_from(pid).ok()))
    };
    let pid = running(&grov)?.context("no process")?;
    assert_eq!(prompt(folder.path(), &url)?, Value::Null, "it answers");
    signal(pid, "STOP")?;
    let refused = eventually("the process to stop", || {
        let answer = prompt(folder.path(), &url).ok()?;
        (answer["decision"] == "block").then_some(answer)
    })?;
    let reason = refused["reason"].as_str().unwrap_or_default();
    assert!(reason.contains(&format!("kill -CONT {pid}")), "{refused}");
    signal(pid, "CONT")?;
    signal(pid, "KILL")?;
    eventually("the process to end", || {
        running(&grov).ok().filter(|pid| pid.is_none()).map(drop)
    })?;
    assert_eq!(prompt(folder.path(), &url)?, Value::Null, "started again");
    let again = running(&grov)?.context("not started")?;
    assert_ne!(again, pid);
    grov.run(&["proxy", "stop"])?;
    Ok(())
}
