//! Whoever leaves the goal is told so, and the way back is noticed.

use super::rounds::{Rounds, paints};
use super::{
    GOAL, LIMITED, Story, edits, in_time, is_about, reads, recolours, repairs, runs, says, step, strays,
    tests, text, writes,
};
use anyhow::{Context, Result};
use serde_json::Value;

/// Where the agent wanders off to, one after the other, from the fifth step on.
const TANGENT: [&str; 3] = [
    "src/styles/theme.css",
    "src/components/Button.tsx",
    "src/pages/welcome.html",
];

/// Repairs what was asked for, turns to the looks of the application, and comes back.
fn tangent() -> Vec<Value> {
    vec![
        step(&[reads("src/auth/token.ts")]),
        step(&[says("The expiry is never looked at."), repairs()]),
        step(&[tests()]),
        step(&[reads(TANGENT[0]), reads(TANGENT[1])]),
        step(&[says("The colours could be fresher, too."), recolours()]),
        step(&[edits("src/components/Button.tsx", "primary", "primary large")]),
        step(&[writes(
            TANGENT[2],
            "<main class=\"hero\">\n  <h1>Welcome, friend</h1>\n</main>\n",
        )]),
        step(&[says("Back to the tokens."), reads("src/auth/token.test.ts")]),
        step(&[edits("src/auth/token.test.ts", "test('a", "test('that a")]),
        step(&[tests()]),
        step(&[says("Expired tokens are refused now.")]),
    ]
}

fn is_noticed_said_once_and_over(arguments: &[&str]) -> Result<()> {
    let played = in_time(|| Story::begin(&tangent()), |story| story.types(GOAL, arguments))?;
    let Some((story, session)) = played else {
        return Ok(());
    };
    let steps = story.steps(&session)?;

    // Noticed when it begins. What is not a matter of fact is said when it goes on.
    let events = story.events(&session)?;
    assert_eq!(events.len(), TANGENT.len(), "{events:#?}\n{steps:#?}");
    for (event, file) in events.iter().zip(TANGENT) {
        assert!(
            is_about(event, file) && text(event, "reason").contains(file),
            "{event:#}"
        );
        let score = event["drift_score"].as_u64().context("no score")?;
        assert!((1..=4).contains(&score), "{event:#}");
    }
    let corrected = |event: &Value| !event["correction_given"].is_null();
    let place = events.iter().position(corrected).context("nothing is said")?;
    let event = &events[place];
    assert!(!text(event, "level").is_empty(), "{event:#}");
    assert!(
        !event["recovery_plan"].as_array().context("no plan")?.is_empty(),
        "{event:#}"
    );

    // Behind the result of the very action, in the next request and in all that follow.
    let told = story.told(&session)?;
    assert_eq!(told.len(), 1, "{told:#?}");
    assert_eq!(story.first_with(&session, 0)?, 5 + place);
    assert_eq!(told[0].behind, story.change_of(&session, TANGENT[place], 0)?);
    let said = told[0].text()?;
    assert!(
        said.contains(TANGENT[place]) && said.contains("expired"),
        "{said}"
    );
    assert!(
        said.contains(text(event, "correction_given").trim()),
        "{said}\n{event:#}"
    );

    // What is off goal is no step, and steps are recorded again as soon as the agent is back.
    assert_eq!(steps.len(), 8);
    assert!(
        steps.iter().all(|step| step["drift_score"].as_u64() >= Some(8)),
        "{steps:#?}"
    );
    story.mode_becomes(&session, "normal")
}

#[test]
fn a_tangent_is_noticed_when_it_begins_and_said_once() -> Result<()> {
    is_noticed_said_once_and_over(&[])
}

#[test]
fn a_tangent_is_noticed_with_models_of_the_older_dialect_as_well() -> Result<()> {
    is_noticed_said_once_and_over(&["--model", "claude-sonnet-4-5"])
}

#[test]
fn whoever_undoes_all_that_it_should_not_have_done_is_on_its_way_back() -> Result<()> {
    let steps = strays([
        step(&[edits("src/styles/header.css", "48px", "64px")]),
        step(&[edits("src/styles/header.css", "64px", "48px")]),
        step(&[edits("src/styles/theme.css", "#ff5500", "#0055ff")]),
        step(&[tests()]),
        step(&[says(
            "Expired tokens are refused now; everything else is as it was.",
        )]),
    ]);
    let played = in_time(|| Story::begin(&steps), |story| story.types(LIMITED, &[]))?;
    let Some((story, session)) = played else {
        return Ok(());
    };
    story.steps(&session)?;
    let events = story.events(&session)?;
    assert_eq!(events.len(), 2, "{events:#?}");
    let told = story.told(&session)?;
    assert_eq!(told.len(), 2, "{told:#?}");
    story.mode_becomes(&session, "normal")
}

