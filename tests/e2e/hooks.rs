//! The hook path with the real client: hooks are registered in its settings, their text arrives in requests, and
//! removing them restores the file.

mod anchors;
mod both_paths;
mod context;
mod forks;
pub mod hooked;
mod interrupted;
mod live;
mod off_and_private;
mod over_http;
mod sessions;
mod subagents;

use crate::upstream::{NOWHERE, Upstream};
use crate::work::Work;
use anyhow::{Context, Result, ensure};
use grov_domain::OWN_TEXT_OPENING;
use grov_tests::{Grov, RealClient, eventually};
use serde_json::json;
use std::fs;
use std::net::TcpListener;

pub const QUESTION: &str = "How are failed webhooks sent again, and why that way?";
const DECISION: &str = "Keep failed webhooks in an outbox table";
/// A settings file with everything that makes it hard to edit and that the client accepts.
const SETTINGS: &str = "{\r\n\t\"includeCoAuthoredBy\" : false,\r\n\r\n\t\"hooks\": {\"Stop\": [] },\r\n\t\"env\": {\"A\":\"1\"}}";

/// The client's settings file.
fn settings(client: &RealClient) -> std::path::PathBuf {
    client.home().join(".claude/settings.json")
}

/// A project with a memory, and the client's settings.
pub fn prepare(client: &RealClient, settings_text: &str) -> Result<Grov> {
    let grov = Grov::on(&client.home().join(".grov")).within(&client.project());
    let record = json!({
        "id": "task-webhooks", "user": "dev", "created_at": "2026-01-02T03:04:05Z",
        "original_query": "Send failed webhooks again", "goal": "Send failed webhooks again",
        "decisions": [{"choice": DECISION, "reason": "They survive a restart of the sender"}],
    });
    let file = client.home().join("records.jsonl");
    fs::write(&file, format!("{record}\n"))?;
    let file = file.to_str().context("the path is not UTF-8")?;
    let ended = grov.run(&["memory", "import", file])?;
    ensure!(ended.code() == Some(0), "{ended:?}");
    fs::create_dir_all(client.home().join(".claude"))?;
    fs::write(settings(client), settings_text)?;
    Ok(grov)
}

pub fn init(grov: &Grov, words: &[&str]) -> Result<()> {
    let ended = grov.run(&[&["init"], words].concat())?;
    ensure!(ended.code() == Some(0), "{ended:?}");
    Ok(())
}

/// The number of injected blocks in each request that arrived, and the number of requests that contain the memory.
pub fn injections(upstream: &Upstream) -> Result<(Vec<usize>, usize)> {
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
fn without_a_proxy_a_memory_is_injected_once() -> Result<()> {
    for model in ["claude-opus-4-8", "claude-sonnet-4-5"] {
        let Some(client) = RealClient::installed()? else {
            return Ok(());
        };
        let upstream = Upstream::start()?;
        let grov = prepare(&client, SETTINGS)?;
        init(&grov, &[])?;
        let run = client.prompt(&upstream.url(), QUESTION, &["--model", model])?;
        run.result()?;
        let (times, saying) = injections(&upstream)?;
        assert_eq!((times.as_slice(), saying), ([1].as_slice(), 1), "{model}");
        let again = client.prompt(&upstream.url(), QUESTION, &["--model", model, "--continue"])?;
        again.result()?;
        let (times, saying) = injections(&upstream)?;
        assert_eq!(
            (times.as_slice(), saying),
            ([1, 1].as_slice(), 2),
            "{model}: only the text in the history must be there"
        );

        let ended = grov.run(&["unregister"])?;
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        assert_eq!(fs::read_to_string(settings(&client))?, SETTINGS);
        let faults = fs::read_to_string(client.home().join(".grov/logs/hooks.log")).unwrap_or_default();
        // When two processes write at the same time on a busy machine, one may have to retry later.
        let mut faults = faults.lines().filter(|line| !line.contains("the store is busy"));
        assert_eq!(faults.next(), None);
    }
    Ok(())
}

#[test]
fn hooks_and_proxy_never_inject_the_same_memory_twice() -> Result<()> {
    let Some(work) = Work::begin()? else { return Ok(()) };
    let grov = prepare(&work.client, SETTINGS)?;
    init(&grov, &[])?;
    let first = work.prompt(&format!("{QUESTION} [[scenario:tools]]"), &[])?;
    first.result()?;
    work.prompt(QUESTION, &["--continue"])?.result()?;
    // The proxy injects, and may miss its deadline for a prompt. Two injections must never happen.
    let (times, _) = injections(&work.upstream)?;
    assert!(
        times.len() > 3 && times.iter().all(|&times| times <= 1),
        "{times:?}"
    );
    Ok(())
}

#[test]
fn a_session_starts_the_proxy_which_forwards_to_the_previous_gateway() -> Result<()> {
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

    // The settings file takes precedence over the client's environment.
    let run = client.prompt(NOWHERE, "Add a greeting. [[scenario:tools]]", &[])?;
    assert_eq!(run.result()?, "The greeting is written, changed and counted.");
    assert_eq!(run.retries(), 0, "the proxy is up before the first request");
    assert_eq!(grov.wait_for_steps(run.session()?, 4)?.len(), 4);

    let ended = grov.run(&["uninstall"])?;
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(fs::read_to_string(settings(&client))?, before);
    eventually("the daemon to stop", || {
        TcpListener::bind(("127.0.0.1", port)).ok()
    })?;
    Ok(())
}
