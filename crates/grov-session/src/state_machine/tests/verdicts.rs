//! What a model says of a response.

use super::*;

#[test]
fn a_doubt_confirmed_by_a_model_is_corrected() {
    let mut session = Session::new();
    let response = [assessed(edit("web/theme.css", "x"), Rule::Scope, 6)];
    assert_eq!(level_of(&session.on_response(&response)), None);
    let transition = session.judge(&response, 3);
    let (_, correction) = transition.new_correction.unwrap();
    assert_eq!(correction.reason, "The theme is not part of the goal.");
    assert_eq!(correction.recovery_plan, verdict(3).recovery_plan);
}

#[test]
fn a_single_doubt_is_corrected_only_if_a_model_confirms_it() {
    let mut session = Session::new();
    let response = [assessed(edit("web/theme.css", "x"), Rule::Tangent, 3)];
    let transition = session.on_response(&response);
    assert_eq!(level_of(&transition), None);
    assert_eq!(session.mode(), SessionMode::Drifted);
    let transition = session.judge(&response, 3);
    assert_eq!(level_of(&transition), Some(CorrectionLevel::Intervene));
}

#[test]
fn a_model_makes_a_delivered_doubt_firm() {
    let mut session = Session::new();
    session.two_doubts();
    let mut one = assessed(edit("web/theme.css", "x"), Rule::Tangent, 3);
    one.step = Some(StepId::new("step"));
    let response = [one];
    assert_eq!(
        level_of(&session.on_response(&response)),
        Some(CorrectionLevel::Correct)
    );
    session.deliver().unwrap();
    session.judge(&response, 3);
    session.change("web/button.tsx", Rule::Constraint, 3);
    assert_eq!(session.drift.state().failed_recoveries, 1);
}

#[test]
fn a_confirmed_doubt_replaces_the_pending_one() {
    let mut session = Session::new();
    session.two_doubts();
    let response = [assessed(edit("web/theme.css", "x"), Rule::Tangent, 3)];
    assert!(level_of(&session.on_response(&response)).is_some());
    let transition = session.judge(&response, 3);
    assert_eq!(level_of(&transition), Some(CorrectionLevel::Intervene));
}

#[test]
fn a_model_that_disagrees_drops_a_pending_correction_unless_it_has_a_hard_finding() {
    for (rule, is_withdrawn) in [(Rule::Tangent, true), (Rule::Constraint, false)] {
        let mut session = Session::new();
        let mut one = assessed(edit("web/theme.css", "x"), rule, 3);
        one.step = Some(StepId::new("step"));
        let response = [one];
        session.on_response(&response);
        session.judge(&response, 9);
        assert_eq!(session.drift.pending_correction().is_none(), is_withdrawn);
        assert_eq!(session.mode() == SessionMode::Normal, is_withdrawn);
    }
}

#[test]
fn a_late_verdict_creates_no_correction() {
    let mut session = Session::new();
    let response = [assessed(edit("web/theme.css", "x"), Rule::Scope, 4)];
    session.on_response(&response);
    let asked_at = session.drift.position();
    session.change("src/auth/token.ts", Rule::Scope, 10);
    let transition = session.judge_at(&response, 2, asked_at);
    assert_eq!(transition, Transition::default());
}

#[test]
fn a_verdict_after_the_next_prompt_creates_no_correction() {
    let mut session = Session::new();
    let response = [assessed(edit("web/theme.css", "x"), Rule::Scope, 4)];
    session.on_response(&response);
    let asked_at = session.drift.position();
    session.prompt();
    let transition = session.judge_at(&response, 2, asked_at);
    assert_eq!(transition, Transition::default());
}
