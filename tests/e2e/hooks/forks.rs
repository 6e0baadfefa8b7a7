//! Forks of sessions that hooks follow: settings and consent carry over to the fork.

use super::hooked::{Hooked, says, writes};
use super::{DECISION, QUESTION, settings};
use anyhow::{Context, Result, ensure};
use grov_domain::OWN_TEXT_OPENING;
use grov_tests::{ClientRun, RealClient, Terminal};
use serde_json::{Value, json};
use std::fs;

const FORBIDDEN: &str = "src/db/pool.rs";
const BEFORE: &str = "fn pool() {}\n";
const GOAL: &str = "Fix the login in src/login.rs. Do not touch src/db/.";

fn scenarios() -> Value {
    let read = json!({"blocks": [{"type": "tool_use", "name": "Read", "input": {"file_path": format!("{{cwd}}/{FORBIDDEN}")}}]});
    json!({
        "login": {"steps": [writes("src/login.rs"), says("Done. The login is fixed.")]},
        "pool": {"steps": [read, writes(FORBIDDEN), says("All of it was tried.")]},
        "answer": {"steps": [says("By an outbox.")]},
    })
}

fn begin() -> Result<Option<Hooked>> {
    let hooked = Hooked::configured(&scenarios(), "", |client| client)?;
    if let Some(hooked) = &hooked {
        fs::create_dir_all(hooked.client.project().join("src/db"))?;
        fs::write(hooked.client.project().join(FORBIDDEN), BEFORE)?;
    }
    Ok(hooked)
}

fn forbidden(client: &RealClient) -> Result<String> {
    Ok(fs::read_to_string(client.project().join(FORBIDDEN))?)
}

/// Runs a prompt in a fork of a session and checks that the fork has a new id.
fn fork(hooked: &Hooked, from: &str, prompt: &str) -> Result<ClientRun> {
    let run = hooked.prompt(prompt, &["--resume", from, "--fork-session"])?;
    ensure!(run.session()? != from, "the session was not forked");
    Ok(run)
}

#[test]
fn a_fork_that_starts_under_the_old_session_id_is_recorded_under_its_own() -> Result<()> {
    let Some(hooked) = begin()? else {
        return Ok(());
    };
    // The input of each SessionStart hook, written to a file by a hook of this test.
    let mut all: Value = serde_json::from_str(&fs::read_to_string(settings(&hooked.client))?)?;
    let starts = hooked.client.home().join("starts.jsonl");
    let command = format!("tr -d '\\n' >> {0}; echo >> {0}", starts.display());
    let own = json!({"hooks": [{"type": "command", "command": command}]});
    all["hooks"]["SessionStart"]
        .as_array_mut()
        .context("no hooks")?
        .push(own);
    fs::write(settings(&hooked.client), all.to_string())?;

    let run = hooked.prompt(&format!("{GOAL} [[scenario:login]]"), &[])?;
    let old = run.session()?.to_owned();
    let before = hooked.wait_for_session("the session to end", &old, |known| known.ended_at.is_some())?;
    let new = fork(&hooked, &old, "What was fixed? [[scenario:answer]]")?;
    let new = new.session()?.to_owned();
    let starts = fs::read_to_string(starts)?;
    let starts: Vec<Value> = starts
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let started: Vec<_> = starts
        .iter()
        .map(|start| (&start["source"], &start["session_id"]))
        .collect();
    assert_eq!(
        started,
        [(&json!("startup"), &json!(old)), (&json!("resume"), &json!(old))]
    );

    hooked.wait_for_session("the fork to end", &new, |known| {
        known.prompts == 1 && known.actions == 0 && known.ended_at.is_some()
    })?;
    let after = hooked.wait_for_session("the session", &old, |_| true)?;
    assert_eq!(after, before, "nothing happened to it");
    hooked.assert_no_faults()
}

#[test]
fn a_memory_is_not_injected_again_into_a_fork() -> Result<()> {
    let Some(hooked) = begin()? else {
        return Ok(());
    };
    let ask = format!("{QUESTION} [[scenario:answer]]");
    let run = hooked.prompt(&ask, &[])?;
    let once = hooked.newest_request()?.matches(DECISION).count();
    assert!(once > 0);
    fork(&hooked, run.session()?, &ask)?;
    let again = hooked.newest_request()?;
    assert_eq!(
        again.matches(DECISION).count(),
        once,
        "the text in the history must not be repeated: {again}"
    );
    hooked.assert_no_faults()
}

#[test]
fn a_fork_of_a_session_with_grov_off_is_off() -> Result<()> {
    let Some(hooked) = begin()? else {
        return Ok(());
    };
    let run = hooked.prompt(&format!("{GOAL} [[scenario:login]]"), &[])?;
    let old = run.session()?;
    let before = hooked.newest_request()?.matches(OWN_TEXT_OPENING).count();
    hooked.grov.run_json(&["off", "--session", old])?;
    fork(&hooked, old, &format!("{QUESTION} [[scenario:answer]]"))?;
    let started = hooked.newest_request()?;
    assert_eq!(started.matches(OWN_TEXT_OPENING).count(), before, "{started}");
    hooked.assert_no_faults()
}

#[test]
fn an_action_allowed_in_a_session_is_allowed_in_its_fork() -> Result<()> {
    let Some(hooked) = begin()? else {
        return Ok(());
    };
    let run = hooked.prompt(&format!("{GOAL} [[scenario:login]]"), &[])?;
    let old = run.session()?;
    let stopped = fork(&hooked, old, "Go on. [[scenario:pool]]")?;
    assert_eq!(forbidden(&hooked.client)?, BEFORE, "{:?}", stopped.events);
    hooked
        .grov
        .run_json(&["goal", "allow", "src/db", "--session", old])?;
    fork(&hooked, old, "Go on. [[scenario:pool]]")?;
    assert_ne!(forbidden(&hooked.client)?, BEFORE);
    hooked.assert_no_faults()
}

#[test]
fn consent_given_to_the_guard_applies_in_a_fork() -> Result<()> {
    let Some(hooked) = begin()? else {
        return Ok(());
    };
    let mut terminal = Terminal::open(&hooked.client, &hooked.upstream.url())?;
    terminal.enter(&format!("{GOAL} [[scenario:pool]]"))?;
    terminal.wait_for_text("Do you want to")?;
    terminal.confirm()?;
    terminal.wait_for_text("All of it was tried.")?;
    terminal.leave()?;
    assert_ne!(forbidden(&hooked.client)?, BEFORE);
    let old = hooked.session_when(1)?;
    fs::write(hooked.client.project().join(FORBIDDEN), BEFORE)?;
    fork(&hooked, &old, "Go on. [[scenario:pool]]")?;
    assert_ne!(forbidden(&hooked.client)?, BEFORE);
    hooked.assert_no_faults()
}
