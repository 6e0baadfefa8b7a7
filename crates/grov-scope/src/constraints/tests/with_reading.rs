//! What rules understand, if a model read the prompts, too.

use super::*;
use grov_domain::{PromptReading, ReadLimit};

/// What breaks the limits of a prompt that a model read, too.
fn broken_with(constraints: &[&str], limits: &[ReadLimit], action: &ActionSketch) -> Vec<Finding> {
    let root = ProjectRoot::new(Some("/home/me/p"));
    let contract = GoalContract {
        instructions: vec![constraints.join(" ")],
        constraints: constraints.iter().map(|text| (*text).to_owned()).collect(),
        reading: Some(PromptReading {
            limits: limits.to_vec(),
            ..Default::default()
        }),
        ..GoalContract::default()
    };
    let compiled = CompiledContract::new(&root, &contract, &[], &ConstraintAges::default());
    let action = AnalyzedAction::new(&root, action);
    let mut found = compiled
        .limits
        .findings(&root, &action, &compiled, &History::default());
    found.extend(compiled.limits.questions(&root, &action, &compiled));
    found
}

fn read_limit(words: &str, files: &[&str]) -> ReadLimit {
    ReadLimit {
        words: words.to_owned(),
        files: files.iter().map(|glob| (*glob).to_owned()).collect(),
        ..Default::default()
    }
}

#[test]
fn a_path_that_the_user_wrote_holds_if_a_model_read_only_a_similar_limit() {
    let said = ["Don't touch src/a.ts.", "Don't touch src/b.ts."];
    let read = [read_limit("Don't touch src/a.ts", &["src/a.ts"])];
    for file in ["src/a.ts", "src/b.ts"] {
        assert!(!broken_with(&said, &read, &edit(file, "x")).is_empty(), "{file}");
    }
}

#[test]
fn one_path_of_a_limit_holds_if_a_model_tells_only_the_other() {
    let said = ["Don't touch src/a.ts or lib/b.ts."];
    let read = [read_limit("Don't touch src/a.ts or lib/b.ts", &["src/a.ts"])];
    for file in ["src/a.ts", "lib/b.ts"] {
        assert!(!broken_with(&said, &read, &edit(file, "x")).is_empty(), "{file}");
    }
}

#[test]
fn what_rules_understand_holds_if_a_model_tells_no_sign_of_its_breach() {
    let said = ["Leave the payments module alone."];
    let action = edit("src/payments/card.ts", "x");
    let silent = [read_limit("Leave the payments module alone", &[])];
    assert!(!broken_with(&said, &silent, &action).is_empty(), "no places");
    let told = [read_limit("Leave the payments module alone", &["lib/pay/**"])];
    assert!(broken_with(&said, &told, &action).is_empty(), "other places");
}
