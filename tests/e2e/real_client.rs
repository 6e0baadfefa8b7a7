//! The real Claude Code works through the real proxy against the simulated API: it must not notice the proxy, and Grov
//! must record exactly what it did, action for action.

mod clearing;
mod drift;
mod memory;
mod tasks;
mod tools;

use crate::upstream::{NOWHERE, Upstream};
use crate::work::{Work, essence, expected};
use anyhow::{Context, Result};
use grov_tests::{Daemon, Grov, Headers, Message, RealClient, WireTap, eventually, tool_uses};
use serde_json::{Value, json};
use std::fs;
use std::process::{Command, Stdio};

#[test]
fn every_tool_call_runs_and_is_recorded() -> Result<()> {
    let Some(work) = Work::begin()? else { return Ok(()) };
    let run = work.prompt("Add a greeting. [[scenario:tools]]", &[])?;
    assert_eq!(run.result()?, "The greeting is written, changed and counted.");
    assert_eq!(work.file("greeting.txt")?, "hello\ngrov\n");
    let calls = work.agree(run.session()?)?;
    let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["Write", "Read", "Edit", "Bash"]);

    let session = work.session(run.session()?)?;
    assert_eq!((&session["prompts"], &session["steps"]), (&json!(1), &json!(4)));
    assert_eq!(run.retries(), 0);
    Ok(())
}

#[test]
fn models_with_the_older_dialect_are_recorded() -> Result<()> {
    let Some(work) = Work::begin()? else { return Ok(()) };
    let run = work.prompt(
        "Add a greeting. [[scenario:tools]]",
        &["--model", "claude-sonnet-4-5"],
    )?;
    assert_eq!(run.result()?, "The greeting is written, changed and counted.");
    assert_eq!(work.agree(run.session()?)?.len(), 4);
    assert_eq!(work.session(run.session()?)?["prompts"], 1);
    Ok(())
}

#[test]
fn parallel_tool_calls_are_recorded_in_order() -> Result<()> {
    let Some(work) = Work::begin()? else { return Ok(()) };
    let run = work.prompt(
        "Write left.txt and right.txt, and say something beside. [[scenario:parallel]]",
        &[],
    )?;
    run.result()?;
    assert_eq!(
        (work.file("left.txt")?, work.file("right.txt")?),
        ("left\n".to_owned(), "right\n".to_owned())
    );
    assert_eq!(work.agree(run.session()?)?.len(), 5);
    Ok(())
}

#[test]
fn thinking_blocks_do_not_disturb_recording() -> Result<()> {
    let Some(work) = Work::begin()? else { return Ok(()) };
    let run = work.prompt("Write a note. [[scenario:thinking]]", &[])?;
    assert_eq!(run.result()?, "The note says what it should.");
    assert_eq!(work.agree(run.session()?)?.len(), 2);
    Ok(())
}

#[test]
fn steps_of_a_subagent_carry_its_id() -> Result<()> {
    let Some(work) = Work::begin()? else { return Ok(()) };
    let run = work.prompt("Count, with help. [[scenario:subagent]]", &[])?;
    assert_eq!(run.result()?, "There are three lines.");
    let calls = work.agree(run.session()?)?;
    let of_agents = calls.iter().filter(|call| call.agent.is_some()).count();
    assert_eq!((calls.len(), of_agents), (4, 2));
    // A task given to a subagent is not a user prompt.
    assert_eq!(work.session(run.session()?)?["prompts"], 1);
    Ok(())
}

#[test]
fn seventy_requests_of_one_prompt_are_recorded_as_one_prompt() -> Result<()> {
    let Some(work) = Work::begin()? else { return Ok(()) };
    let run = work.prompt("All parts. [[scenario:long]]", &[])?;
    assert_eq!(run.result()?, "All parts are written.");
    // The last of the 70 answers calls no tool.
    assert_eq!(work.agree(run.session()?)?.len(), 69);
    let session = work.session(run.session()?)?;
    assert_eq!((&session["prompts"], &session["steps"]), (&json!(1), &json!(69)));
    assert_eq!(work.grov().sessions()?.len(), 1);
    Ok(())
}

#[test]
fn a_continued_session_is_recorded_as_one_session() -> Result<()> {
    let Some(work) = Work::begin()? else { return Ok(()) };
    let first = work.prompt("Add a greeting. [[scenario:tools]]", &[])?;
    first.result()?;
    let second = work.prompt("Write a note. [[scenario:thinking]]", &["--continue"])?;
    second.result()?;
    assert_eq!(first.session()?, second.session()?);
    assert_eq!(work.agree(first.session()?)?.len(), 6);
    let session = work.session(first.session()?)?;
    assert_eq!((&session["prompts"], &session["steps"]), (&json!(2), &json!(6)));
    Ok(())
}

