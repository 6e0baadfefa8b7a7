//! What holds for any conversation.

mod consents;
mod doubts;
mod memory;
mod properties;
mod reverts;
mod scores;

use super::*;
use crate::analyzed_action::tests::{bash, edit, read};
use grov_domain::{ActionType, EffectKind};

fn contract(scope: &[&str], allowed: &[&str], forbidden: &[&str], constraints: &[&str]) -> GoalContract {
    let list = |entries: &[&str]| entries.iter().map(|entry| (*entry).to_owned()).collect();
    GoalContract {
        goal: "Fix the parser".to_owned(),
        scope: list(scope),
        allowed: list(allowed),
        forbidden: list(forbidden),
        constraints: list(constraints),
        ..GoalContract::default()
    }
}

fn of(contract: GoalContract, action: &ActionSketch) -> Assessment {
    Rules::new(contract, Some("/home/me/p")).assess(action, None)
}

fn passed_on(rules: &Rules, root: Option<&str>) -> Rules {
    let text = serde_json::to_string(&rules.memo()).unwrap();
    let memo = serde_json::from_str(&text).unwrap();
    Rules::restore(rules.contract().clone(), root, memo).unwrap()
}

/// Rules under "Do not touch src/db/".
fn without_the_database() -> Rules {
    Rules::new(
        GoalContract {
            goal: "Fix the login".to_owned(),
            instructions: vec!["Fix the login. Do not touch src/db/".to_owned()],
            constraints: vec!["Do not touch src/db/".to_owned()],
            ..GoalContract::default()
        },
        Some("/home/me/p"),
    )
}

fn is_fact(assessment: &Assessment) -> bool {
    assessment.findings.iter().any(|finding| finding.rule.is_hard())
}
