//! What hooks must not inject and must not store: where Grov is off, and for private or ignored content.

use super::hooked::{Hooked, kinds, runs, says, writes};
use super::{DECISION, QUESTION};
use anyhow::Result;
use grov_domain::OWN_TEXT_OPENING;
use serde_json::{Value, json};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

const GOAL: &str = "Add a greeting to hello.txt. Do not touch main.rs.";

fn scenarios() -> Value {
    json!({
        "stray": {"steps": [writes("main.rs"), says("Done. I changed main.rs.")]},
        "answer": {"steps": [says("By an outbox.")]},
    })
}

/// Asserts that no request contains text injected by Grov.
fn assert_nothing_injected(hooked: &Hooked) -> Result<()> {
    for request in hooked.upstream.sim().messages() {
        let body = String::from_utf8(request.body.to_vec())?;
        assert!(!body.contains(OWN_TEXT_OPENING), "{body}");
    }
    Ok(())
}

#[test]
fn with_grov_off_nothing_is_injected_but_actions_are_recorded() -> Result<()> {
    let Some(hooked) = Hooked::playing(&scenarios())? else {
        return Ok(());
    };
    hooked.grov.run_json(&["off"])?;
    let run = hooked.prompt(&format!("{GOAL} [[scenario:stray]]"), &[])?;
    let session = run.session()?.to_owned();
    hooked.prompt(&format!("{QUESTION} [[scenario:answer]]"), &["--continue"])?;
    assert_nothing_injected(&hooked)?;
    assert_eq!(kinds(&hooked.grov.wait_for_steps(&session, 1)?), ["write"]);
    hooked.wait_for_session("the session to end", &session, |known| {
        known.prompts == 2 && known.ended_at.is_some() && known.memories_injected == 0
    })?;
    let status = || {
        hooked
            .grov
            .run_given(&["statusline"], &json!({"session_id": session}))
    };
    let line = status()?.stdout;
    assert!(line.starts_with("grov: off ·"), "{line}");

    hooked.grov.run_json(&["on"])?;
    let line = status()?.stdout;
    assert!(line.starts_with("grov: off goal"), "it drifted: {line}");
    hooked.prompt(&format!("{QUESTION} [[scenario:answer]]"), &[])?;
    assert!(hooked.newest_request()?.contains(DECISION), "it is on again");
    hooked.assert_no_faults()
}

#[test]
fn with_memory_off_no_memory_is_injected() -> Result<()> {
    let configuration = "[memory]\nenabled = false\n[guard]\nmode = \"off\"\n";
    let Some(hooked) = Hooked::configured(&scenarios(), configuration, |client| client)? else {
        return Ok(());
    };
    let run = hooked.prompt(&format!("{QUESTION} [[scenario:answer]]"), &[])?;
    assert_nothing_injected(&hooked)?;
    hooked.wait_for_session("the session to end", run.session()?, |known| {
        known.ended_at.is_some() && known.memories_injected == 0
    })?;
    hooked.assert_no_faults()
}

#[test]
fn with_drift_off_no_correction_is_injected() -> Result<()> {
    let configuration = "[drift]\nenabled = false\n[guard]\nmode = \"off\"\n";
    let Some(hooked) = Hooked::configured(&scenarios(), configuration, |client| client)? else {
        return Ok(());
    };
    let run = hooked.prompt(&format!("{GOAL} [[scenario:stray]]"), &[])?;
    let session = run.session()?.to_owned();
    hooked.prompt("Is it there? [[scenario:answer]]", &["--continue"])?;
    let text = hooked.newest_request()?;
    assert!(!text.contains("main.rs is changed in violation of"), "{text}");
    hooked.wait_for_session("the session to end", &session, |known| {
        known.prompts == 2 && known.ended_at.is_some()
    })?;
    let log = hooked
        .grov
        .run_json(&["drift", "log", "--session", &session])?
        .json;
    let events = log["events"].as_array().cloned().unwrap_or_default();
    assert!(
        events.iter().all(|event| event["correction_given"].is_null()),
        "{log}"
    );
    hooked.assert_no_faults()
}

/// Every file below a directory.
fn files(folder: &Path, visit: &mut impl FnMut(&Path, &[u8])) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files(&path, visit)?;
        } else {
            // The database's log file is removed when its last user closes the database.
            match fs::read(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                content => visit(&path, &content?),
            }
        }
    }
    Ok(())
}

