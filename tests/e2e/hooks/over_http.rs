//! The real client's hooks over HTTP: the same injections, guard questions and records as with hook processes. A daemon
//! that stops does not disturb the client.

use super::hooked::{Hooked, runs, says, writes};
use super::{QUESTION, SETTINGS, init, injections, prepare, settings};
use crate::upstream::Upstream;
use crate::work::Work;
use anyhow::{Context, Result, ensure};
use grov_tests::{Daemon, Grov, RealClient, Request, Terminal, eventually, exchange};
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;

/// A port that no process listens on.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// The hook counters on the daemon's health page.
fn hooks_of(port: u16) -> Result<Value> {
    let health = exchange(port, &Request::new("GET", "/_grov/health"))?;
    let health: Value = serde_json::from_slice(&health.body)?;
    Ok(health["hooks"].clone())
}

/// Stops a daemon that a session has started.
struct Ending(Grov);

impl Drop for Ending {
    fn drop(&mut self) {
        // A failing test has already reported its error.
        let _ = self.0.run(&["uninstall"]);
    }
}

#[test]
fn hooks_over_http_inject_guard_and_record() -> Result<()> {
    let Some(client) = RealClient::installed()? else {
        return Ok(());
    };
    let port = free_port()?;
    let upstream = Upstream::with(&json!({"scenarios": {
        "work": {"steps": [
            writes("hello.txt"), writes("src/db/pool.rs"), runs("ls nowhere"), says("Done. hello.txt is written."),
        ]},
    }}))?;
    let grov = prepare(&client, SETTINGS)?;
    let configuration = client.home().join(".grov/config.toml");
    fs::write(configuration, format!("[proxy]\nport = {port}\n"))?;
    init(&grov, &["--http"])?;
    let hooked = Hooked {
        client,
        upstream,
        grov,
    };
    // Dropped before the home directory is removed.
    let _ending = Ending(hooked.grov.clone());

    let prompt = format!("{QUESTION} Write hello.txt. Do not touch src/db/. [[scenario:work]]");
    let run = hooked.prompt(&prompt, &[])?;
    let session = run.session()?.to_owned();
    let (times, saying) = injections(&hooked.upstream)?;
    ensure!(
        times.first() == Some(&1) && saying == times.len(),
        "{times:?}, {saying}"
    );
    assert!(hooked.client.project().join("hello.txt").exists());
    assert!(
        !hooked.client.project().join("src/db/pool.rs").exists(),
        "the guard was not asked"
    );
    let request = hooked.newest_request()?;
    assert!(
        request.contains("Do not touch src/db/") && request.contains("grov goal allow"),
        "{request}"
    );
    let memories = hooked.wait_for_memories("the session to be kept", |memories| memories.len() == 1)?;
    assert_eq!(memories[0]["files_touched"], json!(["hello.txt"]));
    hooked.grov.wait_for_steps(&session, 1)?;
    // A prompt, three calls of which two ran, the end of the turn and of the session: none of these hooks was a
    // process.
    let answered = hooks_of(port)?;
    assert_eq!(
        (&answered["answered"], &answered["refused"]),
        (&json!(8), &json!(0)),
        "{answered}"
    );

    hooked.prompt(QUESTION, &["--continue"])?;
    let (times, _) = injections(&hooked.upstream)?;
    assert_eq!(times.iter().max(), Some(&1), "{times:?}");

    let ended = hooked.grov.run(&["uninstall"])?;
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(fs::read_to_string(settings(&hooked.client))?, SETTINGS);
    eventually("the daemon to stop", || {
        TcpListener::bind(("127.0.0.1", port)).ok()
    })?;
    hooked.assert_no_faults()
}

