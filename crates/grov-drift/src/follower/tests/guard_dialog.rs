//! What the user answered in the guard's dialog.

use super::*;

#[test]
fn approval_in_the_guards_dialog_is_consent() {
    for ran in [false, true] {
        let mut session = Session::new();
        session.prompt(GOAL);
        session.asks(ran);
        session.edit("src/billing/invoice.ts", "total(lines)");
        let check = session.prompt("go on").unwrap();
        assert_eq!((check.score, check.level), (10, None), "{check:?}");
        assert_eq!(session.steps[0].score, Some(10));
        // The same file is neither asked about nor corrected again.
        session.edit("src/billing/invoice.ts", "sum(lines)");
        assert_eq!(session.prompt("go on").unwrap().level, None);
        session.edit("src/billing/other.ts", "sum(lines)");
        assert!(session.prompt("go on").unwrap().level.is_some());
    }
}

#[test]
fn approval_in_the_guards_dialog_revises_a_stored_step() {
    let mut session = Session::new();
    session.prompt(GOAL);
    let id = session.begin_edit("src/billing/invoice.ts", "b");
    // A hook reads the call while the dialog is open, before it sees the guard's record.
    session.hook(|_| {});
    assert_eq!(session.steps[0].score, Some(3));
    session.calls -= 1;
    session.asks(true);
    session.calls += 1;
    session.result(&id, false);
    session.hook(|_| {});
    assert_eq!(session.allowed, [session.steps[0].id.clone()]);
}

#[test]
fn refusal_in_the_guards_dialog_allows_nothing() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.asks(false);
    let id = session.begin_edit("src/billing/invoice.ts", "b");
    session.result(&id, true);
    assert_eq!(session.prompt("go on").unwrap().level, None);
    session.edit("src/billing/invoice.ts", "total(lines)");
    assert_eq!(
        session.prompt("go on").unwrap().level,
        Some(CorrectionLevel::Intervene)
    );
}
