//! Turns that do not end normally: the API fails, the user interrupts, or the database is locked.

use super::hooked::{Hooked, delivered, kinds, says, writes};
use crate::store_faults::Hold;
use anyhow::{Context, Result};
use grov_tests::{Terminal, eventually};
use serde_json::json;
use std::time::{Duration, Instant};

const GOAL: &str = "Add a greeting to hello.txt.";
/// How long another program locks the database.
const LOCK_TIME: Duration = Duration::from_secs(3);

#[test]
fn a_turn_that_ends_with_an_api_error_is_recorded_as_unfinished() -> Result<()> {
    // One error that the client does not retry, and one that it reports after its retries.
    for failure in ["status=400", "status=529"] {
        let script = json!({
            "fails": {"steps": [writes("hello.txt"), delivered(says("Done."), failure)]},
            "more": {"steps": [writes("more.txt"), says("Done. Both files are written.")]},
        });
        let with_one_retry = |client: grov_tests::RealClient| client.env("CLAUDE_CODE_MAX_RETRIES", "1");
        let Some(hooked) = Hooked::configured(&script, "[guard]\nmode = \"off\"\n", with_one_retry)? else {
            return Ok(());
        };
        let prompt = format!("{GOAL} [[scenario:fails]]");
        let run = hooked.client.prompt(&hooked.upstream.url(), &prompt, &[])?;
        assert!(run.result().is_err(), "{:?}", run.ended);
        let session = run.session()?.to_owned();
        let kept = hooked.wait_for_memories("the broken turn to be kept", |memories| memories.len() == 1)?;
        assert_eq!(kept[0]["status"], "abandoned", "{failure}");
        assert!(!kept[0].to_string().contains("API Error"), "{:#}", kept[0]);
        assert_eq!(kinds(&hooked.grov.wait_for_steps(&session, 1)?), ["write"]);

        hooked.prompt("Go on, and write more.txt. [[scenario:more]]", &["--continue"])?;
        let whole = hooked.wait_for_memories("the whole to be kept", |memories| {
            memories.len() == 1 && memories[0]["status"] == "complete"
        })?;
        assert_eq!(whole[0]["id"], kept[0]["id"]);
        assert_eq!(whole[0]["files_touched"], json!(["hello.txt", "more.txt"]));
        assert_eq!(
            kinds(&hooked.grov.wait_for_steps(&session, 2)?),
            ["write", "write"]
        );
        hooked.assert_no_faults()?;
    }
    Ok(())
}

#[test]
fn actions_of_an_interrupted_turn_are_recorded_with_the_next_prompt() -> Result<()> {
    let script = json!({
        "long": {"steps": [writes("hello.txt"), delivered(says("Never said."), "stall-events=1")]},
        "more": {"steps": [writes("more.txt"), delivered(says("Never said."), "stall-events=1")]},
        "end": {"steps": [says("Done. Both files are written.")]},
    });
    let Some(hooked) = Hooked::playing(&script)? else {
        return Ok(());
    };
    let mut terminal = Terminal::open(&hooked.client, &hooked.upstream.url())?;
    // Only the hook of the next prompt can follow this turn: no Stop hook runs here.
    terminal.enter(&format!("{GOAL} [[scenario:long]]"))?;
    let after_first = requests_with(&hooked, "toolu_", 1)?;
    let session = hooked.session_when(1)?;
    terminal.interrupt()?;
    terminal.wait_for_text("nterrupted")?;
    terminal.enter("Write more.txt as well. [[scenario:more]]")?;
    requests_with(&hooked, "toolu_", after_first + 2)?;
    assert_eq!(kinds(&hooked.grov.steps(&session)?), ["write"]);
    terminal.interrupt()?;
    terminal.wait_for_text("nterrupted")?;
    terminal.enter("Is that all? [[scenario:end]]")?;
    terminal.wait_for_text("Both files are written")?;
    terminal.leave()?;

    let memories = hooked.wait_for_memories("the session to be kept", |memories| {
        memories.len() == 1 && memories[0]["status"] == "complete"
    })?;
    assert_eq!(memories[0]["files_touched"], json!(["hello.txt", "more.txt"]));
    assert_eq!(kinds(&hooked.grov.steps(&session)?), ["write", "write"]);
    hooked.assert_no_faults()
}

/// Waits for `count` requests that contain a text. Returns how many there are.
fn requests_with(hooked: &Hooked, text: &str, count: usize) -> Result<usize> {
    let holding = || {
        let requests = hooked.upstream.sim().messages();
        let bodies = requests
            .iter()
            .map(|request| String::from_utf8_lossy(&request.body).into_owned());
        bodies.filter(|body| body.contains(text)).count()
    };
    eventually("requests", || Some(holding()).filter(|holding| *holding >= count))
        .with_context(|| format!("{} of {count} requests with {text}", holding()))
}

#[test]
fn a_locked_database_does_not_delay_the_clients_exit_and_loses_no_step() -> Result<()> {
    let script = json!({"greet": {"steps": [
        writes("hello.txt"),
        // Long enough to lock the database meanwhile.
        delivered(says("Done. The greeting is in hello.txt."), "head-delay=1500"),
    ]}});
    let Some(hooked) = Hooked::playing(&script)? else {
        return Ok(());
    };
    let upstream = &hooked.upstream;
    let (run, held) = std::thread::scope(|threads| {
        let holding = threads.spawn(|| {
            eventually("the last request", || (upstream.turns() == 2).then_some(()))?;
            Ok::<_, anyhow::Error>((Instant::now(), Hold::on(&hooked.home().join("grov.db"))?))
        });
        let run = hooked.prompt(&format!("{GOAL} [[scenario:greet]]"), &[]);
        (run, holding.join())
    });
    let (since, hold) = held.map_err(|_| anyhow::anyhow!("the database was never locked"))??;
    let run = run?;
    // The client's message about a hook that it did not wait for.
    assert!(!run.ended.stderr.contains("cancelled"), "{}", run.ended.stderr);
    eventually("the database to be free", || {
        (since.elapsed() >= LOCK_TIME).then_some(())
    })?;
    hold.release()?;
    assert_eq!(kinds(&hooked.grov.wait_for_steps(run.session()?, 1)?), ["write"]);
    let memories = hooked.wait_for_memories("the session to be kept", |memories| {
        memories.len() == 1 && memories[0]["status"] == "complete"
    })?;
    assert_eq!(memories[0]["files_touched"], json!(["hello.txt"]));
    Ok(())
}
