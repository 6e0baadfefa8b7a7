//! Limits as people set them, what breaks them, and what does not. An action is a command, or `edit FILE: TEXT`, or
//! `write FILE: TEXT`.

mod commands;
mod confinement;
mod later_prompts;
mod no_limits;
mod places;
mod plain_words;
mod texts;
mod wording;

use crate::Rules;
use crate::analyzed_action::tests::{bash, edit};
use grov_domain::{ActionSketch, ActionType, GoalContract, OFF_GOAL_BELOW, Rule, TextChange};
use std::sync::Arc;

fn sketch(action: &str) -> ActionSketch {
    let written = |rest: &str, action_type| {
        let (file, text) = rest.split_once(": ").unwrap_or((rest, "x = 1"));
        let change = TextChange {
            before: (action_type == ActionType::Edit).then(String::new),
            after: text.to_owned(),
        };
        ActionSketch {
            action_type,
            change: Some(Arc::new(change)),
            ..edit(file, text)
        }
    };
    match action.split_once(' ') {
        Some(("edit", rest)) => written(rest, ActionType::Edit),
        Some(("write", rest)) => written(rest, ActionType::Write),
        _ => bash(action),
    }
}

fn breaks(constraint: &str, prompt: &str, action: &ActionSketch) -> Option<String> {
    let contract = GoalContract {
        goal: prompt.to_owned(),
        instructions: vec![prompt.to_owned()],
        constraints: vec![constraint.to_owned()],
        ..GoalContract::default()
    };
    let rules = Rules::new(contract, Some("/home/me/p"));
    let found = rules.assess_without_history(action).findings;
    let broken = found
        .into_iter()
        .find(|finding| finding.rule == Rule::Constraint && finding.at_most < OFF_GOAL_BELOW);
    broken.map(|finding| finding.reason)
}

/// Whether an action breaks a limit, or is a reason to ask.
fn breaks_a_limit(rules: &Rules, action: &str) -> bool {
    let mut found = rules.assess_without_history(&sketch(action)).findings;
    found.extend(rules.questions(&sketch(action), true));
    found.iter().any(|finding| finding.rule == Rule::Constraint)
}

/// A prompt, its limit, and the actions that break it and those that do not.
type Case<'c> = (&'c str, &'c str, &'c [&'c str], &'c [&'c str]);

/// Checks limits in their prompts, and lists all that is wrong.
fn check_in_prompts(cases: &[Case<'_>]) {
    let mut wrong = Vec::new();
    for (prompt, constraint, breaches, lawful) in cases {
        for (actions, expected) in [(breaches, true), (lawful, false)] {
            for action in *actions {
                let found = breaks(constraint, prompt, &sketch(action));
                if found.is_some() != expected {
                    wrong.push(format!("{prompt} | {constraint} | {action} | {found:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same for limits that are the whole prompt.
fn check(cases: &[(&str, &[&str], &[&str])]) {
    let in_prompts = cases
        .iter()
        .map(|(limit, breaches, lawful)| (*limit, *limit, *breaches, *lawful));
    check_in_prompts(&in_prompts.collect::<Vec<_>>());
}
