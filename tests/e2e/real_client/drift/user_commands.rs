//! Users can change the goal, the constraints and the corrections of a running session.

use super::rounds::{Rounds, changes_styles};
use super::{GOAL, LIMITED, Story, edits, reads, recolours, repairs, runs, says, step, text};
use anyhow::{Context, Result};
use serde_json::Value;

fn appends_to(file: &str) -> Value {
    runs(&format!("echo '// {{step}}' >> {file}"))
}

#[test]
fn an_action_that_the_user_allows_is_on_goal() -> Result<()> {
    let Some(story) = Story::begin(&[])? else {
        return Ok(());
    };
    let mut rounds = Rounds::begin(&story, GOAL, &changes_styles())?;
    assert_eq!(rounds.seen.off_goal, 1, "colours have nothing to do with tokens");
    let session = rounds.session().to_owned();
    story.commands(&["goal", "allow", "src/styles/**", "--session", &session])?;
    rounds.wait_until_stable(|seen| seen.off_goal == 0)?;
    story.wait_for_mode(&session, "normal")?;
    rounds.ends_with(&[])?;
    let shown = story
        .grov()
        .run_json(&["goal", "show", "--session", &session])?
        .json;
    assert!(shown.to_string().contains("src/styles/**"), "{shown:#}");
    Ok(())
}

#[test]
fn an_action_that_the_user_forbids_is_off_goal() -> Result<()> {
    let Some(story) = Story::begin(&[])? else {
        return Ok(());
    };
    let mut rounds = Rounds::begin(&story, GOAL, &appends_to("src/auth/session.ts"))?;
    assert_eq!(rounds.seen.off_goal, 0, "sessions have to do with tokens");
    let session = rounds.session().to_owned();
    story.commands(&["goal", "forbid", "src/auth/session.ts", "--session", &session])?;
    rounds.wait_until_stable(|seen| seen.off_goal == 1)?;
    rounds.ends_with(&[])?;
    for event in story.events(&session)? {
        assert!(
            text(&event, "reason").contains("src/auth/session.ts"),
            "{event:#}"
        );
    }
    assert!(!story.injected(&session)?.is_empty());
    Ok(())
}

#[test]
fn a_constraint_that_the_user_adds_is_enforced() -> Result<()> {
    let Some(story) = Story::begin(&[])? else {
        return Ok(());
    };
    let mut rounds = Rounds::begin(&story, GOAL, &appends_to("src/auth/session.ts"))?;
    assert_eq!(rounds.seen.off_goal, 0);
    let session = rounds.session().to_owned();
    let constraint = "Do not change src/auth/session.ts";
    story.commands(&["goal", "constraint", constraint, "--session", &session])?;
    rounds.wait_until_stable(|seen| seen.off_goal == 1)?;
    rounds.ends_with(&[])?;
    let injected = story.injected(&session)?;
    let first = injected.first().context("nothing was injected")?.text()?;
    assert!(first.contains(constraint), "{first}");
    Ok(())
}

#[test]
fn a_goal_that_the_user_sets_replaces_the_old_one() -> Result<()> {
    let Some(story) = Story::begin(&[])? else {
        return Ok(());
    };
    let mut rounds = Rounds::begin(&story, GOAL, &changes_styles())?;
    assert_eq!(rounds.seen.off_goal, 1);
    let goal = "Give every part of the application an orange colour, in files of their own under src/styles";
    story.commands(&["goal", "set", goal, "--session", rounds.session()])?;
    rounds.wait_until_stable(|seen| seen.off_goal == 0)?;
    rounds.ends_with(&[])
}

#[test]
fn with_grov_off_no_further_correction_is_injected() -> Result<()> {
    let Some(story) = Story::begin(&[])? else {
        return Ok(());
    };
    let mut rounds = Rounds::begin(&story, LIMITED, &changes_styles())?;
    let session = rounds.session().to_owned();
    // Corrections are injected while Grov is on.
    while rounds.next()?.injected == 0 {}
    story.commands(&["off"])?;
    rounds.wait_until_stable(|seen| seen.injected == 0)?;
    rounds.ends_with(&[])?;
    // The texts injected before stay in place.
    assert!(!story.injected(&session)?.is_empty());
    Ok(())
}

#[test]
fn with_corrections_off_drift_is_recorded_without_injection() -> Result<()> {
    let steps = [
        step(&[reads("src/auth/token.ts")]),
        step(&[repairs()]),
        step(&[reads("src/styles/theme.css"), reads("src/styles/header.css")]),
        step(&[recolours()]),
        step(&[edits("src/styles/header.css", "48px", "64px")]),
        step(&[says("It is orange.")]),
    ];
    let Some(story) = Story::with(&steps, &[("GROV_DRIFT_CORRECTIONS", "off".to_owned())])? else {
        return Ok(());
    };
    let session = story.types(LIMITED, &[])?;
    story.steps(&session)?;
    let events = story.events(&session)?;
    assert_eq!(events.len(), 2, "{events:#?}");
    assert_eq!(story.injected(&session)?, []);
    Ok(())
}
