//! What follows a correction: an undo or work on the goal, and what does not.

use super::*;

#[test]
fn reading_does_not_resolve_a_correction() {
    let mut session = Session::new();
    session.corrected("web/theme.css", Rule::Constraint, 3);
    let before = session.drift.state().clone();
    for file in ["README.md", "src/a.rs", "web/theme.css"] {
        let transition = session.on_response(&[assessed(read(file), Rule::Scope, 10)]);
        assert_eq!(transition, Transition::default(), "{file}");
    }
    let tests = bash("npm test", EffectKind::Test, &[]);
    assert_eq!(
        session.on_response(&[assessed(tests, Rule::Scope, 10)]),
        Transition::default()
    );
    assert_eq!(*session.drift.state(), before);
}

#[test]
fn undoing_a_violation_follows_the_correction_and_is_on_goal() {
    let mut session = Session::new();
    session.corrected("db/schema.sql", Rule::Constraint, 2);
    let undo = git("checkout --", "db/schema.sql");
    let transition = session.on_response(&[assessed(undo, Rule::Constraint, 2)]);
    assert_eq!(transition.exempt, [0]);
    assert_eq!(outcomes(&transition), [CorrectionOutcome::Followed]);
    assert_eq!(session.mode(), SessionMode::Normal);
}

#[test]
fn only_the_first_edit_of_a_file_counts_as_an_undo() {
    let mut session = Session::new();
    session.corrected("web/theme.css", Rule::Constraint, 3);
    let change = |session: &mut Session, text: &str| {
        session.on_response(&[assessed(edit("web/theme.css", text), Rule::Constraint, 3)])
    };
    let maybe = change(&mut session, "y");
    assert_eq!(outcomes(&maybe), [CorrectionOutcome::Followed]);
    // The written content comes again.
    assert!(level_of(&change(&mut session, "zx")).is_some());
    session.deliver().unwrap();
    let again = change(&mut session, "w");
    assert_eq!(outcomes(&again), [CorrectionOutcome::Ignored]);
}

#[test]
fn an_undo_may_take_several_edits() {
    let mut session = Session::new();
    let change = |session: &mut Session, text: &str| {
        session.on_response(&[assessed(edit("db/schema.sql", text), Rule::Constraint, 3)])
    };
    change(&mut session, "expires INTEGER");
    session.deliver().unwrap();
    assert_eq!(
        outcomes(&change(&mut session, "PRIMARY KEY")),
        [CorrectionOutcome::Followed]
    );
    for part in ["second part", "third part"] {
        let transition = change(&mut session, part);
        assert_eq!(
            (level_of(&transition), transition.exempt.as_slice()),
            (None, &[0][..]),
            "{part}"
        );
    }
    assert_eq!(session.mode(), SessionMode::Normal);
    assert!(level_of(&change(&mut session, "and: expires INTEGER")).is_some());
}

#[test]
fn undoing_an_earlier_violation_as_well_is_on_goal() {
    let mut session = Session::new();
    let mut breach = |file: &str, content: &str| {
        let transition = session.on_response(&[assessed(edit(file, content), Rule::Constraint, 3)]);
        let level = level_of(&transition);
        if level.is_some() {
            session.deliver().unwrap();
        }
        level
    };
    assert!(breach("src/styles/theme.css", "red").is_some());
    assert!(breach("src/styles/header.css", "blue").is_some());
    assert_eq!(breach("src/styles/header.css", "grey"), None, "the newest one");
    assert_eq!(
        breach("src/styles/theme.css", "black"),
        None,
        "and the one before"
    );
    assert!(breach("src/styles/theme.css", "green").is_some(), "once");
}

#[test]
fn returning_to_the_goal_resolves_the_correction() {
    let mut session = Session::new();
    session.corrected("web/theme.css", Rule::Tangent, 3);
    let transition = session.change("src/auth/token.ts", Rule::Scope, 9);
    assert_eq!(outcomes(&transition), [CorrectionOutcome::Followed]);
    assert_eq!(session.mode(), SessionMode::Normal);
    assert_eq!(session.drift.state().escalation, 0);
}

#[test]
fn other_work_does_not_follow_the_correction_of_a_hard_finding() {
    let mut session = Session::new();
    session.corrected("web/theme.css", Rule::Constraint, 3);
    let transition = session.change("src/auth/token.ts", Rule::Scope, 10);
    assert_eq!(outcomes(&transition), [CorrectionOutcome::Ignored]);
    let mut session = Session::new();
    session.corrected("web/theme.css", Rule::Constraint, 3);
    let back = git("checkout --", "web/theme.css");
    let transition = session.on_response(&[assessed(back, Rule::Scope, 10)]);
    assert_eq!(outcomes(&transition), [CorrectionOutcome::Followed]);
}
