//! Agents on other models: the real daemon with a provider file, before a simulated Anthropic and simulated providers.

mod local_model;
pub mod real_client;

use crate::turn::{prompt, session};
use crate::upstream::{NOWHERE, Upstream};
use anyhow::{Context, Result};
use grov_tests::{Daemon, Grov, Request, Response, eventually, exchange};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A provider file for one provider. `key` is the value of `api_key`.
pub fn providers(upstream: &Upstream, key: &str, more: &str) -> String {
    format!(
        "providers:\n  - name: house\n    endpoint: {}/v1\n    api_key: {key}\n{more}    models:\n      fast: small-model\n",
        upstream.url()
    )
}

/// Writes the provider file of a home.
pub fn write_providers(home: &Path, text: &str) -> Result<()> {
    fs::create_dir_all(home)?;
    fs::write(home.join("providers.yaml"), text)?;
    Ok(())
}

/// A request of a marked agent.
pub fn marked(number: usize, label: &str) -> Request {
    let id = session(number);
    let user = json!({"device_id": "0".repeat(64), "account_uuid": "", "session_id": id}).to_string();
    let body = json!({
        "model": "claude-opus-4-8", "max_tokens": 64000, "stream": true,
        "system": [{"type": "text", "text": format!("You help. <!-- @proxy-local-route:af83e9 model={label} -->")}],
        "tools": [{"name": "Read", "description": "Reads", "input_schema": {"type": "object"}}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Go on. [[scenario:say]]"}]}],
        "metadata": {"user_id": user},
    });
    Request::new("POST", "/v1/messages?beta=true")
        .header("Content-Type", "application/json")
        .header("X-Claude-Code-Session-Id", &id)
        .header("anthropic-version", "2023-06-01")
        .header("x-api-key", "sk-ant-api03-test-0000")
        .body(body.to_string())
}

/// A provider that says one text.
pub fn saying(text: &str) -> Result<Upstream> {
    Upstream::with(&json!({"scenarios": {"say": {"steps": [{"blocks": [{"type": "text", "text": text}]}]}}}))
}

fn page(daemon: &Daemon, name: &str) -> Result<Value> {
    let response = exchange(daemon.port(), &Request::new("GET", &format!("/_grov/{name}")))?;
    Ok(serde_json::from_slice(&response.body)?)
}

fn text(response: &Response) -> String {
    response.text()
}

#[test]
fn routed_turn_is_recorded_with_its_usage() -> Result<()> {
    let (anthropic, provider) = (saying("anthropic")?, saying("provider")?);
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    write_providers(&home, &providers(&provider, "provider-key", ""))?;
    let daemon = Daemon::on(&home, &anthropic.url()).start()?;
    let response = exchange(daemon.port(), &marked(1, "fast"))?;
    assert_eq!(response.status, 200);
    assert!(text(&response).contains("provider"), "{}", text(&response));
    assert_eq!(
        response.header("x-grov-route"),
        Some("fast; house/small-model; marker in the system prompt")
    );
    let recorded = eventually("the turn", || {
        let sessions = Grov::on(&home).sessions().ok()?;
        let session = sessions.into_iter().next()?;
        (session["tokens"]["output"].as_u64()? > 0).then_some(session)
    })?;
    assert_eq!(recorded["prompts"], 1, "{recorded}");
    assert!(recorded["tokens"]["input"].as_u64() > Some(10), "{recorded}");
    assert_eq!(anthropic.turns(), 0);
    let log = eventually("the log line", || {
        let log = daemon.log();
        log.contains("LOCAL_OK").then_some(log)
    })?;
    assert!(
        log.contains("LOCAL_ROUTE POST /v1/messages → model=fast (streaming) house/small-model"),
        "{log}"
    );
    assert!(log.contains("LOCAL_OK fast → house/small-model ("), "{log}");
    assert!(!log.contains("provider-key"), "{log}");
    let usage = eventually("the usage", || {
        let usage = Grov::on(&home).run_json(&["usage"]).ok()?.json;
        (usage["routed"]["labels"][0]["requests"] == 1).then_some(usage)
    })?;
    let row = &usage["routed"]["labels"][0];
    assert_eq!(
        (&row["label"], &row["model"]),
        (&"fast".into(), &"small-model".into())
    );
    Ok(())
}

#[test]
fn key_comes_from_the_env_file_of_the_home() -> Result<()> {
    let (anthropic, provider) = (saying("anthropic")?, saying("provider")?);
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    write_providers(&home, &providers(&provider, "${HOUSE_KEY}", ""))?;
    fs::write(home.join(".env"), "HOUSE_KEY=from-the-file\n")?;
    let daemon = Daemon::on(&home, &anthropic.url()).start()?;
    assert_eq!(exchange(daemon.port(), &marked(1, "fast"))?.status, 200);
    let request = provider.sim().requests().remove(0);
    assert_eq!(request.header("authorization"), Some("Bearer from-the-file"));
    Ok(())
}

#[test]
fn daemon_starts_with_a_broken_provider_file_and_uses_it_once_it_is_repaired() -> Result<()> {
    let (anthropic, provider) = (saying("anthropic")?, saying("provider")?);
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    write_providers(&home, "providers:\n  - nam: house\n")?;
    let daemon = Daemon::on(&home, &anthropic.url()).start()?;
    let health = page(&daemon, "health")?;
    let problem = &health["routes"]["problems"][0];
    assert_eq!(problem["line"], 2, "{health}");
    assert!(
        problem["hint"].as_str().context("no hint")?.contains("name"),
        "{health}"
    );
    assert_eq!(exchange(daemon.port(), &marked(1, "fast"))?.status, 400);
    assert_eq!(
        exchange(daemon.port(), &prompt(&session(2), "Hi. [[scenario:say]]"))?.status,
        200
    );

    write_providers(&home, &providers(&provider, "k", ""))?;
    eventually("the repaired file", || {
        let routes = page(&daemon, "routes").ok()?;
        (routes["routes"][0]["label"] == "fast").then_some(())
    })?;
    let response = exchange(daemon.port(), &marked(3, "fast"))?;
    assert!(text(&response).contains("provider"), "{}", text(&response));
    let routes = page(&daemon, "routes")?;
    let route = &routes["routes"][0];
    assert_eq!(
        (
            &route["provider"],
            &route["model"],
            &route["healthy"],
            &route["circuit"]
        ),
        (
            &json!("house"),
            &json!("small-model"),
            &json!(true),
            &json!("closed")
        )
    );
    assert_eq!(anthropic.turns(), 1);
    Ok(())
}

#[test]
fn provider_file_of_claude_hybrid_is_used_if_there_is_no_other() -> Result<()> {
    let provider = saying("provider")?;
    let folder = tempfile::tempdir()?;
    let hybrid = folder.path().join(".claude-hybrid");
    fs::create_dir_all(&hybrid)?;
    fs::write(hybrid.join("config.yaml"), providers(&provider, "k", ""))?;
    let daemon = Daemon::on(&folder.path().join("grov"), NOWHERE)
        .env("HOME", folder.path())
        .start()?;
    assert!(text(&exchange(daemon.port(), &marked(1, "fast"))?).contains("provider"));
    Ok(())
}
