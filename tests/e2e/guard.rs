//! The guard with the real client: forbidden actions are stopped before they run, and all others are not affected.

mod real_client;

use crate::upstream::Upstream;
use crate::work::Work;
use anyhow::{Context, Result, ensure};
use grov_tests::{ClientRun, Grov, RealClient, Terminal};
use serde_json::{Value, json};
use std::fs;

const FORBIDDEN: &str = "src/db/pool.rs";
const BEFORE: &str = "fn pool() {}\n";
const PROMPT: &str = "Fix the login in src/login.rs. Do not touch src/db/.";
/// The beginning of the guard's message.
const SAYS: &str = "Grov: ";

fn call(name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "name": name, "input": input})
}

fn bash(command: &str) -> Value {
    call("Bash", json!({"command": command, "description": "go on"}))
}

fn write(file: &str, content: &str) -> Value {
    call(
        "Write",
        json!({"file_path": format!("{{cwd}}/{file}"), "content": content}),
    )
}

fn read(file: &str) -> Value {
    call("Read", json!({"file_path": format!("{{cwd}}/{file}")}))
}

/// One call per step, and a final answer.
fn script(calls: &[Value]) -> Value {
    let last = json!({"type": "text", "text": "All of it was tried."});
    let steps: Vec<Value> = calls
        .iter()
        .chain([&last])
        .map(|block| json!({"blocks": [block]}))
        .collect();
    json!({"scenarios": {"work": {"steps": steps}}})
}

/// A file that must not change, and hooks in the client's settings.
fn prepare(client: &RealClient) -> Result<Grov> {
    fs::create_dir_all(client.project().join("src/db"))?;
    fs::write(client.project().join(FORBIDDEN), BEFORE)?;
    let grov = Grov::on(&client.home().join(".grov")).within(&client.project());
    let ended = grov.run(&["init"])?;
    ensure!(ended.code() == Some(0), "{ended:?}");
    Ok(grov)
}

fn forbidden(client: &RealClient) -> Option<String> {
    fs::read_to_string(client.project().join(FORBIDDEN)).ok()
}

/// The result of each call, in order: whether it failed, and its text.
fn results(run: &ClientRun) -> Vec<(bool, String)> {
    let blocks = run
        .events
        .iter()
        .filter(|event| event["type"] == "user")
        .filter_map(|event| event["message"]["content"].as_array())
        .flatten();
    blocks
        .filter(|block| block["type"] == "tool_result")
        .map(|block| {
            let text = block["content"].as_str().map(str::to_owned);
            let text = text.unwrap_or_else(|| block["content"].to_string());
            (block["is_error"] == true, text)
        })
        .collect()
}

/// The results that contain the guard's message.
fn stopped(run: &ClientRun) -> Vec<usize> {
    let results = results(run);
    let says = |(_, text): &(bool, String)| text.starts_with(SAYS);
    (0..results.len()).filter(|&at| says(&results[at])).collect()
}

#[test]
fn a_forbidden_action_is_stopped_until_the_user_allows_it() -> Result<()> {
    let Some(client) = RealClient::installed()? else {
        return Ok(());
    };
    let upstream = Upstream::with(&script(&[
        read(FORBIDDEN),
        bash(&format!("cat {FORBIDDEN} | grep -c pool")),
        bash("npm test || true"),
        write(FORBIDDEN, "changed"),
        bash(&format!("rm {FORBIDDEN}")),
        bash(&format!("grov goal allow {FORBIDDEN}")),
        write("src/login.rs", "fn login() {}"),
    ]))?;
    let grov = prepare(&client)?;
    for mode in [&[][..], &["--permission-mode", "acceptEdits"]] {
        let run = client.prompt(&upstream.url(), &format!("{PROMPT} [[scenario:work]]"), mode)?;
        run.result()?;
        assert_eq!(forbidden(&client).as_deref(), Some(BEFORE));
        assert_eq!(stopped(&run), [3, 4, 5], "{:?}", results(&run));
        let (is_error, reason) = &results(&run)[3];
        assert!(
            *is_error
                && reason.contains("Do not touch src/db/")
                && reason.ends_with("grov goal allow src/db/pool.rs"),
            "{reason}"
        );
        assert!(client.project().join("src/login.rs").exists());
    }
    let run = client.prompt(&upstream.url(), &format!("{PROMPT} [[scenario:work]]"), &[])?;
    let session = run.session()?;
    let ended = grov.run(&["goal", "allow", FORBIDDEN, "--session", session])?;
    ensure!(ended.code() == Some(0), "{ended:?}");
    let again = client.prompt(
        &upstream.url(),
        "Go on. [[scenario:work]]",
        &["--resume", session],
    )?;
    again.result()?;
    assert_eq!(stopped(&again), [5], "{:?}", results(&again));
    assert_eq!(forbidden(&client), None, "it was changed, and then removed");
    Ok(())
}

