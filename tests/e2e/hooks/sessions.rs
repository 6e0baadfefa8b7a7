//! Sessions followed by hooks alone: what is recorded, what is injected, and what is stored.

use super::hooked::{Hooked, says, writes};
use anyhow::Result;
use grov_domain::OWN_TEXT_OPENING;
use grov_tests::Terminal;
use serde_json::{Value, json};

/// Clears the input line: a command may still be in it while the client runs it.
const EMPTY: &str = "\u{15}";
const GOAL: &str = "Add a greeting to hello.txt. Do not touch main.rs.";

/// The model's scenarios in these tests.
fn begin() -> Result<Option<Hooked>> {
    Hooked::playing(&json!({
        "greet": {"steps": [writes("hello.txt"), says("Done. The greeting is in hello.txt.")]},
        "stray": {"steps": [writes("main.rs"), says("Done. I changed main.rs.")]},
        "more": {"steps": [writes("more.txt"), says("Done. more.txt is written.")]},
        "answer": {"steps": [says("It is there.")]},
    }))
}

#[test]
fn actions_of_a_session_are_recorded_once_after_each_turn() -> Result<()> {
    let Some(hooked) = begin()? else {
        return Ok(());
    };
    let run = hooked.prompt(&format!("{GOAL} [[scenario:greet]]"), &[])?;
    let session = run.session()?.to_owned();
    let memories = hooked.wait_for_memories("the session to be kept", |memories| memories.len() == 1)?;
    let first = &memories[0];
    assert_eq!(first["status"], "complete");
    assert_eq!(first["files_touched"], json!(["hello.txt"]));
    let steps = hooked.grov.wait_for_steps(&session, 1)?;
    assert_eq!((steps.len(), &steps[0]["action_type"]), (1, &json!("write")));

    hooked.prompt("Write more.txt too. [[scenario:more]]", &["--continue"])?;
    let memories = hooked.wait_for_memories("the second turn to be kept", |memories| {
        memories.len() == 1 && memories[0]["files_touched"] == json!(["hello.txt", "more.txt"])
    })?;
    assert_eq!(memories[0]["id"], first["id"]);
    assert!(
        memories[0]["original_query"]
            .as_str()
            .is_some_and(|query| query.starts_with(GOAL))
    );
    assert_eq!(hooked.grov.wait_for_steps(&session, 2)?.len(), 2);
    hooked.assert_no_faults()
}

#[test]
fn drift_is_corrected_once_with_the_next_prompt() -> Result<()> {
    let Some(hooked) = begin()? else {
        return Ok(());
    };
    let run = hooked.prompt(&format!("{GOAL} [[scenario:stray]]"), &[])?;
    let session = run.session()?.to_owned();
    // None of the work served the goal, so there is a step but no memory.
    hooked.grov.wait_for_steps(&session, 1)?;
    hooked.prompt("Is the greeting there? [[scenario:answer]]", &["--continue"])?;
    let injected = hooked.newest_request()?;
    assert!(
        injected.contains("main.rs is changed in violation of"),
        "{injected}"
    );
    let times = injected.matches(OWN_TEXT_OPENING).count();
    hooked.prompt("Is it really there? [[scenario:answer]]", &["--continue"])?;
    let again = hooked.newest_request()?;
    assert_eq!(again.matches(OWN_TEXT_OPENING).count(), times, "{again}");
    let log = hooked
        .grov
        .run_json(&["drift", "log", "--session", &session])?
        .json;
    assert_eq!(log["events"][0]["drift_score"], 3, "{log}");
    assert!(log["events"][0]["correction_given"].is_string(), "{log}");
    hooked.assert_no_faults()
}

#[test]
fn a_fork_does_not_change_the_original_session() -> Result<()> {
    let Some(hooked) = begin()? else {
        return Ok(());
    };
    let run = hooked.prompt(&format!("{GOAL} [[scenario:greet]]"), &[])?;
    let old = run.session()?.to_owned();
    let kept = hooked.wait_for_memories("the session to be kept", |memories| memories.len() == 1)?;
    let fork = hooked.prompt(
        "Write more.txt. [[scenario:more]]",
        &["--resume", &old, "--fork-session"],
    )?;
    let new = fork.session()?.to_owned();
    assert_ne!(old, new);
    let memories = hooked.wait_for_memories("the fork to be kept", |memories| memories.len() == 2)?;
    assert!(memories.contains(&kept[0]), "{memories:#?}");
    let steps = hooked.grov.wait_for_steps(&new, 1)?;
    assert_eq!(
        steps.len(),
        1,
        "what was done before is no work of the fork: {steps:#?}"
    );
    assert_eq!(hooked.grov.steps(&old)?.len(), 1);
    // Both histories contain the text that was injected into the first session.
    let injected = hooked.newest_request()?;
    assert_eq!(injected.matches("Keep failed webhooks").count(), 1, "{injected}");
    hooked.assert_no_faults()
}

#[test]
fn after_a_compaction_the_constraints_are_injected_again() -> Result<()> {
    let Some(hooked) = begin()? else {
        return Ok(());
    };
    let mut terminal = Terminal::open(&hooked.client, &hooked.upstream.url())?;
    terminal.enter(&format!("{GOAL} [[scenario:greet]]"))?;
    terminal.wait_for_text("greeting is in hello.txt")?;
    terminal.enter("/compact")?;
    terminal.wait_for_text("ompacted")?;
    // The user sees the notice about the compaction, too.
    terminal.wait_for_text("the goal, 1 constraint and 1 changed file")?;
    terminal.enter(&format!("{EMPTY}Is it there? [[scenario:answer]]"))?;
    terminal.wait_for_text("It is there.")?;
    let injected = hooked.newest_request()?;
    assert!(
        injected.contains("The history of this session was compacted"),
        "{injected}"
    );
    assert!(injected.contains("Do not touch main.rs"), "{injected}");
    assert!(injected.contains("hello.txt"), "{injected}");
    terminal.leave()?;
    hooked.assert_no_faults()
}

#[test]
fn clear_starts_a_new_session() -> Result<()> {
    let Some(hooked) = begin()? else {
        return Ok(());
    };
    let mut terminal = Terminal::open(&hooked.client, &hooked.upstream.url())?;
    terminal.enter(&format!("{GOAL} [[scenario:greet]]"))?;
    terminal.wait_for_text("greeting is in hello.txt")?;
    terminal.clear()?;
    terminal.enter("Write more.txt. [[scenario:more]]")?;
    terminal.wait_for_text("more.txt is written")?;
    // A user who quits while a hook runs may end that hook.
    let memories = hooked.wait_for_memories("both sessions to be kept", |memories| memories.len() == 2)?;
    terminal.leave()?;
    let files: Vec<&Value> = memories.iter().map(|memory| &memory["files_touched"]).collect();
    assert_eq!(files, [&json!(["more.txt"]), &json!(["hello.txt"])]);
    hooked.assert_no_faults()
}
