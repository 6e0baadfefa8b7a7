//! State that is stored and resumed.

use super::*;

#[test]
fn a_session_resumes_from_the_stored_state() {
    let mut session = Session::new();
    session.corrected("web/theme.css", Rule::Constraint, 3);
    let stored = session.drift.state().clone();

    let mut later = Session::new();
    later.time = 1000;
    later
        .drift
        .resume(stored.clone(), &[], OffsetDateTime::UNIX_EPOCH);
    assert_eq!(*later.drift.state(), stored);
    let transition = later.change("web/button.tsx", Rule::Constraint, 3);
    assert_eq!(outcomes(&transition), [CorrectionOutcome::Ignored]);
    assert_eq!(level_of(&transition), Some(CorrectionLevel::Halt));
}

#[test]
fn a_hard_finding_survives_a_restart() {
    let mut session = Session::new();
    session.change("src/auth/a.ts", Rule::Constraint, 3);
    let mut again = DriftStateMachine::new(
        DriftState::new(ClientSessionId::new("s"), OffsetDateTime::UNIX_EPOCH),
        Policy::default(),
    );
    again.resume(session.drift.state().clone(), &[], OffsetDateTime::UNIX_EPOCH);
    // On-goal actions do not make it moot, because it was never delivered.
    let response = [assessed(edit("src/auth/token.ts", "x"), Rule::Scope, 9)];
    again.on_response(&response, &contract(), &session.context());
    assert!(again.pending_correction().is_some());
}

#[test]
fn update_times_increase_even_if_the_clock_is_set_back() {
    let mut session = Session::new();
    session.time = 5000;
    session.change("web/theme.css", Rule::Tangent, 3);
    let before = session.drift.state().updated_at;
    session.time = 0;
    session.change("web/button.css", Rule::Tangent, 3);
    session.prompt();
    assert!(session.drift.state().updated_at > before);
}