#[test]
fn what_the_user_forbade_is_held_against_every_way_to_do_it() -> Result<()> {
    let steps = [
        step(&[reads("src/auth/token.ts"), reads("src/db/schema.sql")]),
        step(&[repairs()]),
        step(&[edits(
            "src/db/schema.sql",
            "PRIMARY KEY",
            "PRIMARY KEY,\n  expires INTEGER",
        )]),
        step(&[edits(
            "src/db/schema.sql",
            "PRIMARY KEY,\n  expires INTEGER",
            "PRIMARY KEY",
        )]),
        step(&[tests()]),
        step(&[runs("sed -i 's/TEXT/VARCHAR/' src/db/schema.sql")]),
        step(&[runs("git checkout -- src/db/schema.sql")]),
        step(&[tests()]),
        step(&[says("Expired tokens are refused now.")]),
    ];
    let played = in_time(
        || Story::begin(&steps),
        |story| story.types(&format!("{GOAL} Don't touch src/db/schema.sql."), &[]),
    )?;
    let Some((story, session)) = played else {
        return Ok(());
    };
    let steps = story.steps(&session)?;
    // What was undone is no second breach.
    let events = story.events(&session)?;
    let kinds: Vec<&str> = events.iter().map(|event| text(event, "action_type")).collect();
    assert_eq!(kinds, ["edit", "bash"], "{events:#?}");
    assert_eq!(steps.len(), 7, "{steps:#?}");
    let told = story.told(&session)?;
    assert_eq!(told.len(), 2, "{told:#?}");
    assert_eq!(
        (story.first_with(&session, 0)?, story.first_with(&session, 1)?),
        (3, 6)
    );
    for (event, said) in events.iter().zip(&told) {
        assert!(event["drift_score"].as_u64() < Some(5), "{event:#}");
        assert!(text(event, "reason").contains("src/db/schema.sql"), "{event:#}");
        let said = said.text()?.to_lowercase();
        assert!(said.contains("don't touch src/db/schema.sql"), "{said}");
    }
    story.mode_becomes(&session, "normal")
}

#[test]
fn whoever_turns_in_circles_is_told() -> Result<()> {
    let there = || edits("src/auth/token.ts", "!== ''", "!== null");
    let back = || edits("src/auth/token.ts", "!== null", "!== ''");
    let steps = [
        step(&[reads("src/auth/token.ts")]),
        step(&[there()]),
        step(&[back()]),
        step(&[there()]),
        step(&[back()]),
        step(&[there()]),
        step(&[back()]),
        step(&[tests()]),
        step(&[repairs()]),
        step(&[tests()]),
        step(&[says("Expired tokens are refused now.")]),
    ];
    let played = in_time(|| Story::begin(&steps), |story| story.types(GOAL, &[]))?;
    let Some((story, session)) = played else {
        return Ok(());
    };
    let told = story.told(&session)?;
    let first = told.first().context("it was told nothing")?.text()?;
    assert!(first.contains("src/auth/token.ts"), "{first}");
    // One change and its undoing are no circle; the second round is one, and its beginning is enough.
    let number = story.first_with(&session, 0)?;
    assert!(
        (4..=7).contains(&number),
        "first told in request {number}: {first}"
    );
    story.mode_becomes(&session, "normal")
}

#[test]
fn what_only_does_not_look_related_is_told_mildly_and_seldom() -> Result<()> {
    let Some(story) = Story::begin(&[])? else {
        return Ok(());
    };
    let mut rounds = Rounds::begin(&story, GOAL, &paints())?;
    let session = rounds.session().to_owned();
    while rounds.next()?.told == 0 {}
    for _ in 0..8 {
        assert_eq!(rounds.next()?.off_goal, 1);
    }
    assert!((1..=2).contains(&rounds.seen.told), "{:?}", rounds.seen);
    rounds.ends_with(&[])?;
    assert_ne!(story.mode(&session)?, "forced");
    let events = story.events(&session)?;
    let strong = events
        .iter()
        .filter(|event| ["intervene", "halt", "forced"].contains(&text(event, "level")));
    assert_eq!(strong.count(), 0, "{events:#?}");
    Ok(())
}

#[test]
fn whoever_goes_on_with_what_is_forbidden_is_told_more_strongly_until_there_is_but_one_way() -> Result<()> {
    let play = |story: &mut Story| {
        let mut rounds = Rounds::begin(story, LIMITED, &paints())?;
        let session = rounds.session().to_owned();
        while story.mode(&session)? != "forced" {
            rounds.next()?;
        }
        let events = story.events(&session)?;
        let newest = events.last().context("nothing is off goal")?;
        let file = newest["files"][0].as_str().context("no file")?;
        // What is demanded.
        let back = [
            step(&[runs(&format!("rm '{file}'"))]),
            step(&[tests()]),
            step(&[says("Expired tokens are refused now.")]),
        ];
        rounds.ends_with(&back)?;
        story.steps(&session)?;
        Ok(session)
    };
    let Some((story, session)) = in_time(|| Story::begin(&[]), play)? else {
        return Ok(());
    };
    story.mode_becomes(&session, "normal")?;
    let events = story.events(&session)?;
    let levels: Vec<&str> = events.iter().map(|event| text(event, "level")).collect();
    // After three that were not followed.
    assert_eq!(levels, ["intervene", "halt", "halt", "forced"], "{events:#?}");
    // Each in the very next request.
    let told = story.told(&session)?;
    assert_eq!(told.len(), 4, "{told:#?}");
    for at in 0..4 {
        assert_eq!(story.first_with(&session, at)?, 2 + at);
    }
    Ok(())
}
