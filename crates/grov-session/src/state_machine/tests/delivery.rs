//! Corrections that are pending, delivered, taken back or dropped.

use super::*;

#[test]
fn an_expired_correction_is_not_delivered() {
    let mut session = Session::new();
    session.change("web/theme.css", Rule::Constraint, 3);
    session.time += 3600;
    assert_eq!(session.deliver(), None);
    let transition = session.change("src/auth/token.ts", Rule::Scope, 9);
    assert_eq!(transition.expired, 1);
    assert_eq!(session.mode(), SessionMode::Normal);
}

#[test]
fn an_undelivered_correction_is_pending_again() {
    let mut session = Session::new();
    session.two_doubts();
    session.change("web/theme.css", Rule::Tangent, 3);
    let delivered = session.deliver().unwrap();
    let now = session.context().at;
    assert!(session.drift.mark_undelivered(now));
    assert_eq!(
        session.drift.pending_correction().map(|one| one.id.clone()),
        Some(delivered.id)
    );
    assert!(session.drift.state().said.is_empty());
    assert!(!session.drift.mark_undelivered(now));
}

#[test]
fn a_dropped_correction_leaves_no_trace_in_the_state() {
    let mut session = Session::new();
    let mut one = assessed(edit("web/theme.css", "x"), Rule::Constraint, 3);
    one.call = Some("call".to_owned());
    session.on_response(&[one]);
    assert_eq!(session.drift.pending_call(), Some("call"));
    let at = session.context().at;
    assert_eq!(session.drift.drop_pending(at).expired, 1);
    assert_eq!((session.deliver(), session.mode()), (None, SessionMode::Normal));
    assert_eq!(session.drift.state().escalation, 0);
}
