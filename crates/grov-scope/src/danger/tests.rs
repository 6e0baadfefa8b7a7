//! Commands that nobody asked for, and the same ones where somebody did.

mod databases;
mod files;
mod git;
mod grov;
mod nested;
mod ordinary;
mod removals;
mod requests;

use crate::Rules;
use crate::analyzed_action::tests::{bash, edit};
use grov_domain::{ActionSketch, GoalContract, Rule};

fn score(goal: &str, scope: &[&str], action: &ActionSketch) -> u8 {
    let contract = GoalContract {
        goal: goal.to_owned(),
        scope: scope.iter().map(|entry| (*entry).to_owned()).collect(),
        ..GoalContract::default()
    };
    let assessment = Rules::new(contract, Some("/home/me/p")).assess(action, None);
    let danger = assessment
        .findings
        .iter()
        .filter(|finding| finding.rule == Rule::Danger);
    danger.map(|finding| finding.at_most).min().unwrap_or(10)
}

/// Whether the guard asks about a command under a goal.
pub(super) fn is_asked(goal: &str, command: &str) -> bool {
    let contract = GoalContract {
        goal: goal.to_owned(),
        ..GoalContract::default()
    };
    let mut rules = Rules::new(contract, Some("/home/me/p"));
    rules.assess(&bash(command), None).score < 5
}