#[test]
fn recorded_token_counts_equal_the_clients() -> Result<()> {
    let Some(work) = Work::begin()? else { return Ok(()) };
    let run = work.prompt("Add a greeting. [[scenario:tools]]", &[])?;
    run.result()?;
    work.agree(run.session()?)?;
    let session = eventually("the last exchange to be counted", || {
        let session = work.session(run.session().ok()?).ok()?;
        let usage = &run.events.last()?["usage"];
        (session["tokens"]["output"] == usage["output_tokens"]).then_some(session)
    })?;
    let usage = &run.events.last().context("no events")?["usage"];
    for (ours, theirs) in [
        ("input", "input_tokens"),
        ("cache_read", "cache_read_input_tokens"),
        ("cache_creation", "cache_creation_input_tokens"),
        ("output", "output_tokens"),
    ] {
        assert_eq!(session["tokens"][ours], usage[theirs], "{ours}");
    }
    Ok(())
}

#[test]
fn status_shows_the_project_of_a_session() -> Result<()> {
    let Some(work) = Work::begin()? else { return Ok(()) };
    let git = Command::new("git")
        .args(["init", "--quiet"])
        .current_dir(work.client.project())
        .status()?;
    assert!(git.success());
    let run = work.prompt("Add a greeting. [[scenario:tools]]", &[])?;
    run.result()?;
    work.agree(run.session()?)?;
    let project = fs::canonicalize(work.client.project())?;
    let project = project.to_str().context("the path is not UTF-8")?;
    eventually("the project to be known", || {
        (work.session(run.session().ok()?).ok()?["project_path"] == project).then_some(())
    })?;
    assert_eq!(work.grov().run_json(&["status"])?.json["project_path"], project);
    Ok(())
}

#[test]
fn a_retried_request_is_recorded_as_one_prompt() -> Result<()> {
    let Some(work) = Work::begin()? else { return Ok(()) };
    let run = work.prompt(
        "Add a greeting. [[scenario:tools]] [[sim:status=529,times=2]]",
        &[],
    )?;
    assert_eq!(run.result()?, "The greeting is written, changed and counted.");
    assert_eq!(run.retries(), 2);
    assert_eq!(work.agree(run.session()?)?.len(), 4);
    assert_eq!(work.session(run.session()?)?["prompts"], 1);
    Ok(())
}

#[test]
fn a_stream_cut_before_its_first_block_is_retried_and_counted_once() -> Result<()> {
    let Some(work) = Work::begin()? else { return Ok(()) };
    let run = work.prompt(
        "Add a greeting. [[scenario:tools]] [[sim:cut-events=2,times=1]]",
        &[],
    )?;
    assert_eq!(run.result()?, "The greeting is written, changed and counted.");
    assert_eq!(work.agree(run.session()?)?.len(), 4);
    assert_eq!(work.session(run.session()?)?["prompts"], 1);
    Ok(())
}

#[test]
fn every_content_encoding_is_decoded() -> Result<()> {
    for coding in ["gzip", "deflate", "br", "zstd"] {
        let Some(work) = Work::begin()? else { return Ok(()) };
        let run = work.prompt(
            &format!("Add a greeting. [[scenario:tools]] [[sim:encoding={coding}]]"),
            &[],
        )?;
        assert_eq!(
            run.result()?,
            "The greeting is written, changed and counted.",
            "{coding}"
        );
        assert_eq!(work.agree(run.session()?)?.len(), 4, "{coding}");
    }
    Ok(())
}

/// A message without its bodies, for readable failures.
fn head(message: &Message) -> (&str, &Headers, usize, u16, &Headers, usize) {
    let Message {
        line,
        headers,
        body,
        status,
        answer_headers,
        answer,
    } = message;
    (line, headers, body.len(), *status, answer_headers, answer.len())
}

#[test]
fn the_proxy_forwards_requests_and_responses_byte_for_byte() -> Result<()> {
    let Some(client) = RealClient::installed()? else {
        return Ok(());
    };
    let upstream = Upstream::start()?;
    let after = WireTap::before(upstream.port())?;
    let daemon = Daemon::on(&client.home().join(".grov"), &after.url())
        // The first session's work would be injected into the second.
        .env("GROV_MEMORY_ENABLED", "false")
        .start()?;
    let before = WireTap::before(daemon.port())?;
    for prompt in [
        "Add a greeting. [[scenario:tools]]",
        "Add a greeting. [[scenario:subagent]] [[sim:encoding=gzip]]",
    ] {
        client.prompt(&before.url(), prompt, &[])?.result()?;
    }
    let (mut sent, mut arrived) = (before.messages()?, after.messages()?);
    assert!(sent.len() > 8, "{} requests", sent.len());
    for message in sent.iter_mut().chain(&mut arrived) {
        // Headers that belong to a connection and not to the request.
        let own = |name: &str| {
            [
                "host",
                "connection",
                "keep-alive",
                "transfer-encoding",
                "content-length",
            ]
            .contains(&name)
        };
        message.headers.retain(|(name, _)| !own(name));
        message.answer_headers.retain(|(name, _)| !own(name));
    }
    // The order of headers matters only among those with the same name.
    for message in sent.iter_mut().chain(&mut arrived) {
        message.headers.sort_by(|a, b| a.0.cmp(&b.0));
        message.answer_headers.sort_by(|a, b| a.0.cmp(&b.0));
    }
    // Client and proxy may distribute requests over connections differently.
    for message in &sent {
        let at = arrived.iter().position(|other| other == message);
        let at = at.with_context(|| {
            let like: Vec<_> = arrived
                .iter()
                .filter(|other| other.line == message.line)
                .map(head)
                .collect();
            format!(
                "{:#?}\ndid not cross unchanged; there are {like:#?}",
                head(message)
            )
        })?;
        arrived.remove(at);
    }
    assert!(
        arrived.is_empty(),
        "the API saw requests that the client never sent: {arrived:?}"
    );
    Ok(())
}

