//! Commands that nobody asked for, and the same ones where somebody did.

mod databases;
mod files;
mod git;
mod grov;
mod nested;
mod orders;
mod ordinary;
mod removals;
mod requests;

use crate::Rules;
use crate::analyzed_action::tests::{bash, edit};
use grov_domain::{ActionSketch, GoalContract, Rule};
use std::ops::RangeInclusive;

/// The score of what is no danger.
const NO_DANGER: RangeInclusive<u8> = 10..=10;

/// The score of the dangers of an action under a goal and an expected scope.
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

/// Checks commands under a goal each, and lists those that the guard wrongly asks about, or wrongly does not.
fn check_questions<'c>(expected: bool, cases: impl IntoIterator<Item = (&'c str, &'c str)>) {
    let is_wrong = |(goal, command): &(&str, &str)| is_asked(goal, command) != expected;
    let wrong: Vec<_> = cases.into_iter().filter(is_wrong).collect();
    assert!(wrong.is_empty(), "asked should be {expected}: {wrong:#?}");
}

/// The guard asks about each of these commands under its goal.
pub(super) fn requests_asked(cases: &[(&str, &str)]) {
    check_questions(true, cases.iter().copied());
}

/// The guard asks about none of these commands under its goal.
pub(super) fn requests_silent(cases: &[(&str, &str)]) {
    check_questions(false, cases.iter().copied());
}

/// A goal that commands are checked under.
pub(super) struct Goal<'g>(&'g str);

pub(super) fn under(goal: &str) -> Goal<'_> {
    Goal(goal)
}

impl Goal<'_> {
    /// The guard asks about each of these commands.
    pub(super) fn asked(&self, commands: &[&str]) {
        check_questions(true, commands.iter().map(|command| (self.0, *command)));
    }

    /// The guard asks about none of these commands.
    pub(super) fn silent(&self, commands: &[&str]) {
        check_questions(false, commands.iter().map(|command| (self.0, *command)));
    }
}

/// Checks the scores of the dangers of commands, under a goal each, and lists all that are wrong.
fn check_dangers<'c>(cases: impl IntoIterator<Item = (&'c str, &'c str, RangeInclusive<u8>)>) {
    let mut wrong = Vec::new();
    for (goal, command, expected) in cases {
        let found = score(goal, &[], &bash(command));
        if !expected.contains(&found) {
            wrong.push(format!("{goal} | {command} | {found}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The dangers of these commands score at most so much each, under a goal that is about something else.
fn dangers_at_most(cases: &[(&str, u8)]) {
    check_dangers(
        cases
            .iter()
            .map(|(command, most)| ("Fix the parser", *command, 0..=*most)),
    );
}

/// What the dangers of commands under a goal must score.
struct Dangers<'g>(&'g str, RangeInclusive<u8>);

fn dangers(goal: &str, expected: RangeInclusive<u8>) -> Dangers<'_> {
    Dangers(goal, expected)
}

impl Dangers<'_> {
    fn of(&self, commands: &[&str]) {
        check_dangers(commands.iter().map(|command| (self.0, *command, self.1.clone())));
    }
}

/// What the dangers of commands must score, under a goal each.
struct RequestedDangers(RangeInclusive<u8>);

impl RequestedDangers {
    fn of(&self, cases: &[(&str, &str)]) {
        check_dangers(
            cases
                .iter()
                .map(|(goal, command)| (*goal, *command, self.0.clone())),
        );
    }
}
