//! Drift and corrections survive a crash of the daemon and a compaction of the conversation.

use super::{
    LIMITED, Story, edits, reads, recolours, repairs, repairs_then_drifts, retry_until_on_time, says, step,
    tests, waits_for,
};
use crate::injected::{InjectedText, assert_cache_preserved, injected};
use anyhow::{Context, Result, bail, ensure};
use grov_sim::RecordedRequest;
use grov_sim::request::{MessagesRequest, Purpose};
use grov_tests::{Terminal, eventually};
use std::collections::BTreeSet;
use std::sync::Arc;

#[test]
fn a_crash_between_drift_and_correction_neither_loses_nor_repeats_the_correction() -> Result<()> {
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
        story.wait_for_events(&session, 1)?;
        story.wait_for_mode(&session, "drifted")?;
        story.crash_and_restart()?;
        story.opens_gate("noticed")?;
        // Crashes again, now after the correction was injected.
        eventually("the step to be recorded", || {
            let steps = story.grov().steps(&session).ok()?;
            (steps.len() == 7).then_some(())
        })?;
        story.crash_and_restart()?;
        story.opens_gate("said")?;
        running.ends()?;
        Ok(session)
    };
    let Some((story, session)) = retry_until_on_time(|| Story::begin(&steps), play)? else {
        return Ok(());
    };
    let injected = story.injected(&session)?;
    assert_eq!(injected.len(), 1, "{injected:#?}");
    assert_eq!(story.first_request_with(&session, 0)?, 3);
    assert_eq!(story.events(&session)?.len(), 1);
    assert_eq!(story.steps(&session)?.len(), 8);
    story.wait_for_mode(&session, "normal")
}

/// A session that was compacted.
struct Compacted {
    /// The injected texts of the request that asked for the summary.
    before: Vec<InjectedText>,
    /// The requests after that one.
    after: Vec<Arc<RecordedRequest>>,
    session: String,
}

/// Drifts, compacts, drifts again in another file and recovers.
fn compacts(story: &Story) -> Result<Compacted> {
    let mut terminal = Terminal::open(&story.work.client, &story.tap.url())?;
    terminal.enter(LIMITED)?;
    terminal.wait_for_text("colours are fresh")?;
    let sim = story.work.upstream.sim();
    let session = sim
        .messages()
        .iter()
        .find_map(|request| request.header("x-claude-code-session-id").map(str::to_owned))
        .context("no session")?;
    let first = story.wait_for_events(&session, 1)?;
    story.wait_for_mode(&session, "drifted")?;

    terminal.enter("/compact")?;
    terminal.wait_for_text("Compacted")?;
    let purpose = |body: &[u8]| MessagesRequest::parse(body).map(|request| request.purpose());
    let compaction = sim
        .messages()
        .into_iter()
        .find(|request| purpose(&request.body) == Ok(Purpose::Compaction))
        .context("nothing was compacted")?;
    story.wait_for_mode(&session, "drifted")?;

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
    terminal.wait_for_text("tests are there")?;
    terminal.leave()?;
    let events = story.wait_for_events(&session, 2)?;
    assert_eq!(events.len(), 2, "{events:#?}");
    assert_eq!(events[0], first[0]);
    Ok(Compacted {
        before: injected(&compaction)?,
        after: sim.messages()[requests..].to_vec(),
        session,
    })
}

#[test]
fn drift_persists_across_a_compaction() -> Result<()> {
    let steps = repairs_then_drifts([step(&[says("The colours are fresh.")])]);
    let played = retry_until_on_time(|| Story::begin(&steps), |story| compacts(story))?;
    let Some((story, compacted)) = played else {
        return Ok(());
    };
    // The summary request contains the correction. After the compaction it is not repeated, and a new correction is
    // different. What the summary lost comes back, once.
    let [before] = &compacted.before[..] else {
        bail!("before: {:#?}", compacted.before);
    };
    let texts: BTreeSet<String> = compacted
        .after
        .iter()
        .map(|request| {
            let texts: Vec<String> = injected(request)?
                .iter()
                .map(InjectedText::text)
                .collect::<Result<_>>()?;
            let restored = texts.iter().filter(|text| text.contains("was compacted")).count();
            ensure!(restored == 1, "{restored} restorations: {texts:#?}");
            let corrections = texts.into_iter().filter(|text| !text.contains("was compacted"));
            Ok(corrections.collect::<String>())
        })
        .collect::<Result<_>>()?;
    let texts: Vec<&String> = texts.iter().filter(|text| !text.is_empty()).collect();
    let [after] = texts[..] else {
        bail!("after: {texts:#?}");
    };
    assert!(before.text()?.contains("src/styles/theme.css"), "{before:?}");
    assert!(after.contains("src/styles/header.css"), "{after}");
    assert!(!after.contains("theme.css"), "{after}");
    story.wait_for_mode(&compacted.session, "normal")?;
    assert_cache_preserved(&story.tap, &story.work.upstream)
}
