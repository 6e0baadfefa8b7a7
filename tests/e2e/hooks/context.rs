//! The context window with the real client: measured, and what a compaction lost comes back once on every path.

use super::hooked::{Hooked, says, writes};
use super::{init, prepare};
use crate::work::Work;
use anyhow::{Context, Result};
use grov_domain::OWN_TEXT_OPENING;
use grov_tests::{Grov, Terminal, eventually};
use serde_json::{Value, json};
use std::fs;

/// Clears the input line: a command may still be in it while the client runs it.
const EMPTY: &str = "\u{15}";
const GOAL: &str = "Add a greeting to hello.txt. Do not touch main.rs.";
const RESTORED: &str = "The history of this session was compacted";

/// The model's scenarios: its summary loses the constraint and what is left.
fn scenarios() -> Value {
    json!({
        "greet": {
            "steps": [
                writes("hello.txt"),
                says("The greeting is in hello.txt. The farewell is still missing."),
            ],
            "summary": "The user wants a greeting in hello.txt. hello.txt was written.",
        },
        "answer": {"steps": [says("It is there.")]},
    })
}

/// Works, compacts and goes on. Returns the body of the last request of the conversation.
fn compacts(terminal: &mut Terminal, newest: impl Fn() -> Result<String>) -> Result<String> {
    terminal.enter(&format!("{GOAL} [[scenario:greet]]"))?;
    terminal.wait_for_text("farewell is still missing")?;
    terminal.enter("/compact")?;
    terminal.wait_for_text("ompacted")?;
    terminal.enter(&format!("{EMPTY}Is it there? [[scenario:answer]]"))?;
    terminal.wait_for_text("It is there.")?;
    newest()
}

/// The audit of the newest session, once it says that something was restored.
fn audit(grov: &Grov) -> Result<Value> {
    let newest = || {
        grov.run_json(&["context", "audit"])
            .ok()
            .map(|answer| answer.json)
    };
    eventually("the audit of a compaction", || {
        newest().filter(|audit| audit["restored_at"].is_string())
    })
    .with_context(|| format!("the audit is {:#?}", newest()))
}

fn texts(points: &Value) -> String {
    points
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|point| point["text"].as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Asserts that the summary kept the goal and lost the constraint and the open end, which came back.
fn assert_audited(audit: &Value) {
    assert_eq!(audit["compared"], true, "{audit:#}");
    assert!(
        texts(&audit["kept"]).contains("greeting to hello.txt"),
        "{audit:#}"
    );
    for list in ["lost", "restored"] {
        let lost = texts(&audit[list]);
        assert!(
            lost.contains("main.rs") && lost.contains("farewell"),
            "{list}: {audit:#}"
        );
    }
}

#[test]
fn the_proxy_alone_gives_back_what_a_compaction_lost() -> Result<()> {
    let Some(work) = Work::with(&json!({"scenarios": scenarios()}))? else {
        return Ok(());
    };
    let mut terminal = Terminal::open(&work.client, &work.daemon.url())?;
    let newest = || {
        let messages = work.upstream.sim().messages();
        let last = messages.last().context("no request")?;
        Ok(String::from_utf8(last.body.to_vec())?)
    };
    compacts(&mut terminal, newest)?;
    terminal.enter(&format!("{EMPTY}Really? [[scenario:answer]]"))?;
    eventually("the next request", || {
        newest().ok().filter(|body| body.contains("Really?"))
    })?;
    // On a busy machine the text may miss the first request; then it is in the second one.
    let later = newest()?;
    assert_eq!(later.matches(RESTORED).count(), 1, "{later}");
    assert!(later.contains("main.rs") && later.contains("farewell"), "{later}");
    terminal.leave()?;

    let grov = work.grov();
    assert_audited(&audit(&grov)?);
    let status = grov.run_json(&["context", "status"])?.json;
    assert_eq!(
        (&status["path"], &status["window"]),
        (&json!("proxy"), &json!(1_000_000)),
        "{status:#}"
    );
    assert!(status["tokens"].as_u64() > Some(1_000), "{status:#}");
    assert!(status["by_tool"][0]["tokens"].is_u64(), "{status:#}");
    let summary = grov.run_json(&["context", "summary"])?.json;
    assert!(
        summary["text"]
            .as_str()
            .is_some_and(|text| text.contains("main.rs")),
        "{summary:#}"
    );
    Ok(())
}

#[test]
fn with_hooks_and_proxy_the_loss_comes_back_once() -> Result<()> {
    let Some(work) = Work::with(&json!({"scenarios": scenarios()}))? else {
        return Ok(());
    };
    let grov = prepare(&work.client, "{}")?;
    init(&grov, &[])?;
    let mut terminal = Terminal::open(&work.client, &work.daemon.url())?;
    let newest = || {
        let messages = work.upstream.sim().messages();
        let last = messages.last().context("no request")?;
        Ok(String::from_utf8(last.body.to_vec())?)
    };
    let body = compacts(&mut terminal, newest)?;
    terminal.leave()?;
    assert_eq!(body.matches(RESTORED).count(), 1, "{body}");
    assert_audited(&audit(&grov)?);
    let faults = fs::read_to_string(work.home.join("logs/hooks.log")).unwrap_or_default();
    assert_eq!(faults, "");
    Ok(())
}

#[test]
fn hooks_alone_give_everything_back_and_the_audit_compares_later() -> Result<()> {
    let Some(hooked) = Hooked::playing(&scenarios())? else {
        return Ok(());
    };
    let mut terminal = Terminal::open(&hooked.client, &hooked.upstream.url())?;
    let body = compacts(&mut terminal, || hooked.newest_request())?;
    terminal.leave()?;
    assert_eq!(
        body.matches(OWN_TEXT_OPENING).count() - body.matches("team-memory").count(),
        1,
        "{body}"
    );
    assert!(body.contains(RESTORED) && body.contains("farewell"), "{body}");
    assert_audited(&audit(&hooked.grov)?);
    let status = hooked.grov.run_json(&["context", "status"])?.json;
    assert_eq!(status["path"], "hooks", "{status:#}");
    assert!(status["tokens"].as_u64() > Some(0), "{status:#}");
    hooked.assert_no_faults()
}
