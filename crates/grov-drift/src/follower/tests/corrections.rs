//! Which actions are corrected with the next prompt, and how strongly.

use super::*;

#[test]
fn work_on_the_goal_is_not_corrected() {
    let mut session = Session::new();
    assert_eq!(session.prompt(GOAL), None);
    session.run("npm test");
    session.edit("src/auth/token.ts", "refreshToken(user)");
    session.edit("src/auth/token.test.ts", "expect(refreshToken(user))");
    let check = session.prompt("continue").unwrap();
    assert_eq!((check.score, check.level, check.actions), (10, None, 3));
    assert_eq!((session.stored.prompts, session.stored.actions), (2, 3));
    assert_eq!(session.stored.contract.instructions, [GOAL]);
    assert_eq!(session.prompt("continue"), None, "nothing was done since");
}

#[test]
fn a_forbidden_change_is_corrected_with_the_next_prompt() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/billing/invoice.ts", "total(lines)");
    let check = session.prompt("looks good").unwrap();
    assert_eq!(check.level, Some(CorrectionLevel::Intervene));
    assert!(check.score <= 3 && session.stored.escalation == 1);
    assert_eq!(check.files, ["src/billing/invoice.ts"]);
    let text = check.correction.unwrap();
    assert!(text.starts_with(OWN_TEXT_OPENING), "{text}");
    assert!(text.contains("token refresh") && text.contains("src/billing/invoice.ts"));
    assert!(
        check.recovery_plan[0]
            .action
            .starts_with("Undo the change of src/billing/invoice.ts")
    );
    assert_eq!(session.steps.last().unwrap().score, Some(check.score));
}

#[test]
fn corrections_escalate_and_never_repeat_a_text() {
    let mut session = Session::new();
    session.prompt(GOAL);
    let mut texts = Vec::new();
    for level in [
        CorrectionLevel::Intervene,
        CorrectionLevel::Halt,
        CorrectionLevel::Halt,
    ] {
        session.edit("src/billing/invoice.ts", "total(lines)");
        let check = session.prompt("go on").unwrap();
        assert_eq!(check.level, Some(level));
        let text = check.correction.unwrap();
        assert!(!texts.contains(&text));
        assert!(text.len() / 4 < 600);
        texts.push(text);
    }
    assert_eq!(session.stored.escalation, 3);
    session.edit("src/auth/token.ts", "refreshToken(user)");
    assert_eq!(session.prompt("go on").unwrap().level, None);
    assert_eq!(session.stored.escalation, 2);
}

#[test]
fn actions_that_the_new_prompt_asks_for_are_not_corrected() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/billing/invoice.ts", "total(lines)");
    let check = session
        .prompt("You may change src/billing/invoice.ts too, make the total right")
        .unwrap();
    assert_eq!(check.level, None, "{check:?}");
}

#[test]
fn failed_and_refused_calls_are_not_corrected() {
    let mut session = Session::new();
    session.prompt(GOAL);
    let id = session.begin_edit("src/billing/invoice.ts", "b");
    session.result(&id, true);
    let check = session.prompt("go on").unwrap();
    assert_eq!((check.score, check.level), (10, None));
    assert_eq!(session.steps[0].action.failed, Some(true));
}

#[test]
fn without_corrections_there_is_only_a_score() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/billing/invoice.ts", "total(lines)");
    let now = session.now;
    session.hook(|follower| {
        follower.set_corrects(false);
        follower.check(now);
    });
    let check = &session.checks[0];
    assert!(check.score <= 3 && check.level.is_none() && check.correction.is_none());
    assert_eq!(session.stored.escalation, 0);
}

#[test]
fn a_request_for_an_explanation_makes_changes_off_goal() {
    let mut session = Session::new();
    session.prompt("Explain how the login works. Don't change anything.");
    session.run("rm src/login.ts");
    let check = session.prompt("go on").unwrap();
    assert_eq!(check.level, Some(CorrectionLevel::Intervene), "{check:?}");
    assert!(check.correction.unwrap().contains("Don't change anything"));
    session.prompt("Now fix the timeout in src/login.ts");
    session.edit("src/login.ts", "timeout(30)");
    assert_eq!(session.prompt("go on").unwrap().level, None);
}

#[test]
fn an_empty_goal_forbids_nothing() {
    let mut session = Session::new();
    session.edit("web/theme.css", "color: red");
    session.run("cargo test");
    let now = session.now;
    session.hook(|follower| {
        assert_eq!(follower.contract().goal, "");
        let check = follower.check(now).unwrap();
        assert_eq!((check.score, check.level), (10, None));
    });
}
