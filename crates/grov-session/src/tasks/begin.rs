//! Starts tasks: sets their goal, scope and constraints.

use super::Turn;
use crate::capture::relative;
use grov_domain::{Intent, IntentQuestion, SessionState, TaskAnalysis};
use std::path::Path;

/// Maximum length of a goal, in characters.
const MAX_GOAL: usize = 200;

/// Builds the question to a judge what the user wants of a task that starts with this turn. `root` is the top of the
/// working tree.
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

/// Sets goal, scope, constraints and keywords of a task.
#[must_use]
pub fn with_intent(mut task: SessionState, intent: &Intent) -> SessionState {
    task.original_goal = goal(&intent.goal);
    task.expected_scope.clone_from(&intent.scope);
    task.constraints.clone_from(&intent.constraints);
    task.keywords.clone_from(&intent.keywords);
    task
}

/// Sets the intent of a task that starts with this turn. Without a goal in the intent, the goal of the verdict is used, or
/// else the first prompt.
#[must_use]
pub fn started(task: SessionState, intent: &Intent, analysis: &TaskAnalysis, turn: &Turn) -> SessionState {
    let mut task = with_intent(task, intent);
    if task.original_goal.is_none() {
        task.original_goal =
            goal(&analysis.goal).or_else(|| turn.prompts.first().and_then(|prompt| goal(prompt)));
    }
    task
}

/// Shortens a goal; `None` if it is empty.
fn goal(text: &str) -> Option<String> {
    let text: String = text.trim().chars().take(MAX_GOAL).collect();
    Some(text).filter(|text| !text.is_empty())
}