#[test]
fn the_guard_over_http_does_not_ask_again_after_consent() -> Result<()> {
    let Some(client) = RealClient::installed()? else {
        return Ok(());
    };
    let port = free_port()?;
    let file = client.project().join("src/db/pool.rs");
    let upstream = Upstream::with(&json!({"scenarios": {
        "work": {"steps": [
            runs("echo once >> src/db/pool.rs"), runs("echo twice >> src/db/pool.rs"), says("Both lines were tried."),
        ]},
    }}))?;
    let grov = prepare(&client, "{}")?;
    let configuration = client.home().join(".grov/config.toml");
    fs::write(configuration, format!("[proxy]\nport = {port}\n"))?;
    init(&grov, &["--http"])?;
    let _ending = Ending(grov.clone());
    fs::create_dir_all(client.project().join("src/db"))?;
    let mut terminal = Terminal::open(&client, &upstream.url())?;
    terminal.enter("Fix the login. Do not touch src/db/. [[scenario:work]]")?;
    terminal.wait_for_text("Do you want to")?;
    ensure!(!file.exists(), "{}", terminal.screen());
    terminal.confirm()?;
    terminal.wait_for_text("Both lines were tried.")?;
    assert_eq!(fs::read_to_string(&file)?, "once\ntwice\n");
    terminal.leave()
}

#[test]
fn a_daemon_that_stops_during_a_session_is_started_by_the_next_session() -> Result<()> {
    let Some(client) = RealClient::installed()? else {
        return Ok(());
    };
    let port = free_port()?;
    let grov = prepare(&client, "{}")?;
    let configuration = client.home().join(".grov/config.toml");
    fs::write(configuration, format!("[proxy]\nport = {port}\n"))?;
    init(&grov, &["--http"])?;
    let daemon = Daemon::bare(&client.home().join(".grov")).start()?;
    let upstream = Upstream::with(&json!({"scenarios": {
        "down": {"steps": [
            writes("before.txt"), runs(&format!("kill -9 {}", daemon.pid())), writes("after.txt"), says("Done."),
        ]},
        "more": {"steps": [writes("more.txt"), says("Done. All three are written.")]},
    }}))?;
    let hooked = Hooked {
        client,
        upstream,
        grov,
    };
    // Dropped before the home directory is removed.
    let _ending = Ending(hooked.grov.clone());
    let run = hooked.prompt("Write the files. [[scenario:down]]", &[])?;
    assert_eq!((run.result()?, run.retries()), ("Done.", 0));
    for file in ["before.txt", "after.txt"] {
        assert!(hooked.client.project().join(file).exists(), "{file}");
    }
    let again = hooked.prompt("And one more. [[scenario:more]]", &["--continue"])?;
    assert_eq!(again.session()?, run.session()?);
    // Including the work done while no daemon was running.
    hooked.wait_for_memories("all three to be kept", |memories| {
        memories.len() == 1 && memories[0]["files_touched"] == json!(["before.txt", "after.txt", "more.txt"])
    })?;
    assert_eq!(hooks_of(port)?["refused"], 0);
    drop(daemon);
    hooked.assert_no_faults()
}

#[test]
fn a_proxied_session_is_neither_injected_into_nor_recorded_twice() -> Result<()> {
    let Some(work) = Work::begin()? else { return Ok(()) };
    let grov = prepare(&work.client, SETTINGS)?;
    init(&grov, &["--http"])?;
    let run = work.prompt(&format!("{QUESTION} [[scenario:tools]]"), &[])?;
    run.result()?;
    work.prompt(QUESTION, &["--continue"])?.result()?;
    let (times, _) = injections(&work.upstream)?;
    ensure!(
        times.len() > 3 && times.iter().all(|&times| times <= 1),
        "{times:?}"
    );
    assert_eq!(work.agree(run.session()?)?.len(), 4);
    let hooks = hooks_of(work.daemon.port())?;
    // Each hook sends the client's base URL, so the daemon recognises sessions that go through its own proxy.
    ensure!(hooks["answered"].as_u64() > Some(8), "{hooks}");
    assert_eq!(
        (&hooks["refused"], &hooks["worked"]),
        (&json!(0), &json!(0)),
        "{hooks}"
    );
    assert_eq!(work.grov().sessions()?.len(), 1);
    Ok(())
}

