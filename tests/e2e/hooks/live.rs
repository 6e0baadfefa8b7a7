//! What `grov sessions`, `injected`, `steps` and `cost` say of a session of the real client.

use super::hooked::{Hooked, runs, says, writes};
use super::{DECISION, QUESTION, init, prepare};
use crate::work::Work;
use anyhow::{Context, Result};
use grov_tests::{Grov, eventually};
use serde_json::{Value, json};

/// The only session, once it has this state.
fn session_in(grov: &Grov, state: &str) -> Result<Value> {
    let only = || -> Option<Value> {
        let answer = grov.run_json(&["sessions"]).ok()?.json;
        match answer["sessions"].as_array()?.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        }
    };
    eventually("the session to be listed", || {
        only().filter(|only| only["state"] == state)
    })
    .with_context(|| format!("it is {:?}", only()))
}

#[test]
fn a_session_of_hooks_ends_in_print_mode_and_is_accounted_for() -> Result<()> {
    let script = json!({"go": {"steps": [writes("a.txt"), runs("exit 3"), says("Done.")]}});
    let Some(hooked) = Hooked::playing(&script)? else {
        return Ok(());
    };
    let run = hooked.prompt(&format!("{QUESTION} [[scenario:go]]"), &[])?;
    let session = session_in(&hooked.grov, "ended")?;
    assert_eq!(
        (&session["id"], &session["path"]),
        (&run.session()?.into(), &"hooks".into())
    );
    assert!(
        session["cost_usd"].as_f64().is_some_and(|cost| cost > 0.0),
        "{session}"
    );

    let said = hooked.grov.run_json(&["injected"])?.json;
    let memories: Vec<&Value> = said["injections"].as_array().into_iter().flatten().collect();
    assert_eq!(memories.len(), 1, "{said}");
    assert_eq!(
        (&memories[0]["kind"], &memories[0]["place"]),
        (&"memory".into(), &"session_start".into())
    );
    assert_eq!(memories[0]["memories"], json!(["task-webhooks"]));
    let text = memories[0]["text"].as_str().unwrap_or_default();
    assert!(text.contains(DECISION), "{said}");
    let escaped = serde_json::to_string(text)?;
    let request = hooked.newest_request()?;
    assert!(
        request.contains(escaped.trim_matches('"')),
        "it is the text that was sent"
    );
    let reason = memories[0]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("the newest memories"), "{reason}");

    let steps = hooked.grov.steps(run.session()?)?;
    let outcomes: Vec<&Value> = steps.iter().map(|step| &step["outcome"]).collect();
    assert_eq!(outcomes, [&Value::Null, &"failed".into()], "{steps:#?}");

    // The client's transcripts and what the upstream counted are the same.
    let cost = hooked.grov.run_json(&["cost", "--by", "session"])?.json;
    let rows = cost["rows"].as_array().map_or(0, Vec::len);
    assert_eq!(
        (rows, &cost["rows"][0]["key"]),
        (1, &run.session()?.into()),
        "{cost}"
    );
    let usd = |amount: &Value| amount.as_f64().unwrap_or(f64::NAN);
    let difference = usd(&cost["total_usd"]) - usd(&session["cost_usd"]);
    assert!(difference.abs() < 1e-6, "{cost} {session}");
    hooked.assert_no_faults()
}

#[test]
fn a_session_of_both_paths_is_one_and_ends() -> Result<()> {
    let script = json!({"scenarios": {"go": {"steps": [writes("a.txt"), runs("exit 3"), says("Done.")]}}});
    let Some(work) = Work::with(&script)? else {
        return Ok(());
    };
    let grov = prepare(&work.client, "{}")?;
    init(&grov, &[])?;
    let run = work.prompt(&format!("{QUESTION} [[scenario:go]]"), &[])?;
    run.result()?;
    let session = session_in(&grov, "ended")?;
    assert_eq!(
        (&session["id"], &session["path"]),
        (&run.session()?.into(), &"proxy".into())
    );
    assert!(
        session["cost_usd"].as_f64().is_some_and(|cost| cost > 0.0),
        "{session}"
    );
    // An outcome is recorded after the response, within a second.
    let id = run.session()?;
    eventually("the outcomes of both steps", || {
        let steps = grov.steps(id).ok()?;
        let outcomes: Vec<&Value> = steps.iter().map(|step| &step["outcome"]).collect();
        (outcomes == [&Value::Null, &"failed".into()]).then_some(())
    })?;
    // The transcript has the conversation; the proxy adds nothing to it but requests outside of it.
    let all = grov.run_json(&["cost"])?.json;
    let transcripts = grov.run_json(&["cost", "--source", "transcripts"])?.json;
    assert_eq!(
        all["sources"]["transcripts"],
        transcripts["sources"]["transcripts"]
    );
    let proxy = grov.run_json(&["cost", "--source", "proxy"])?.json;
    assert_eq!(
        all["tokens"]["input"].as_u64(),
        proxy["tokens"]["input"].as_u64(),
        "both sources saw the same requests: {all} {proxy}"
    );
    Ok(())
}
