//! Limits in words, and whether the guard asks about actions near them: `data/limits.txt`, read as a prompt is read, and
//! `data/explicit.txt`, whole prompts with limits that name what they are about.
#![forbid(unsafe_code)]
#![allow(
    clippy::panic,
    clippy::print_stdout,
    reason = "what goes wrong fails the test, and is listed"
)]

use grov_domain::{ActionSketch, ActionType, GoalContract, IntentQuestion, OFF_GOAL_BELOW, TextChange};
use grov_scope::{AnalyzedAction, ProjectRoot, Rules};
use std::sync::Arc;

const ROOT: &str = "/home/me/p";

/// An action: a command, or `edit FILE: TEXT`, or `write FILE: TEXT`.
fn sketch(action: &str) -> ActionSketch {
    let kinds = [("edit ", ActionType::Edit), ("write ", ActionType::Write)];
    let kind = kinds
        .iter()
        .find_map(|(prefix, kind)| Some((action.strip_prefix(prefix)?, *kind)));
    if let Some((rest, kind)) = kind {
        let (file, text) = rest.split_once(": ").unwrap_or((rest, "x = 1"));
        let change = TextChange {
            before: (kind == ActionType::Edit).then(String::new),
            after: text.to_owned(),
        };
        return ActionSketch {
            files: vec![file.to_owned()],
            content: Some(text.to_owned()),
            change: Some(Arc::new(change)),
            ..ActionSketch::empty(kind)
        };
    }
    let input = serde_json::json!({ "command": action });
    let action = grov_actions::understand(&grov_actions::ToolCall {
        name: "Bash",
        id: None,
        input: (&input).into(),
        working_directory: Some(ROOT),
    });
    ActionSketch::of(&action)
}

/// The rules of a prompt.
fn rules_of(prompt: &str) -> Rules {
    let intent = grov_rules::extract_intent(&IntentQuestion {
        prompts: vec![prompt.to_owned()],
        ..IntentQuestion::default()
    });
    let contract = GoalContract {
        goal: intent.goal,
        instructions: vec![prompt.to_owned()],
        constraints: intent.constraints,
        ..GoalContract::default()
    };
    Rules::new(contract, Some(ROOT))
}

/// Why the guard asks about an action.
fn question(rules: &Rules, action: &ActionSketch) -> Option<String> {
    let analyzed = AnalyzedAction::new(&ProjectRoot::new(Some(ROOT)), action);
    let effects = &action.effects;
    let tests = |effect: &grov_domain::EffectKind| {
        matches!(
            effect,
            grov_domain::EffectKind::Read | grov_domain::EffectKind::Test
        )
    };
    let is_harmless = !analyzed.needs_rules()
        && (analyzed.is_read_only() || !effects.is_empty() && effects.iter().all(tests));
    let found = if is_harmless {
        rules.effect_questions(action)
    } else {
        let mut found = rules.assess_without_history(action).findings;
        found.extend(rules.questions(action, true));
        found
    };
    found
        .into_iter()
        .find(|finding| finding.rule == grov_domain::Rule::Constraint && finding.at_most < OFF_GOAL_BELOW)
        .map(|finding| finding.reason)
}

#[test]
fn the_guard_asks_about_what_breaks_a_limit_and_nothing_else() {
    check(include_str!("data/limits.txt"));
}

#[test]
fn no_explicit_limit_is_missed_however_it_is_said() {
    check(include_str!("data/explicit.txt"));
}

/// Checks the actions of a file.
fn check(data: &str) {
    let mut request = "";
    let mut limit = "";
    let mut rules = None;
    let (mut wrong, mut right) = (Vec::new(), 0);
    for line in data.lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(rest) = line.strip_prefix("@ ") {
            request = rest;
            continue;
        }
        let (Some((mark @ ("!" | "."), action)), Some(rules)) = (line.split_once(' '), &rules) else {
            limit = line;
            rules = Some(rules_of(&request.replace("{}", limit).replace("\\n", "\n")));
            continue;
        };
        let reason = question(rules, &sketch(action));
        if reason.is_some() == (mark == "!") {
            right += 1;
        } else {
            wrong.push(format!(
                "{limit} | {line} | {reason:?} | {:?}",
                rules.contract().constraints
            ));
        }
    }
    println!("{right} right, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