#[test]
fn a_disabled_guard_stops_no_action() -> Result<()> {
    let Some(client) = RealClient::installed()? else {
        return Ok(());
    };
    let client = client.env("GROV_GUARD_MODE", "off");
    let upstream = Upstream::with(&script(&[read(FORBIDDEN), write(FORBIDDEN, "changed")]))?;
    prepare(&client)?;
    let run = client.prompt(&upstream.url(), &format!("{PROMPT} [[scenario:work]]"), &[])?;
    run.result()?;
    assert_eq!(stopped(&run), [0; 0]);
    assert_eq!(forbidden(&client).as_deref(), Some("changed"));
    Ok(())
}

#[test]
fn without_a_database_actions_run_unless_the_guard_fails_closed() -> Result<()> {
    for fail in ["open", "closed"] {
        let Some(client) = RealClient::installed()? else {
            return Ok(());
        };
        let client = client.env("GROV_GUARD_FAIL", fail);
        let upstream = Upstream::with(&script(&[
            read(FORBIDDEN),
            write(FORBIDDEN, "changed"),
            write("src/login.rs", "fn login() {}"),
        ]))?;
        let grov = prepare(&client)?;
        // A file that is not a database.
        let database = client.home().join(".grov/grov.db");
        if database.exists() {
            fs::remove_file(&database)?;
        }
        fs::create_dir_all(database.join("within"))?;
        let run = client.prompt(&upstream.url(), &format!("{PROMPT} [[scenario:work]]"), &[])?;
        run.result()?;
        let is_closed = fail == "closed";
        // The newest prompt counts as soon as the client has written it to its transcript; the tests of the guard's
        // hook check that.
        if is_closed {
            assert_eq!(forbidden(&client).as_deref(), Some(BEFORE));
            assert!(stopped(&run).is_empty(), "{:?}", results(&run));
        }
        let (is_error, text) = results(&run).pop().context("nothing was written")?;
        assert_eq!(is_error, is_closed, "{text}");
        assert_eq!(client.project().join("src/login.rs").exists(), !is_closed);
        assert_eq!(text.contains("guard.fail is \"closed\""), is_closed, "{text}");
        drop(grov);
    }
    Ok(())
}

#[test]
fn the_guard_checks_the_first_call_of_a_session_on_the_proxy() -> Result<()> {
    let script = script(&[
        read(FORBIDDEN),
        write(FORBIDDEN, "changed"),
        write("src/login.rs", "x"),
    ]);
    let Some(work) = Work::with(&script)? else {
        return Ok(());
    };
    let grov = prepare(&work.client)?;
    let run = work.prompt(&format!("{PROMPT} [[scenario:work]]"), &[])?;
    run.result()?;
    assert_eq!(stopped(&run), [1], "{:?}", results(&run));
    assert_eq!(forbidden(&work.client).as_deref(), Some(BEFORE));
    let session = run.session()?;
    // The proxy records a session with a short delay, and an action off goal separately from steps.
    grov.wait_for_steps(session, 2)?;
    let ended = grov.run(&["goal", "allow", "src/db", "--session", session])?;
    ensure!(ended.code() == Some(0), "{ended:?}");
    let again = work.prompt("Go on. [[scenario:work]]", &["--resume", session])?;
    again.result()?;
    assert_eq!(stopped(&again), [0; 0], "{:?}", results(&again));
    assert_eq!(forbidden(&work.client).as_deref(), Some("changed"));
    Ok(())
}

#[test]
fn the_guard_does_not_ask_again_after_consent() -> Result<()> {
    let Some(client) = RealClient::installed()? else {
        return Ok(());
    };
    let upstream = Upstream::with(&script(&[
        read(FORBIDDEN),
        write(FORBIDDEN, "changed once"),
        write(FORBIDDEN, "changed twice"),
    ]))?;
    prepare(&client)?;
    let mut terminal = Terminal::open(&client, &upstream.url())?;
    terminal.enter(&format!("{PROMPT} [[scenario:work]]"))?;
    terminal.wait_for_text("Do you want to")?;
    assert_eq!(
        forbidden(&client).as_deref(),
        Some(BEFORE),
        "{}",
        terminal.screen()
    );
    terminal.confirm()?;
    terminal.wait_for_text("All of it was tried.")?;
    assert_eq!(forbidden(&client).as_deref(), Some("changed twice"));
    assert!(terminal.screen().contains("goal allow"), "{}", terminal.screen());
    terminal.leave()
}
