//! A question of the guard in a session that goes through the proxy: whether the user let the action run counts there as well.

use crate::turn::{request_in, session};
use crate::upstream::Upstream;
use anyhow::{Context, Result, ensure};
use grov_domain::OWN_TEXT_OPENING;
use grov_tests::{Daemon, Grov, binary, eventually, exchange};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const PROMPT: &str = "Fix the login in src/login.rs. Do not touch src/db/. [[scenario:work]]";

/// What the guard says of a call before it runs.
fn guard(daemon: &Daemon, project: &Path, input: &Value) -> Result<String> {
    let mut child = Command::new(binary("grov")?)
        .args(["hook", "PreToolUse"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GROV_HOME", daemon.home())
        .env("ANTHROPIC_BASE_URL", daemon.url())
        .current_dir(project)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().context("no standard input")?;
    stdin.write_all(input.to_string().as_bytes())?;
    drop(stdin);
    Ok(String::from_utf8(child.wait_with_output()?.stdout)?)
}

/// Plays a session in which the agent writes where it must not. What the request with the call's result says to the agent.
fn told_after(is_asked: bool, is_allowed: bool) -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let project = folder.path().join("project");
    fs::create_dir_all(project.join(".git"))?;
    fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    let file = project.join("src/db/pool.rs");
    let input = json!({"file_path": file, "content": "fn pool() {}"});
    let block = json!({"type": "tool_use", "name": "Write", "input": input});
    let last = json!({"type": "text", "text": "Done."});
    let script = json!({"scenarios": {"work": {"steps": [{"blocks": [block]}, {"blocks": [last]}]}}});
    let upstream = Upstream::with(&script)?;
    let daemon = Daemon::on(&folder.path().join("home"), &upstream.url()).start()?;
    let (id, directory) = (session(1), project.to_str().context("an odd folder")?);
    let typed = json!({"role": "user", "content": [{"type": "text", "text": PROMPT}]});
    let answer = exchange(
        daemon.port(),
        &request_in(directory, &id, std::slice::from_ref(&typed)),
    )?
    .text();
    let call = answer
        .split("\"id\":\"toolu_")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let call = format!("toolu_{}", call.with_context(|| answer.clone())?);
    let grov = Grov::on(daemon.home()).within(&project);
    eventually("what was done is judged", || {
        let log = grov.ask(&["drift", "log", "--session", &id]).ok()?;
        log.json["events"]
            .as_array()
            .filter(|events| !events.is_empty())?;
        Some(())
    })?;
    if is_asked {
        let transcript = folder.path().join("s.jsonl");
        let line = json!({"type": "user", "sessionId": id, "message": {"role": "user", "content": PROMPT}});
        fs::write(&transcript, format!("{line}\n"))?;
        let said = guard(
            &daemon,
            &project,
            &json!({
                "session_id": id, "transcript_path": transcript, "cwd": project, "hook_event_name": "PreToolUse",
                "permission_mode": "default", "tool_name": "Write", "tool_input": input, "tool_use_id": call,
            }),
        )?;
        ensure!(said.contains("\"ask\""), "{said}");
    }
    let used = json!({"type": "tool_use", "id": call, "name": "Write", "input": input});
    let result = json!({"type": "tool_result", "tool_use_id": call, "content": "x", "is_error": !is_allowed});
    let messages = [
        typed,
        json!({"role": "assistant", "content": [used]}),
        json!({"role": "user", "content": [result]}),
    ];
    exchange(daemon.port(), &request_in(directory, &id, &messages))?;
    let arrived = upstream.sim().messages();
    let newest = arrived.last().context("nothing arrived")?;
    let is_told = String::from_utf8_lossy(&newest.body).contains(OWN_TEXT_OPENING);
    if is_asked && is_allowed {
        // It is no drift in the log any more.
        eventually("the verdict is taken back", || {
            let log = grov.ask(&["drift", "log", "--session", &id]).ok()?;
            log.json["events"].as_array().filter(|events| events.is_empty())?;
            Some(())
        })?;
    }
    daemon.stop()?;
    Ok(is_told)
}

#[test]
fn a_yes_in_the_guards_dialog_is_consent_for_the_proxy_too() -> Result<()> {
    assert!(
        told_after(false, true)?,
        "what nobody was asked about is corrected"
    );
    assert!(!told_after(true, true)?, "the user said yes");
    assert!(
        !told_after(true, false)?,
        "the user said no, and nothing was changed"
    );
    Ok(())
}
