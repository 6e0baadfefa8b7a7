//! Hooks and proxy in one session: every action is recorded once.

use super::hooked::{says, writes};
use super::{init, prepare};
use crate::upstream::Upstream;
use crate::work::Work;
use anyhow::{Context, Result};
use grov_tests::{Grov, eventually};
use serde_json::{Value, json};
use std::fs;

const GOAL: &str = "Add a greeting to hello.txt.";

/// A client with hooks whose requests also go through a proxy.
fn begin() -> Result<Option<(Work, Grov)>> {
    let script = json!({"scenarios": {
        "greet": {"steps": [writes("hello.txt"), says("Done. The greeting is in hello.txt. Task complete.")]},
        "more": {"steps": [writes("more.txt"), says("Done. more.txt is written. Task complete.")]},
    }});
    let Some(work) = Work::with(&script)? else {
        return Ok(None);
    };
    let grov = prepare(&work.client, "{}")?;
    init(&grov, &[])?;
    Ok(Some((work, grov)))
}

fn wait_for_memories(grov: &Grov, what: &str, wanted: impl Fn(&[Value]) -> bool) -> Result<Vec<Value>> {
    let memories = || -> Option<Vec<Value>> {
        let answer = grov.run_json(&["memory", "list"]).ok()?;
        let mut memories = answer.json["memories"].as_array()?.clone();
        memories.retain(|memory| memory["id"] != "task-webhooks");
        Some(memories)
    };
    eventually(what, || memories().filter(|memories| wanted(memories)))
        .with_context(|| format!("the memories are {:#?}", memories()))
}

fn files(memory: &Value) -> &Value {
    &memory["files_touched"]
}

#[test]
fn a_session_with_hooks_and_proxy_is_recorded_once() -> Result<()> {
    let Some((work, grov)) = begin()? else {
        return Ok(());
    };
    let run = work.prompt(&format!("{GOAL} [[scenario:greet]]"), &[])?;
    run.result()?;
    let session = run.session()?.to_owned();
    assert_eq!(work.agree(&session)?.len(), 1);
    let memories = wait_for_memories(&grov, "the work to be kept", |memories| !memories.is_empty())?;
    assert_eq!(memories.len(), 1, "{memories:#?}");
    work.prompt("Also write more.txt. [[scenario:more]]", &["--continue"])?
        .result()?;
    assert_eq!(work.agree(&session)?.len(), 2);
    let has_both = |memories: &[Value]| {
        let all: String = memories.iter().map(|memory| files(memory).to_string()).collect();
        all.contains("hello.txt") && all.contains("more.txt")
    };
    let memories = wait_for_memories(&grov, "the second turn to be kept", has_both)?;
    for file in ["hello.txt", "more.txt"] {
        let of_file = memories
            .iter()
            .filter(|memory| files(memory).to_string().contains(file));
        assert_eq!(of_file.count(), 1, "{file}: {memories:#?}");
    }
    let status = grov.run_json(&["status"])?.json;
    assert_eq!(status["steps"], 2, "{status:#}");
    let faults = fs::read_to_string(work.home.join("logs/hooks.log")).unwrap_or_default();
    assert_eq!(faults, "");
    Ok(())
}

#[test]
fn a_session_that_switches_to_the_proxy_keeps_hook_records_without_duplicates() -> Result<()> {
    let Some((work, grov)) = begin()? else {
        return Ok(());
    };
    let direct = work.upstream.url();
    let run = work
        .client
        .prompt(&direct, &format!("{GOAL} [[scenario:greet]]"), &[])?;
    run.result()?;
    let session = run.session()?.to_owned();
    wait_for_memories(&grov, "the first turn to be kept", |memories| memories.len() == 1)?;
    work.prompt("Also write more.txt. [[scenario:more]]", &["--continue"])?
        .result()?;
    let has_both = |memories: &[Value]| {
        let all: String = memories.iter().map(|memory| files(memory).to_string()).collect();
        all.contains("hello.txt") && all.contains("more.txt")
    };
    let memories = wait_for_memories(&grov, "both turns to be kept", has_both)?;
    for file in ["hello.txt", "more.txt"] {
        let of_file = memories
            .iter()
            .filter(|memory| files(memory).to_string().contains(file));
        assert_eq!(of_file.count(), 1, "{file}: {memories:#?}");
    }
    assert_eq!(grov.wait_for_steps(&session, 2)?.len(), 2);
    Ok(())
}

#[test]
fn a_session_that_leaves_the_proxy_continues_with_hooks_without_duplicates() -> Result<()> {
    let Some((work, grov)) = begin()? else {
        return Ok(());
    };
    let run = work.prompt(&format!("{GOAL} [[scenario:greet]]"), &[])?;
    run.result()?;
    let session = run.session()?.to_owned();
    wait_for_memories(&grov, "the first turn to be kept", |memories| memories.len() == 1)?;
    let direct: &Upstream = &work.upstream;
    let more = "Also write more.txt. [[scenario:more]]";
    work.client
        .prompt(&direct.url(), more, &["--continue"])?
        .result()?;
    let has_both = |memories: &[Value]| {
        let all: String = memories.iter().map(|memory| files(memory).to_string()).collect();
        all.contains("hello.txt") && all.contains("more.txt")
    };
    let memories = wait_for_memories(&grov, "both turns to be kept", has_both)?;
    for file in ["hello.txt", "more.txt"] {
        let of_file = memories
            .iter()
            .filter(|memory| files(memory).to_string().contains(file));
        assert_eq!(of_file.count(), 1, "{file}: {memories:#?}");
    }
    assert_eq!(grov.wait_for_steps(&session, 2)?.len(), 2);
    Ok(())
}