/// A daemon, and the token in the hook settings of its home.
fn endpoint() -> Result<(tempfile::TempDir, Daemon, String)> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join(".grov");
    let daemon = Daemon::on(&home, crate::upstream::NOWHERE).start()?;
    let ended = Grov::on(&home).run(&["init", "--http"])?;
    ensure!(ended.code() == Some(0), "{ended:?}");
    let token = fs::read_to_string(home.join("hook-token"))?.trim().to_owned();
    Ok((folder, daemon, token))
}

#[test]
fn hook_requests_without_the_token_are_refused() -> Result<()> {
    let (folder, daemon, token) = endpoint()?;
    let post = |event: &str| Request::new("POST", &format!("/_grov/hook/{event}"));
    let shown = |request: Request| request.header("X-Grov-Hook-Token", &token);
    let mut wrong = token.clone();
    wrong.replace_range(0..1, if token.starts_with('0') { "1" } else { "0" });
    for (what, request, status) in [
        ("no token", post("Stop").body("{}"), 403),
        (
            "another token",
            post("Stop").header("X-Grov-Hook-Token", &wrong).body("{}"),
            403,
        ),
        (
            "a page that hides its origin",
            shown(post("Stop")).header("Origin", "null").body("{}"),
            403,
        ),
        (
            "a page of this machine",
            shown(post("Stop"))
                .header("Origin", "http://localhost:3000")
                .body("{}"),
            403,
        ),
        (
            "a rebound name",
            shown(post("Stop")).header("Host", "evil.example").body("{}"),
            403,
        ),
        ("a look", shown(Request::new("GET", "/_grov/hook/Stop")), 405),
        ("no event", shown(post("")).body("{}"), 404),
    ] {
        assert_eq!(exchange(daemon.port(), &request)?.status, status, "{what}");
    }
    let credentials = "http://user:hunter2hunter2@127.0.0.1:1";
    let oversized = vec![b' '; 50 * 1024 * 1024 + 1];
    for (what, request) in [
        ("nothing", shown(post("Stop"))),
        ("no JSON", shown(post("UserPromptSubmit")).body("no JSON")),
        ("too much", shown(post("PostToolUse")).body(oversized)),
        ("an unknown event", shown(post("Whatever")).body("{}")),
        (
            "a base address with credentials",
            shown(post("Stop"))
                .header("X-Grov-Base-Url", credentials)
                .body("{}"),
        ),
    ] {
        let response = exchange(daemon.port(), &request)?;
        assert_eq!((response.status, response.text().as_str()), (200, "{}"), "{what}");
    }
    let log = fs::read_to_string(folder.path().join(".grov/logs/hooks.log"))?;
    assert!(
        log.contains("could not be parsed") && log.contains("too long"),
        "{log}"
    );
    let ended = daemon.stop()?;
    assert!(!(log + &ended.stderr).contains("hunter2"), "{}", ended.stderr);
    Ok(())
}

#[test]
fn an_unusable_store_leads_to_an_empty_hook_answer() -> Result<()> {
    let (folder, daemon, token) = endpoint()?;
    let home = folder.path().join(".grov");
    // A file that is not a database.
    for file in ["grov.db", "grov.db-wal", "grov.db-shm"] {
        let _ = fs::remove_file(home.join(file));
    }
    fs::create_dir_all(home.join("grov.db/within"))?;
    let work = folder.path().to_str().context("the path is not UTF-8")?;
    let input =
        json!({"session_id": "s", "cwd": work, "prompt": "How are webhooks sent again?", "prompt_id": "p"});
    let request = |event: &str| {
        let request = Request::new("POST", &format!("/_grov/hook/{event}"));
        request
            .header("X-Grov-Hook-Token", &token)
            .body(input.to_string())
    };
    let response = exchange(daemon.port(), &request("UserPromptSubmit"))?;
    assert_eq!((response.status, response.text().as_str()), (200, "{}"));
    // The work after a turn does not delay the daemon's shutdown.
    assert_eq!(exchange(daemon.port(), &request("Stop"))?.status, 200);
    eventually("both faults to be noted", || {
        let log = fs::read_to_string(home.join("logs/hooks.log")).ok()?;
        (log.lines().count() >= 2).then_some(())
    })?;
    assert_eq!(daemon.stop()?.code(), Some(0));
    Ok(())
}
