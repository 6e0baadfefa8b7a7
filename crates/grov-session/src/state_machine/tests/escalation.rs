//! Corrections that are ignored, up to a forced action.

use super::*;

#[test]
fn ignored_corrections_escalate_to_a_forced_action_which_ends_forced_mode() {
    let mut session = Session::new();
    let first = session.change("web/theme.css", Rule::Constraint, 3);
    assert_eq!(level_of(&first), Some(CorrectionLevel::Intervene));
    assert_eq!(session.mode(), SessionMode::Drifted);
    session.deliver().unwrap();

    let second = session.change("web/button.tsx", Rule::Constraint, 3);
    assert_eq!(outcomes(&second), [CorrectionOutcome::Ignored]);
    assert_eq!(level_of(&second), Some(CorrectionLevel::Halt));
    assert!(
        second
            .new_correction
            .unwrap()
            .1
            .text
            .contains("Edit of web/button.tsx")
    );
    session.deliver().unwrap();

    let third = session.change("web/card.tsx", Rule::Constraint, 3);
    assert_eq!(level_of(&third), Some(CorrectionLevel::Halt));
    assert_eq!(session.mode(), SessionMode::Drifted);
    session.deliver().unwrap();

    let fourth = session.change("web/list.tsx", Rule::Constraint, 3);
    assert!(fourth.entered_forced_mode);
    assert_eq!(level_of(&fourth), Some(CorrectionLevel::Forced));
    assert_eq!(session.mode(), SessionMode::Forced);
    let demand = session.deliver().unwrap();
    assert_eq!(
        demand.recovery_plan.first().and_then(|step| step.file.as_deref()),
        Some("web/list.tsx")
    );

    let undo = git("checkout", "web/list.tsx");
    let followed = session.on_response(&[assessed(undo, Rule::Constraint, 3)]);
    assert_eq!(outcomes(&followed), [CorrectionOutcome::Followed]);
    assert_eq!(session.mode(), SessionMode::Normal);
    assert_eq!(session.drift.state().failed_recoveries, 0);
}

#[test]
fn forced_actions_are_limited() {
    let mut session = Session::new();
    let mut said = 0;
    for number in 0..30 {
        session.change(&format!("web/{number}.css"), Rule::Constraint, 1);
        said += usize::from(session.deliver().is_some());
    }
    assert_eq!(said, 3 + usize::from(MAX_FORCED));
    assert_eq!(session.mode(), SessionMode::Forced);
    session.prompt();
    assert_eq!(session.mode(), SessionMode::Normal);
}
