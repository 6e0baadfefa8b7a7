//! A memory of a task that drifted is marked for review.

use super::{
    GOAL, LIMITED, Story, edits, reads, repairs, repairs_then_drifts, retry_until_on_time, says, step, tests,
    text,
};
use anyhow::{Context, Result};
use grov_tests::eventually;
use serde_json::{Value, json};

/// The final answer by which a task counts as completed, so that it becomes a memory.
const DONE: &str = "Done. Expired tokens are refused now. All tests pass. Task complete.";

/// The newest memory.
fn remembered(story: &Story) -> Result<Value> {
    eventually("the task to be remembered", || {
        let status = story.grov().run_json(&["status"]).ok()?.json;
        Some(status["last_task"].clone()).filter(|task| !task.is_null())
    })
}

fn tags(task: &Value) -> Vec<&str> {
    let tags = task["tags"].as_array().into_iter().flatten();
    tags.filter_map(Value::as_str).collect()
}

#[test]
fn a_memory_of_work_that_drifted_far_is_marked_for_review() -> Result<()> {
    let steps = repairs_then_drifts([
        step(&[edits("src/styles/header.css", "48px", "64px")]),
        // Adds to the earlier change, so it does not count as undoing it.
        step(&[edits("src/styles/theme.css", "#ff5500", "#ff5500 !important")]),
        step(&[edits("src/styles/header.css", "64px", "64px !important")]),
        step(&[tests()]),
        step(&[says(DONE)]),
    ]);
    let played = retry_until_on_time(|| Story::begin(&steps), |story| story.types(LIMITED, &[]))?;
    let Some((story, session)) = played else {
        return Ok(());
    };
    let task = remembered(&story)?;
    let events = story.events(&session)?;
    let halted = events.iter().any(|event| text(event, "level") == "halt");
    assert!(halted && events.len() == 4, "{events:#?}");
    assert_eq!(task["status"], "partial", "{task:#}");
    assert!(
        tags(&task).contains(&"had-drift") && tags(&task).contains(&"needs-review"),
        "{task:#}"
    );
    let trace = task["reasoning_trace"].as_array().context("no trace")?;
    let warnings: Vec<&str> = trace
        .iter()
        .filter_map(Value::as_str)
        .filter(|line| line.starts_with("Warning"))
        .collect();
    assert!(
        warnings
            .iter()
            .any(|line| line.contains("halt") && line.contains("src/styles")),
        "no word of warning: {task:#}"
    );
    // Actions off goal must not become team memory.
    assert_eq!(task["files_touched"], json!(["src/auth/token.ts"]), "{task:#}");
    Ok(())
}

#[test]
fn a_memory_of_work_on_goal_is_not_marked() -> Result<()> {
    let Some(story) = Story::begin(&[
        step(&[reads("src/auth/token.ts")]),
        step(&[repairs()]),
        step(&[tests()]),
        step(&[says(DONE)]),
    ])?
    else {
        return Ok(());
    };
    let session = story.types(GOAL, &[])?;
    let task = remembered(&story)?;
    assert_eq!(task["status"], "complete", "{task:#}");
    assert!(
        !tags(&task).contains(&"had-drift") && !tags(&task).contains(&"needs-review"),
        "{task:#}"
    );
    story.is_content(&session)
}