/// Starts the client on a prompt, waits for the moment that `crash` chooses, kills the daemon, starts another one in
/// its place, and waits for the client to end.
fn crash_and_return(work: Work, prompt: &str, crash: impl Fn(&Work) -> Option<()>) -> Result<(Work, String)> {
    let mut command = work.client.command(&work.daemon.url(), prompt, &[]);
    let mut running = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    eventually("the moment of the crash", || crash(&work))?;
    let Work {
        client,
        upstream,
        daemon,
        home,
    } = work;
    let port = daemon.port();
    daemon.kill()?;
    let daemon = Daemon::on(&home, &upstream.url()).port(port).start()?;
    assert!(running.wait()?.success(), "the client gave up: {}", daemon.log());
    let work = Work {
        client,
        upstream,
        daemon,
        home,
    };
    let sessions = work.grov().sessions()?;
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    let session = sessions[0]["client_session_id"]
        .as_str()
        .context("no session")?
        .to_owned();
    Ok((work, session))
}

#[test]
fn a_crash_between_two_requests_loses_no_step_and_causes_no_retry() -> Result<()> {
    // While the tool of the third step runs, no request is in flight, and all earlier answers are complete.
    let script = json!({"scenarios": {"crash": {"steps": [
        {"repeat": 2, "blocks": [{"type": "tool_use", "name": "Bash", "input": {"command": "echo {step}"}}]},
        {"blocks": [{"type": "tool_use", "name": "Bash", "input": {"command": "sleep 2; echo slept"}}]},
        {"repeat": 2, "blocks": [{"type": "tool_use", "name": "Bash", "input": {"command": "echo {step}"}}]},
        {"blocks": [{"type": "text", "text": "Done."}]},
    ]}}});
    let Some(work) = Work::with(&script)? else {
        return Ok(());
    };
    let (work, session) = crash_and_return(work, "Work. [[scenario:crash]]", |work| {
        let sessions = work.grov().sessions().ok()?;
        (sessions.first()?["steps"] == 3).then_some(())
    })?;
    assert_eq!(work.agree(&session)?.len(), 5);
    let session = work.session(&session)?;
    assert_eq!((&session["prompts"], &session["steps"]), (&json!(1), &json!(5)));
    Ok(())
}

#[test]
fn a_crash_during_a_stream_loses_no_step_and_makes_the_client_retry() -> Result<()> {
    let script = json!({"scenarios": {"crash": {"steps": [
        {"repeat": 2, "blocks": [{"type": "tool_use", "name": "Bash", "input": {"command": "echo {step}"}}]},
        {"blocks": [{"type": "text", "text": "Done."}]},
    ]}}});
    let Some(work) = Work::with(&script)? else {
        return Ok(());
    };
    // The first step is stored and the second request hangs.
    let (work, session) = crash_and_return(
        work,
        "Work. [[scenario:crash]] [[sim:stall-events=2,step=2,times=1]]",
        |work| {
            let sessions = work.grov().sessions().ok()?;
            (sessions.first()?["steps"] == 1 && work.upstream.turns() == 2).then_some(())
        },
    )?;
    assert_eq!(work.agree(&session)?.len(), 2);
    let session = work.session(&session)?;
    assert_eq!((&session["prompts"], &session["steps"]), (&json!(1), &json!(2)));
    Ok(())
}

#[test]
fn steps_recorded_before_the_proxy_stopped_remain() -> Result<()> {
    let Some(mut work) = Work::begin()? else {
        return Ok(());
    };
    work.client = work.client.env("CLAUDE_CODE_MAX_RETRIES", "1");
    let mut command = work
        .client
        .command(&work.daemon.url(), "All parts. [[scenario:long]]", &[]);
    let mut running = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let Work {
        client,
        upstream: _upstream,
        daemon,
        home,
    } = work;
    let grov = Grov::on(&home);
    eventually("some steps", || {
        grov.sessions()
            .ok()?
            .first()
            .filter(|session| session["steps"].as_u64() >= Some(5))
            .map(|_| ())
    })?;
    assert_eq!(daemon.stop()?.code(), Some(0));
    assert!(!running.wait()?.success(), "the client cannot have finished");
    let calls = tool_uses(&client.home())?;
    // Recorded in the database, or in the spool if the database was slow.
    let _again = Daemon::on(&home, NOWHERE).start()?;
    let steps = grov.wait_for_steps(&calls[0].session, calls.len())?;
    let done: Vec<Value> = calls.iter().map(expected).collect();
    assert_eq!(steps.iter().map(essence).collect::<Vec<_>>(), done);
    Ok(())
}
