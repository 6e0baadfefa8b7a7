//! Limits in words, and whether the guard asks about actions near them: `data/limits.txt`, read as a prompt is read.
#![forbid(unsafe_code)]
#![allow(
    clippy::panic,
    clippy::print_stdout,
    reason = "what goes wrong fails the test, and is listed"
)]

use grov_domain::{ActionSketch, ActionType, GoalContract, IntentQuestion, OFF_GOAL_BELOW};
use grov_scope::{AnalyzedAction, ProjectRoot, Rules};

const ROOT: &str = "/home/me/p";

/// An action: a command, or `edit FILE`.
fn sketch(action: &str) -> ActionSketch {
    if let Some(file) = action.strip_prefix("edit ") {
        return ActionSketch {
            files: vec![file.to_owned()],
            content: Some("x = 1".to_owned()),
            ..ActionSketch::empty(ActionType::Edit)
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
    let mut request = "";
    let mut limit = "";
    let mut rules = None;
    let (mut wrong, mut right) = (Vec::new(), 0);
    for line in include_str!("data/limits.txt").lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(rest) = line.strip_prefix("@ ") {
            request = rest;
            continue;
        }
        let (Some((mark @ ("!" | "."), action)), Some(rules)) = (line.split_once(' '), &rules) else {
            limit = line;
            rules = Some(rules_of(&request.replace("{}", limit)));
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
