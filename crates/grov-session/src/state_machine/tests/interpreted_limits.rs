//! Limits that were read from words: they may be misread, and so are corrected mildly.

use super::*;

/// An action that breaks a limit read from words.
fn interpreted(file: &str, limit: &str) -> AssessedAction {
    let mut one = assessed(edit(file, file), Rule::Constraint, 3);
    for finding in &mut one.assessment.findings {
        finding.is_interpreted = true;
        finding.reason = format!("{file} is changed in violation of \"{limit}\"");
    }
    one
}

#[test]
fn an_interpreted_limit_is_corrected_mildly_and_once() {
    let mut session = Session::new();
    let mut said = Vec::new();
    for number in 0..6 {
        let response = [interpreted(&format!("web/{number}.css"), "only the tests")];
        said.push(level_of(&session.on_response(&response)));
        session.deliver();
    }
    assert_eq!(said[0], Some(CorrectionLevel::Correct));
    assert!(said[1..].iter().all(Option::is_none), "{said:?}");
    let state = session.drift.state();
    assert_eq!((state.escalation, state.failed_recoveries), (0, 0));

    // Another limit is another matter, and a fact that rests on no interpretation is as strong as ever.
    let response = [interpreted("db/a.sql", "no changes of the data model")];
    assert_eq!(
        level_of(&session.on_response(&response)),
        Some(CorrectionLevel::Correct)
    );
    session.deliver();
    let response = [assessed(edit("vendor/a.js", "x"), Rule::Constraint, 3)];
    assert!(level_of(&session.on_response(&response)) > Some(CorrectionLevel::Correct));
}

#[test]
fn a_certain_fact_is_as_strong_beside_an_interpreted_one() {
    let css = || interpreted("web/a.css", "only the tests");
    let vendor = || assessed(edit("vendor/a.js", "x"), Rule::Constraint, 3);
    let strong = Some(CorrectionLevel::Intervene);
    for response in [vec![css(), vendor()], vec![vendor(), css()]] {
        let mut session = Session::new();
        assert_eq!(level_of(&session.on_response(&response)), strong);
        let said = session.deliver().unwrap();
        assert!(
            said.reason.contains("nothing to do") && said.text.contains("web/a.css"),
            "{}",
            said.text
        );
    }
    // It takes the place of a pending one, and is told although the agent was told of the limit.
    let mut session = Session::new();
    assert_eq!(
        level_of(&session.on_response(&[css()])),
        Some(CorrectionLevel::Correct)
    );
    assert_eq!(level_of(&session.on_response(&[vendor()])), strong);
    session.deliver();
    let response = [css(), assessed(edit("vendor/b.js", "x"), Rule::Constraint, 3)];
    assert!(level_of(&session.on_response(&response)) >= strong);
}

#[test]
fn going_on_with_a_told_limit_ignores_the_correction_of_a_certain_fact() {
    let mut session = Session::new();
    session.on_response(&[interpreted("web/0.css", "only the tests")]);
    session.deliver();
    session.on_response(&[assessed(edit("vendor/a.js", "x"), Rule::Constraint, 3)]);
    session.deliver();
    let transition = session.on_response(&[interpreted("web/1.css", "only the tests")]);
    assert_eq!(outcomes(&transition), [CorrectionOutcome::Ignored]);
    assert_eq!(level_of(&transition), None);
}

#[test]
fn a_series_of_interpreted_breaches_before_the_delivery_is_told_once() {
    let mut session = Session::new();
    for number in 0..12 {
        session.on_response(&[interpreted(&format!("web/{number}.css"), "only the tests")]);
    }
    assert!(session.deliver().is_some());
    for number in 12..16 {
        session.on_response(&[interpreted(&format!("web/{number}.css"), "only the tests")]);
        assert!(session.deliver().is_none(), "{number}");
    }
}

#[test]
fn an_interpreted_limit_is_corrected_again_after_an_objection() {
    let mut session = Session::new();
    let response = [interpreted("web/a.css", "only the tests")];
    assert!(level_of(&session.on_response(&response)).is_some());
    // Facts of the same limit found before the delivery are told with it.
    session.on_response(&[interpreted("web/b.css", "only the tests")]);
    let said = session.deliver().unwrap();
    assert!(said.text.contains("web/b.css"), "{}", said.text);
    session.prompt_with(true);
    let response = [interpreted("web/c.css", "only the tests")];
    assert!(level_of(&session.on_response(&response)).is_some());
}
