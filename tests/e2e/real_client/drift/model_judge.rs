//! Rules judge immediately and a model judges later: it can add drift that the rules missed, and dismiss what they
//! suspected.

use super::{GOAL, Story, edits, is_about, reads, recolours, repairs, says, step, tests, text, waits_for};
use crate::judge::{all_settings, answer};
use crate::upstream::Upstream;
use anyhow::{Context, Result};
use grov_domain::Purpose;
use grov_sim::JudgeScript;
use grov_sim::json::Json;
use grov_tests::eventually;
use serde_json::{Value, json};

/// A story that a model judges too, every `interval` prompts and where the rules are suspicious.
struct Judged {
    story: Story,
    judge: Upstream,
}

impl Judged {
    fn begin(steps: &[Value], interval: u32, verdicts: &[Json]) -> Result<Option<Self>> {
        let judge = Upstream::start()?;
        let intent = json!({
            "goal": "Refuse expired tokens", "scope": ["src/auth/token.ts"], "constraints": [],
            "keywords": ["token", "expired"],
        });
        let script = JudgeScript::default().with(Purpose::ExtractIntent, answer(&intent)?);
        let script = verdicts.iter().fold(script, |script, verdict| {
            script.with(Purpose::CheckDrift, verdict.clone())
        });
        judge.sim().set_judge(script);
        let mut environment = all_settings(&judge);
        environment.push(("GROV_DRIFT_CHECK_INTERVAL", interval.to_string()));
        let story = Story::with(steps, &environment)?;
        Ok(story.map(|story| Self { story, judge }))
    }
}

fn verdict(score: u8, diagnostic: &str, plan: &Value) -> Result<Json> {
    answer(&json!({"score": score, "diagnostic": diagnostic, "recovery_plan": plan}))
}

fn fine() -> Result<Json> {
    verdict(9, "The actions serve the goal.", &json!([]))
}

#[test]
fn drift_found_only_by_the_model_is_corrected() -> Result<()> {
    let plan =
        json!([{"file": "src/auth/token.ts", "action": "Compare the expiry with the clock of the server"}]);
    let steps = [
        step(&[reads("src/auth/token.ts")]),
        step(&[says("This is the repair."), repairs(), waits_for("judged")]),
        step(&[reads("src/auth/session.ts")]),
        step(&[edits("src/auth/token.ts", "> now()", "> now() / 1000")]),
        step(&[tests(), waits_for("normal")]),
        step(&[says("Now it is repaired.")]),
    ];
    let verdict = verdict(2, "The repair compares nothing with the clock.", &plan)?;
    let Some(judged) = Judged::begin(&steps, 1, &[verdict])? else {
        return Ok(());
    };
    let story = &judged.story;
    let mut running = story.begins(GOAL)?;
    let session = running.session.clone();
    let events = story.wait_for_events(&session, 1)?;
    assert_eq!(events.len(), 1, "{events:#?}");
    let event = &events[0];
    assert!(
        is_about(event, "src/auth/token.ts") && event["drift_score"] == 2,
        "{event:#}"
    );
    assert!(
        text(event, "reason").contains("compares nothing with the clock"),
        "{event:#}"
    );
    story.wait_for_mode(&session, "drifted")?;
    story.opens_gate("judged")?;
    story.wait_for_mode(&session, "normal")?;
    story.opens_gate("normal")?;
    running.ends()?;

    assert_eq!(story.steps(&session)?.len(), 6);
    let injected = story.injected(&session)?;
    assert_eq!(injected.len(), 1, "{injected:#?}");
    let correction = injected[0].text()?;
    assert!(
        correction.contains("compares nothing with the clock")
            && correction.contains("Continue with the request in src/auth/token.ts")
            && !correction.contains("Compare the expiry"),
        "{correction}"
    );
    let explained = story
        .grov()
        .run_json(&["drift", "explain", text(event, "id")])?
        .json;
    assert_eq!(explained["correction"]["outcome"], "followed", "{explained:#}");

    // The model sees the actions and the prompts, not the agent's own text about them.
    let calls = judged.judge.sim().judge_calls();
    let asked = calls
        .iter()
        .find(|(_, call)| call.purpose == Some(Purpose::CheckDrift))
        .context("the model was never asked")?;
    assert!(asked.1.user.contains("src/auth/token.ts"), "{}", asked.1.user);
    assert!(!asked.1.user.contains("This is the repair"), "{}", asked.1.user);
    Ok(())
}

#[test]
fn a_suspicion_that_the_model_dismisses_is_dropped() -> Result<()> {
    let Some(judged) = Judged::begin(
        &[
            step(&[reads("src/auth/token.ts")]),
            step(&[repairs()]),
            step(&[reads("src/styles/theme.css"), reads("src/styles/header.css")]),
            step(&[recolours(), waits_for("judged")]),
            step(&[edits("src/styles/header.css", "48px", "64px"), waits_for("again")]),
            step(&[tests()]),
            step(&[says("It is repaired.")]),
        ],
        1000,
        &[fine()?],
    )?
    else {
        return Ok(());
    };
    let story = &judged.story;
    let mut running = story.begins(GOAL)?;
    let session = running.session.clone();
    for (gate, recorded) in [("judged", 6), ("again", 8)] {
        let is_forgiven = || {
            let steps = story.grov().steps(&session).ok()?;
            (steps.len() == recorded && story.events(&session).ok()?.is_empty()).then_some(())
        };
        eventually("the acquittal", is_forgiven).with_context(|| format!("{:#?}", story.events(&session)))?;
        story.wait_for_mode(&session, "normal")?;
        story.opens_gate(gate)?;
    }
    running.ends()?;
    story.is_content(&session)
}
