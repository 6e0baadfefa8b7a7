//! Which actions are corrected, how strongly, and with which text.

use super::super::response::MAX_DESCRIPTION;
use super::*;

#[test]
fn mild_scores_are_corrected_only_if_they_persist() {
    let mut session = Session::new();
    let levels: Vec<_> = (0..9)
        .map(|number| {
            let level = level_of(&session.change(&format!("{number}.rs"), Rule::Repetition, 7));
            session.deliver();
            level
        })
        .collect();
    let summary: Vec<usize> = (0..9).filter(|index| levels[*index].is_some()).collect();
    assert_eq!(summary, [2, 6]);
    assert_eq!(levels[2], Some(CorrectionLevel::Nudge));
}

#[test]
fn hard_findings_are_corrected_at_once_at_any_score() {
    for (score, expected) in [
        (7, CorrectionLevel::Nudge),
        (6, CorrectionLevel::Correct),
        (4, CorrectionLevel::Intervene),
        (1, CorrectionLevel::Halt),
    ] {
        let mut session = Session::new();
        let transition = session.change("db/schema.sql", Rule::Constraint, score);
        assert_eq!(level_of(&transition), Some(expected), "{score}");
    }
}

#[test]
fn the_worst_action_of_a_response_gets_the_only_correction() {
    let mut session = Session::new();
    let transition = session.on_response(&[
        assessed(edit("src/auth/token.ts", "x"), Rule::Scope, 10),
        assessed(edit("web/theme.css", "x"), Rule::Tangent, 3),
        assessed(edit("db/schema.sql", "x"), Rule::Constraint, 2),
    ]);
    let (index, correction) = transition.new_correction.unwrap();
    assert_eq!((index, correction.score), (Some(2), 2));
}

#[test]
fn subagents_are_corrected_for_hard_findings_only_and_resolve_nothing() {
    let delegated = |action, rule, score| AssessedAction {
        is_delegated: true,
        ..assessed(action, rule, score)
    };
    let mut session = Session::new();
    for number in 0..20 {
        let far = edit(&format!("far/{number}.rs"), "x");
        let transition = session.on_response(&[delegated(far, Rule::Tangent, 1)]);
        assert_eq!(transition, Transition::default());
    }
    session.corrected("web/theme.css", Rule::Tangent, 3);
    let near = delegated(edit("src/auth/token.ts", "x"), Rule::Scope, 10);
    assert_eq!(session.on_response(&[near]), Transition::default());
    let fact = delegated(edit("db/schema.sql", "x"), Rule::Constraint, 2);
    assert!(level_of(&session.on_response(&[fact])).is_some());
}

#[test]
fn a_doubt_is_corrected_mildly_once_and_never_escalates() {
    let mut session = Session::new();
    let mut levels = Vec::new();
    for number in 0..20 {
        let file = format!("docs/{number}.md");
        levels.push(level_of(&session.change(&file, Rule::Tangent, 2)));
        if let Some(said) = session.deliver() {
            assert!(said.text.contains("estimate by rules"), "{}", said.text);
            let plan = format!("{} {:?}", said.text, said.recovery_plan).to_lowercase();
            assert!(!plan.contains("undo") && !plan.contains("stop"), "{plan}");
        }
    }
    let summary: Vec<usize> = (0..20).filter(|index| levels[*index].is_some()).collect();
    assert_eq!(summary, [2]);
    assert_eq!(levels[2], Some(CorrectionLevel::Correct));
    let state = session.drift.state();
    assert_eq!((state.escalation, state.failed_recoveries), (0, 0));
    assert_eq!(session.mode(), SessionMode::Drifted);

    // A prompt alone does not reset the limit; another goal does.
    session.prompt();
    session.drift.on_new_request();
    session.two_doubts();
    assert_eq!(level_of(&session.change("docs/more.md", Rule::Tangent, 2)), None);
    session.prompt();
    session.drift.on_new_request();
    session.contract.goal = "Translate the manual".to_owned();
    session.two_doubts();
    assert!(level_of(&session.change("docs/last.md", Rule::Tangent, 2)).is_some());
}

#[test]
fn the_description_of_an_action_contains_no_partial_secret() {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let command = format!(
        "curl {} -H 'Authorization: Bearer {key}'",
        "x".repeat(MAX_DESCRIPTION - 50)
    );
    let description = described(&bash(&command, EffectKind::Network, &[]));
    assert!(!description.contains("ghp_"), "{description}");
}

#[test]
fn the_state_is_tracked_while_corrections_are_disabled() {
    let mut session = Session::new();
    session.drift.policy.corrects = false;
    for number in 0..10 {
        let transition = session.change(&format!("{number}.css"), Rule::Constraint, 1);
        assert_eq!(level_of(&transition), None);
    }
    assert_eq!(session.mode(), SessionMode::Drifted);
}
