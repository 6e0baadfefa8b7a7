//! The hook path with the real client: registered in its settings, heard on the wire, and gone without a trace.

mod anchors;
mod both_paths;
mod broken_off;
mod forks;
mod hooked;
mod over_http;
mod sessions;
mod subagents;
mod unsaid;

use crate::upstream::{NOWHERE, Upstream};
use crate::work::Work;
use anyhow::{Context, Result, ensure};
use grov_domain::OWN_TEXT_OPENING;
use grov_tests::{Grov, RealClient, eventually};
use serde_json::json;
use std::fs;
use std::net::TcpListener;

const QUESTION: &str = "How are failed webhooks sent again, and why that way?";
const DECISION: &str = "Keep failed webhooks in an outbox table";
/// With all that makes a file hard to edit, as far as the client takes it.
const SETTINGS: &str = "{\r\n\t\"includeCoAuthoredBy\" : false,\r\n\r\n\t\"hooks\": {\"Stop\": [] },\r\n\t\"env\": {\"A\":\"1\"}}";

/// The client's settings file.
fn settings(client: &RealClient) -> std::path::PathBuf {
    client.home().join(".claude/settings.json")
}

/// A project in which something is remembered, and the client's settings.
fn prepare(client: &RealClient, settings_text: &str) -> Result<Grov> {
    let grov = Grov::on(&client.home().join(".grov")).within(&client.project());
    let record = json!({
        "id": "task-webhooks", "user": "dev", "created_at": "2026-01-02T03:04:05Z",
        "original_query": "Send failed webhooks again", "goal": "Send failed webhooks again",
        "decisions": [{"choice": DECISION, "reason": "They survive a restart of the sender"}],
    });
    let file = client.home().join("records.jsonl");
    fs::write(&file, format!("{record}\n"))?;
    let file = file.to_str().context("a path that is no text")?;
    let ended = grov.run(&["memory", "import", file])?;
    ensure!(ended.code() == Some(0), "{ended:?}");
    fs::create_dir_all(client.home().join(".claude"))?;
    fs::write(settings(client), settings_text)?;
    Ok(grov)
}

fn init(grov: &Grov, words: &[&str]) -> Result<()> {
    let ended = grov.run(&[&["init"], words].concat())?;
    ensure!(ended.code() == Some(0), "{ended:?}");
    Ok(())
}

/// How often Grov speaks in each request that arrived, and in how many of them it says what is remembered.
fn heard(upstream: &Upstream) -> Result<(Vec<usize>, usize)> {
    let mut times = Vec::new();
    let mut saying = 0;
    for request in upstream.sim().messages() {
        let body = String::from_utf8(request.body.to_vec())?;
        times.push(body.matches(OWN_TEXT_OPENING).count());
        saying += usize::from(body.contains(DECISION));
    }
    Ok((times, saying))
}

#[test]
fn without_a_proxy_the_agent_hears_what_is_remembered_once() -> Result<()> {
    for model in ["claude-opus-4-8", "claude-sonnet-4-5"] {
        let Some(client) = RealClient::installed()? else {
            return Ok(());
        };
        let upstream = Upstream::start()?;
        let grov = prepare(&client, SETTINGS)?;
        init(&grov, &[])?;
        let run = client.prompt(&upstream.url(), QUESTION, &["--model", model])?;
        run.result()?;
        let (times, saying) = heard(&upstream)?;
        assert_eq!((times.as_slice(), saying), ([1].as_slice(), 1), "{model}");
        let again = client.prompt(&upstream.url(), QUESTION, &["--model", model, "--continue"])?;
        again.result()?;
        let (times, saying) = heard(&upstream)?;
        assert_eq!(
            (times.as_slice(), saying),
            ([1, 1].as_slice(), 2),
            "{model}: it stands in the history"
        );

        let ended = grov.run(&["unregister"])?;
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        assert_eq!(fs::read_to_string(settings(&client))?, SETTINGS);
        let faults = fs::read_to_string(client.home().join(".grov/logs/hooks.log")).unwrap_or_default();
        // Of two processes that write at once on a busy machine one may be told to come back.
        let mut faults = faults.lines().filter(|line| !line.contains("the store is busy"));
        assert_eq!(faults.next(), None);
    }
    Ok(())
}

#[test]
fn hooks_and_proxy_together_never_say_it_twice() -> Result<()> {
    let Some(work) = Work::begin()? else { return Ok(()) };
    let grov = prepare(&work.client, SETTINGS)?;
    init(&grov, &[])?;
    let first = work.prompt(&format!("{QUESTION} [[scenario:tools]]"), &[])?;
    first.result()?;
    work.prompt(QUESTION, &["--continue"])?.result()?;
    // The proxy is the one to speak, and may be out of time for a prompt; what matters is that they are never two.
    let (times, _) = heard(&work.upstream)?;
    assert!(
        times.len() > 3 && times.iter().all(|&times| times <= 1),
        "{times:?}"
    );
    Ok(())
}

#[test]
fn a_session_starts_the_proxy_and_reaches_its_old_gateway_through_it() -> Result<()> {
    let Some(client) = RealClient::installed()? else {
        return Ok(());
    };
    let gateway = Upstream::start()?;
    let before = format!("{{\"env\": {{\"ANTHROPIC_BASE_URL\": \"{}\"}}}}", gateway.url());
    let grov = prepare(&client, &before)?;
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    fs::write(
        client.home().join(".grov/config.toml"),
        format!("[proxy]\nport = {port}\n"),
    )?;
    init(&grov, &["--proxy"])?;

    // What the settings say ranks above the client's own environment.
    let run = client.prompt(NOWHERE, "Add a greeting. [[scenario:tools]]", &[])?;
    assert_eq!(run.result()?, "The greeting is written, changed and counted.");
    assert_eq!(run.retries(), 0, "the proxy is up before the first request");
    assert_eq!(grov.steps_when(run.session()?, 4)?.len(), 4);

    let ended = grov.run(&["uninstall"])?;
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(fs::read_to_string(settings(&client))?, before);
    eventually("the daemon to stop", || {
        TcpListener::bind(("127.0.0.1", port)).ok()
    })?;
    Ok(())
}
