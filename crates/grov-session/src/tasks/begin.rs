//! How a task begins: what the user wants of it.

use super::Turn;
use crate::capture::relative;
use grov_domain::{Intent, IntentQuestion, SessionState, TaskAnalysis};
use std::path::Path;

/// Longest goal, in characters.
const MAX_GOAL: usize = 200;

/// Asks what the user wants of a task that begins with this turn. `root` is the top of the working tree.
pub fn intent_question(turn: &Turn, root: Option<&Path>) -> IntentQuestion {
    IntentQuestion {
        prompts: turn.prompts.clone(),
        first_files: turn
            .first_files()
            .iter()
            .map(|file| relative(file, root))
            .collect(),
    }
}

/// A task of which the user wants this.
#[must_use]
pub fn with_intent(mut task: SessionState, intent: &Intent) -> SessionState {
    task.original_goal = goal(&intent.goal);
    task.expected_scope.clone_from(&intent.scope);
    task.constraints.clone_from(&intent.constraints);
    task.keywords.clone_from(&intent.keywords);
    task
}

/// A task that begins with this turn. Where the intent names no goal, the verdict's counts, and then the first prompt.
#[must_use]
pub fn begun(task: SessionState, intent: &Intent, analysis: &TaskAnalysis, turn: &Turn) -> SessionState {
    let mut task = with_intent(task, intent);
    if task.original_goal.is_none() {
        task.original_goal =
            goal(&analysis.goal).or_else(|| turn.prompts.first().and_then(|prompt| goal(prompt)));
    }
    task
}

/// A goal of bounded length; `None` if there is none.
fn goal(text: &str) -> Option<String> {
    let text: String = text.trim().chars().take(MAX_GOAL).collect();
    Some(text).filter(|text| !text.is_empty())
}