/// Asserts that no file in Grov's home contains any of these words.
fn assert_not_stored(hooked: &Hooked, words: &[&str]) -> Result<()> {
    files(&hooked.home(), &mut |path, content| {
        let content = content.to_ascii_lowercase();
        for word in words {
            let is_there = content
                .windows(word.len())
                .any(|window| window == word.as_bytes());
            assert!(!is_there, "{word} is in {}", path.display());
        }
    })
}

#[test]
fn private_text_is_not_stored() -> Result<()> {
    // One word each, so that no text boundary splits it: from the user, the agent and a tool.
    let [typed, queued, said, put_out, written] = [
        "quetzalcoatl",
        "ornithorhynchus",
        "zweitausend",
        "kaleidoskop",
        "mississippi",
    ];
    let private = |word: &str| format!("<private>the {word} is ours</private>");
    let script = json!({
        "confide": {"steps": [
            {"blocks": [
                {"type": "text", "text": format!("I do as told. {}", private(said))},
                {"type": "tool_use", "name": "Write", "input": {
                    "file_path": "{cwd}/hello.txt", "content": format!("hello\n{}\n", private(written)),
                }},
            ]},
            runs(&format!("echo '{}'", private(put_out))),
            says(&format!("Done. The greeting is there. {}", private(said))),
        ]},
        "more": {"steps": [writes("main.rs"), says(&format!("Done. {}", private(said)))]},
    });
    let Some(hooked) = Hooked::configured(&script, "", |client| client)? else {
        return Ok(());
    };
    let goal = format!(
        "Add a greeting to hello.txt. {} Do not touch main.rs. [[scenario:confide]]",
        private(typed)
    );
    let run = hooked.prompt(&goal, &[])?;
    let session = run.session()?.to_owned();
    hooked.wait_for_memories("the session to be kept", |memories| memories.len() == 1)?;
    assert_not_stored(&hooked, &[typed, said, put_out, written])?;
    let more = format!("{} Write main.rs too. [[scenario:more]]", private(queued));
    hooked.prompt(&more, &["--continue"])?;
    hooked.wait_for_session("the session to end", &session, |known| {
        known.prompts == 2 && known.ended_at.is_some()
    })?;
    hooked.wait_for_memories("the second turn to be kept", |memories| {
        memories.len() == 1 && memories[0]["files_touched"].to_string().contains("main.rs")
    })?;
    assert_not_stored(&hooked, &[typed, queued, said, put_out, written])?;
    hooked.assert_no_faults()
}

#[test]
fn ignored_files_are_not_in_memories() -> Result<()> {
    let script = json!({
        "work": {"steps": [writes("vault/plan.txt"), writes("hello.txt"), says("Done. It is written.")]},
        "alone": {"steps": [writes("vault/other.txt"), says("Done. It is written.")]},
    });
    let Some(hooked) = Hooked::playing(&script)? else {
        return Ok(());
    };
    fs::write(hooked.client.project().join(".grovignore"), "vault/\n")?;
    let run = hooked.prompt("Add a greeting and a plan. [[scenario:work]]", &[])?;
    let memories = hooked.wait_for_memories("the session to be kept", |memories| memories.len() == 1)?;
    assert_eq!(memories[0]["files_touched"], json!(["hello.txt"]));
    let id = memories[0]["id"].as_str().unwrap_or_default();
    let shown = hooked.grov.run_json(&["memory", "show", id])?.json;
    assert!(!shown.to_string().contains("vault"), "{shown:#}");
    hooked.wait_for_session("the session to end", run.session()?, |known| {
        known.ended_at.is_some()
    })?;

    let store = hooked.store()?;
    let project = hooked.grov.run_json(&["status"])?.json;
    let project = project["project_path"].as_str().unwrap_or_default();
    let why = hooked
        .upstream
        .block_on(grov_domain::FileReasoningStore::file_reasoning(
            &store, project, "", 100,
        ))?;
    let files: Vec<&str> = why.iter().map(|why| why.file_path.as_str()).collect();
    assert_eq!(files, ["hello.txt"]);

    // A session without any other work leaves no memory.
    let run = hooked.prompt("Write the other plan. [[scenario:alone]]", &[])?;
    hooked.wait_for_session("the session to end", run.session()?, |known| {
        known.ended_at.is_some()
    })?;
    let memories = hooked.wait_for_memories("the second session", |_| true)?;
    let text = Value::Array(memories).to_string();
    assert!(!text.contains("vault"), "{text}");
    hooked.assert_no_faults()
}
