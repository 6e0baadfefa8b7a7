//! What a prompt of the user does to a correction.

use super::*;

#[test]
fn a_prompt_overtakes_a_delivered_correction() {
    let mut session = Session::new();
    session.corrected("web/theme.css", Rule::Tangent, 3);
    let transition = session.prompt();
    assert_eq!(outcomes(&transition), [CorrectionOutcome::Overtaken]);
    assert_eq!(session.mode(), SessionMode::Normal);
    // The user let it pass, so it is not corrected again; other violations are.
    session.two_doubts();
    assert_eq!(level_of(&session.change("web/theme.css", Rule::Tangent, 3)), None);
    assert!(level_of(&session.change("docs/other.md", Rule::Constraint, 3)).is_some());
}

#[test]
fn a_prompt_drops_a_pending_correction_unless_it_has_a_hard_finding() {
    for (rule, is_dropped) in [(Rule::Tangent, true), (Rule::Constraint, false)] {
        let mut session = Session::new();
        if is_dropped {
            session.two_doubts();
        }
        session.change("web/theme.css", rule, 3);
        let now = session.context().at;
        assert_eq!(
            session.drift.deliverable_correction(now, true).is_none(),
            is_dropped
        );
        let transition = session.prompt();
        assert_eq!(transition.expired, usize::from(is_dropped));
        assert_eq!(session.drift.pending_correction().is_none(), is_dropped);
        assert_eq!(session.drift.state().escalation, u8::from(!is_dropped));
    }
}

#[test]
fn a_hard_finding_that_the_user_let_pass_is_not_corrected_again() {
    for has_objection in [false, true] {
        let mut session = Session::new();
        session.corrected("db/schema.sql", Rule::Danger, 3);
        session.prompt_with(has_objection);
        let again = session.change("db/schema.sql", Rule::Danger, 3);
        assert_eq!(level_of(&again).is_none(), !has_objection);
        assert_eq!(again.exempt.is_empty(), has_objection);
        assert_eq!(session.mode() == SessionMode::Normal, !has_objection);
    }
}

#[test]
fn a_prompt_does_not_overtake_a_correction_delivered_with_it() {
    let mut session = Session::new();
    session.change("web/theme.css", Rule::Constraint, 3);
    let arrived_at = session.context().at;
    session.deliver().unwrap();
    let at = session.context().at;
    let summary = PromptSummary {
        has_objection: false,
        arrived_at,
    };
    let transition = session.drift.on_prompt(summary, at);
    assert_eq!(outcomes(&transition), []);
    assert_eq!(session.mode(), SessionMode::Drifted);
    let followed = git("checkout", "web/theme.css");
    let transition = session.on_response(&[assessed(followed, Rule::Constraint, 3)]);
    assert_eq!(outcomes(&transition), [CorrectionOutcome::Followed]);
}
