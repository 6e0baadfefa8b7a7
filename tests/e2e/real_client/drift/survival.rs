//! What was found and said outlives the daemon, and the conversation it was said in.

use super::{
    LIMITED, Story, edits, in_time, reads, recolours, repairs, says, step, strays, tests, waits_for,
};
use crate::told::{Told, nothing_is_lost, told};
use anyhow::{Context, Result, bail};
use grov_sim::RecordedRequest;
use grov_sim::request::{MessagesRequest, Purpose};
use grov_tests::{Terminal, eventually};
use std::collections::BTreeSet;
use std::sync::Arc;

#[test]
fn a_crash_between_drift_and_correction_loses_and_doubles_nothing() -> Result<()> {
    let steps = [
        step(&[reads("src/auth/token.ts"), reads("src/styles/theme.css")]),
        step(&[repairs()]),
        step(&[recolours(), waits_for("noticed")]),
        step(&[reads("src/auth/token.test.ts"), waits_for("said")]),
        step(&[edits("src/auth/token.test.ts", "test('a", "test('that a")]),
        step(&[tests()]),
        step(&[says("Expired tokens are refused now.")]),
    ];
    let play = |story: &mut Story| {
        let mut running = story.begins(LIMITED)?;
        let session = running.session.clone();
        story.events_when(&session, 1)?;
        story.mode_becomes(&session, "drifted")?;
        story.crashes()?;
        story.opens("noticed")?;
        // Once more, now that it is said.
        eventually("the step to be recorded", || {
            let steps = story.grov().steps(&session).ok()?;
            (steps.len() == 6).then_some(())
        })?;
        story.crashes()?;
        story.opens("said")?;
        running.ends()?;
        Ok(session)
    };
    let Some((story, session)) = in_time(|| Story::begin(&steps), play)? else {
        return Ok(());
    };
    let told = story.told(&session)?;
    assert_eq!(told.len(), 1, "{told:#?}");
    assert_eq!(story.first_with(&session, 0)?, 3);
    assert_eq!(story.events(&session)?.len(), 1);
    assert_eq!(story.steps(&session)?.len(), 8);
    story.mode_becomes(&session, "normal")
}

/// What came of a session that was compacted.
struct Compacted {
    /// What stood in the request that asked for the summary.
    before: Vec<Told>,
    /// The requests behind it.
    behind: Vec<Arc<RecordedRequest>>,
    session: String,
}

/// Drifts, compacts, drifts again in another file and comes back.
fn compacts(story: &Story) -> Result<Compacted> {
    let mut terminal = Terminal::open(&story.work.client, &story.tap.url())?;
    terminal.enter(LIMITED)?;
    terminal.awaits("colours are fresh")?;
    let sim = story.work.upstream.sim();
    let session = sim
        .messages()
        .iter()
        .find_map(|request| request.header("x-claude-code-session-id").map(str::to_owned))
        .context("no session")?;
    let first = story.events_when(&session, 1)?;
    story.mode_becomes(&session, "drifted")?;

    terminal.enter("/compact")?;
    terminal.awaits("Compacted")?;
    let purpose = |body: &[u8]| MessagesRequest::parse(body).map(|request| request.purpose());
    let compaction = sim
        .messages()
        .into_iter()
        .find(|request| purpose(&request.body) == Ok(Purpose::Compaction))
        .context("nothing was compacted")?;
    story.mode_becomes(&session, "drifted")?;

    let requests = sim.messages().len();
    story.plays(&[
        step(&[reads("src/styles/header.css")]),
        step(&[edits("src/styles/header.css", "48px", "64px")]),
        step(&[reads("src/auth/token.test.ts")]),
        step(&[edits("src/auth/token.test.ts", "test('a", "test('that a")]),
        step(&[tests()]),
        step(&[says("The tests are there.")]),
    ])?;
    terminal.enter("Go on with the token bug and its tests")?;
    terminal.awaits("tests are there")?;
    terminal.leave()?;
    let events = story.events_when(&session, 2)?;
    assert_eq!(events.len(), 2, "{events:#?}");
    assert_eq!(events[0], first[0]);
    Ok(Compacted {
        before: told(&compaction)?,
        behind: sim.messages()[requests..].to_vec(),
        session,
    })
}

#[test]
fn a_session_that_drifted_stays_so_behind_a_compaction() -> Result<()> {
    let steps = strays([step(&[says("The colours are fresh.")])]);
    let played = in_time(|| Story::begin(&steps), |story| compacts(story))?;
    let Some((story, compacted)) = played else {
        return Ok(());
    };
    // The summary is made of what was said; behind it, it is said no more, and what is new is said in other words.
    let [before] = &compacted.before[..] else {
        bail!("before: {:#?}", compacted.before);
    };
    let texts: BTreeSet<String> = compacted
        .behind
        .iter()
        .map(|request| told(request)?.iter().map(Told::text).collect::<Result<String>>())
        .collect::<Result<_>>()?;
    let texts: Vec<&String> = texts.iter().filter(|text| !text.is_empty()).collect();
    let [behind] = texts[..] else {
        bail!("behind: {texts:#?}");
    };
    assert!(before.text()?.contains("src/styles/theme.css"), "{before:?}");
    assert!(behind.contains("src/styles/header.css"), "{behind}");
    assert!(!behind.contains("theme.css"), "{behind}");
    story.mode_becomes(&compacted.session, "normal")?;
    nothing_is_lost(&story.tap, &story.work.upstream)
}
