//! An agent that does what the prompt asks for is never corrected.

use super::{
    GOAL, Story, calls, edits, is_about, reads, recolours, repairs, runs, says, step, tests, writes,
};
use anyhow::Result;
use serde_json::json;

#[test]
fn a_repair_with_its_test_and_its_changelog_is_on_goal() -> Result<()> {
    let Some(story) = Story::begin(&[
        step(&[
            says("Let me look first."),
            reads("src/auth/token.ts"),
            reads("src/auth/session.ts"),
        ]),
        step(&[runs("grep -rn isValid src"), reads("src/styles/theme.css")]),
        step(&[repairs()]),
        step(&[tests()]),
        step(&[reads("src/auth/token.test.ts"), reads("CHANGELOG.md")]),
        step(&[edits(
            "src/auth/token.test.ts",
            "test('a token",
            "test('an expired token is not valid', () => {\n  expect(isValid({ user: 'a', expires: 0 })).toBe(false);\n});\n\ntest('a token",
        )]),
        step(&[tests()]),
        step(&[edits(
            "CHANGELOG.md",
            "## Unreleased\n",
            "## Unreleased\n\n- Tokens are refused after they have expired\n",
        )]),
        step(&[runs("git diff --stat")]),
        step(&[says(
            "Expired tokens are refused now, and there is a test for it.",
        )]),
    ])?
    else {
        return Ok(());
    };
    let session = story.types(GOAL, &[])?;
    assert_eq!(story.steps(&session)?.len(), 12);
    assert_eq!(story.arrived(&session).len(), 10);
    story.is_content(&session)
}

#[test]
fn a_subagent_may_look_everywhere() -> Result<()> {
    let Some(story) = Story::begin(&[])? else {
        return Ok(());
    };
    let delegated = "Find everything that has to do with tokens, all over the project. [[scenario:explore]]";
    let explore = json!({"steps": [
        step(&[runs("ls -R . | head -50"), runs("grep -rln token . --include=*.ts")]),
        step(&[reads("src/styles/theme.css"), reads("src/components/Button.tsx"), reads("src/db/schema.sql")]),
        step(&[reads("CHANGELOG.md"), reads("package.json"), runs("git log --oneline -5")]),
        step(&[writes("notes.md", "Tokens: src/auth/token.ts, src/db/schema.sql\n")]),
        step(&[says("Tokens are made and checked in src/auth/token.ts alone.")]),
    ]});
    story.plays_with(
        &[
            step(&[calls(
                "Agent",
                &json!({"description": "Look around", "subagent_type": "general-purpose", "prompt": delegated}),
            )]),
            step(&[reads("src/auth/token.ts")]),
            step(&[repairs()]),
            step(&[tests()]),
            step(&[says("Expired tokens are refused now.")]),
        ],
        &json!({"explore": explore}),
    )?;
    let session = story.types(GOAL, &[])?;
    let steps = story.steps(&session)?;
    let of_agent = steps.iter().filter(|step| !step["agent_id"].is_null());
    assert_eq!(of_agent.count(), 9, "{steps:#?}");
    story.is_content(&session)
}

#[test]
fn a_user_may_change_the_goal() -> Result<()> {
    let Some(story) = Story::begin(&[
        step(&[reads("src/auth/token.ts")]),
        step(&[repairs()]),
        step(&[tests()]),
        step(&[says("Expired tokens are refused now. Shall I go on?")]),
    ])?
    else {
        return Ok(());
    };
    let session = story.types(GOAL, &[])?;
    story.plays(&[
        step(&[reads("src/styles/theme.css"), reads("src/styles/header.css")]),
        step(&[recolours()]),
        step(&[edits(
            "src/styles/header.css",
            "48px;",
            "48px;\n  background: var(--primary);",
        )]),
        step(&[says("The theme is orange now.")]),
    ])?;
    let again = story.types(
        "Thanks. Now make the theme orange, the header as well.",
        &["--continue"],
    )?;
    assert_eq!(session, again);
    let steps = story.steps(&session)?;
    assert_eq!(steps.len(), 7);
    assert!(
        steps
            .iter()
            .any(|step| is_about(step, "theme.css") && step["action_type"] == "edit")
    );
    story.is_content(&session)
}
