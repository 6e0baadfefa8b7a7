//! Rules judge at once, a model later: what it finds is held against the agent, what it does not mind is forgiven.

use super::{GOAL, Story, edits, is_about, reads, recolours, repairs, says, step, tests, text};
use crate::judge::{answer, settings};
use crate::upstream::Upstream;
use anyhow::{Context, Result};
use grov_domain::Purpose;
use grov_sim::JudgeScript;
use grov_sim::json::Json;
use grov_tests::eventually;
use serde_json::{Value, json};

/// A story that is judged by a model as well, at every prompt.
struct Judged {
    story: Story,
    judge: Upstream,
}

impl Judged {
    fn begin(steps: &[Value], verdicts: &[Json]) -> Result<Option<Self>> {
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
        let mut environment = settings(&judge);
        environment.push(("GROV_DRIFT_CHECK_INTERVAL", "1".to_owned()));
        let story = Story::with(steps, &environment)?;
        Ok(story.map(|story| Self { story, judge }))
    }

    /// Waits until the model has judged so often.
    fn is_judged(&self, times: usize) -> Result<()> {
        eventually("the model's verdict", || {
            let calls = self.judge.sim().judge_calls();
            let judged = calls.iter().filter(|(request, call)| {
                call.purpose == Some(Purpose::CheckDrift) && request.delivery().is_some()
            });
            (judged.count() >= times).then_some(())
        })
    }
}

fn verdict(score: u8, diagnostic: &str, plan: &Value) -> Result<Json> {
    answer(&json!({"score": score, "diagnostic": diagnostic, "recovery_plan": plan}))
}

fn fine() -> Result<Json> {
    verdict(9, "The actions serve the goal.", &json!([]))
}

#[test]
fn what_a_model_finds_where_rules_saw_nothing_is_held_against_the_agent() -> Result<()> {
    let plan =
        json!([{"file": "src/auth/token.ts", "action": "Compare the expiry with the clock of the server"}]);
    let verdicts = [
        verdict(2, "The repair compares nothing with the clock.", &plan)?,
        fine()?,
    ];
    let Some(judged) = Judged::begin(
        &[
            step(&[reads("src/auth/token.ts")]),
            step(&[repairs()]),
            step(&[says("It is repaired. Shall I add a test?")]),
        ],
        &verdicts,
    )?
    else {
        return Ok(());
    };
    let story = &judged.story;
    let session = story.types(GOAL, &[])?;
    let events = story.events_when(&session, 1)?;
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
    assert_eq!(story.steps(&session)?.len(), 1);
    story.mode_becomes(&session, "drifted")?;

    // A model is shown which files are changed: a question that differs gets another answer.
    let server = edits("src/auth/session.ts", "3600", "1800");
    story.plays(&[
        step(&[reads("src/auth/session.ts")]),
        step(&[edits("src/auth/token.ts", "> now()", "> now() / 1000"), server]),
        step(&[tests()]),
        step(&[says("Now it is.")]),
    ])?;
    story.types("Yes, please.", &["--continue"])?;
    let told = story.told(&session)?;
    assert_eq!(told.len(), 1, "{told:#?}");
    let said = told[0].text()?;
    assert!(
        said.contains("compares nothing with the clock") && said.contains("Compare the expiry"),
        "{said}"
    );
    story.mode_becomes(&session, "normal")?;

    // The model sees what was done and asked, not what the agent says about it.
    let calls = judged.judge.sim().judge_calls();
    let asked = calls
        .iter()
        .find(|(_, call)| call.purpose == Some(Purpose::CheckDrift))
        .context("the model was never asked")?;
    assert!(asked.1.user.contains("src/auth/token.ts"), "{}", asked.1.user);
    assert!(!asked.1.user.contains("Shall I add a test"), "{}", asked.1.user);
    Ok(())
}

#[test]
fn what_a_model_does_not_mind_is_forgiven() -> Result<()> {
    let Some(judged) = Judged::begin(
        &[
            step(&[reads("src/auth/token.ts"), reads("src/styles/theme.css")]),
            step(&[repairs()]),
            step(&[recolours()]),
            step(&[tests()]),
            step(&[says("It is repaired.")]),
        ],
        &[fine()?],
    )?
    else {
        return Ok(());
    };
    let story = &judged.story;
    let session = story.types(GOAL, &[])?;
    judged.is_judged(1)?;
    story.mode_becomes(&session, "normal")?;
    eventually("the better score", || {
        let steps = story.steps(&session).ok()?;
        let of_theme = steps
            .iter()
            .find(|step| is_about(step, "theme.css") && step["action_type"] == "edit");
        (of_theme?["drift_score"].as_u64() >= Some(8)).then_some(())
    })?;
    assert!(story.told(&session)?.len() <= 1);
    Ok(())
}
