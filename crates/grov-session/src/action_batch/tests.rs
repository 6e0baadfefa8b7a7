use super::*;
use grov_domain::ActionType;
use proptest::prelude::*;

fn edit(file: &str) -> ActionSketch {
    ActionSketch {
        action_type: ActionType::Edit,
        files: vec![file.to_owned()],
        command: None,
        effects: Vec::new(),
        reasoning: None,
        failed: None,
        output: None,
        content: Some("x".repeat(1000)),
        line: None,
        change: None,
    }
}

fn found(rule: Rule, at_most: u8) -> Assessment {
    Assessment {
        score: at_most,
        findings: vec![Finding::new(rule, at_most, None, "a reason")],
    }
}

fn batch(on_goal: usize, off_goal: usize) -> ActionBatch {
    let mut batch = ActionBatch::default();
    for at in 0..on_goal {
        batch.add(None, &edit(&format!("on/{at}")), &Assessment::on_goal(), false);
    }
    for at in 0..off_goal {
        batch.add(
            Some(&at.to_string()),
            &edit(&format!("off/{at}")),
            &found(Rule::Tangent, 4),
            false,
        );
    }
    batch
}

#[test]
fn the_score_is_the_share_of_on_goal_changes_less_deductions() {
    for (on_goal, off_goal, expected) in [
        (0, 0, 10),
        (5, 0, 10),
        (0, 1, 3),
        (0, 2, 2),
        (0, 3, 1),
        (0, 50, 1),
        (1, 1, 5),
        (2, 1, 6),
        (3, 1, 7),
        (10, 1, 8),
        (1, 2, 3),
        (1, 9, 1),
    ] {
        assert_eq!(
            batch(on_goal, off_goal).score(),
            expected,
            "{on_goal} on, {off_goal} off"
        );
    }
}

#[test]
fn reads_do_not_affect_the_score() {
    let mut looked = batch(0, 1);
    let read = ActionSketch {
        action_type: ActionType::Read,
        ..edit("a")
    };
    for _ in 0..9 {
        looked.add(None, &read, &Assessment::on_goal(), false);
    }
    assert_eq!((looked.score(), looked.actions), (3, 10));
}

#[test]
fn a_hard_finding_caps_the_score() {
    let mut mostly = batch(30, 0);
    mostly.add(None, &edit("src/auth.rs"), &found(Rule::Constraint, 3), false);
    assert_eq!(mostly.score(), 3);
    let mut many = batch(0, 40);
    many.add(None, &edit("src/auth.rs"), &found(Rule::Danger, 2), false);
    assert_eq!(many.off_goal.len(), MAX_OFF_GOAL);
    assert_eq!(many.gravest_first()[0].1.rule, Rule::Danger);
}

#[test]
fn a_repeatedly_changed_file_costs_two_points() {
    let mut again = ActionBatch::default();
    for _ in 0..3 {
        again.add(None, &edit("src/a.rs"), &Assessment::on_goal(), false);
    }
    assert_eq!(again.score(), 8);
    assert_eq!(again.repeated_files().collect::<Vec<_>>(), ["src/a.rs"]);
    let mut said = again.clone();
    let mut repetition = found(Rule::Repetition, 4);
    repetition.findings[0].file = Some("a.rs".to_owned());
    said.add(None, &edit("src/b.rs"), &repetition, false);
    assert_eq!(said.repeated_files().count(), 0, "the rules said it");
    let mut spread = ActionBatch::default();
    for file in ["a", "b", "a", "c", "d", "e", "a"] {
        spread.add(None, &edit(file), &Assessment::on_goal(), false);
    }
    assert_eq!(spread.score(), 10);
}

#[test]
fn failed_calls_do_not_affect_the_score() {
    let mut failed = batch(1, 1);
    failed.drop_call("0");
    failed.drop_call("unknown");
    assert_eq!(failed.score(), 10);
}

proptest! {
    #[test]
    fn more_off_goal_actions_never_raise_the_score(on_goal in 0_usize..40, off_goal in 0_usize..40) {
        let score = batch(on_goal, off_goal).score();
        prop_assert!((1..=10).contains(&score));
        prop_assert!(batch(on_goal, off_goal + 1).score() <= score);
    }
}
