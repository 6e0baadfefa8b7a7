//! The guard's question in a session that goes through the proxy: the user's consent counts for the proxy, too.

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

/// The guard's output for a call before it runs.
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

/// Plays a session in which the agent writes a forbidden file. `asked_in` is the client's permission mode if the guard asks
/// about the call. Returns whether a correction is in the request with the call's result.
fn is_corrected_after(asked_in: Option<&str>, is_allowed: bool) -> Result<bool> {
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
    let (id, directory) = (session(1), project.to_str().context("the path is not UTF-8")?);
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
        let log = grov.run_json(&["drift", "log", "--session", &id]).ok()?;
        log.json["events"]
            .as_array()
            .filter(|events| !events.is_empty())?;
        Some(())
    })?;
    if let Some(mode) = asked_in {
        let transcript = folder.path().join("s.jsonl");
        let line = json!({"type": "user", "sessionId": id, "message": {"role": "user", "content": PROMPT}});
        fs::write(&transcript, format!("{line}\n"))?;
        let output = guard(
            &daemon,
            &project,
            &json!({
                "session_id": id, "transcript_path": transcript, "cwd": project, "hook_event_name": "PreToolUse",
                "permission_mode": mode, "tool_name": "Write", "tool_input": input, "tool_use_id": call,
            }),
        )?;
        ensure!(output.contains("\"ask\""), "{output}");
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
    let is_injected = String::from_utf8_lossy(&newest.body).contains(OWN_TEXT_OPENING);
    if asked_in == Some("default") && is_allowed {
        // The drift log no longer contains it.
        eventually("the verdict is taken back", || {
            let log = grov.run_json(&["drift", "log", "--session", &id]).ok()?;
            log.json["events"].as_array().filter(|events| events.is_empty())?;
            Some(())
        })?;
    }
    daemon.stop()?;
    Ok(is_injected)
}

#[test]
fn consent_in_the_guards_dialog_counts_for_the_proxy() -> Result<()> {
    assert!(
        is_corrected_after(None, true)?,
        "an action without a question must be corrected"
    );
    assert!(!is_corrected_after(Some("default"), true)?, "the user said yes");
    assert!(
        !is_corrected_after(Some("default"), false)?,
        "the user said no, and nothing was changed"
    );
    Ok(())
}

#[test]
fn a_call_that_runs_because_permissions_are_bypassed_is_no_consent() -> Result<()> {
    // `claude --dangerously-skip-permissions` shows the guard's question to nobody.
    assert!(is_corrected_after(Some("bypassPermissions"), true)?);
    Ok(())
}
