//! Actions that only may be off the goal.

use super::*;

/// Edits that are unrelated to the goal.
fn edit_unrelated_files(session: &mut Session, round: usize) {
    for (file, text) in [
        (
            "web/src/hero/Banner.tsx",
            "  return <section className=\"hero\">{headline}</section>;",
        ),
        (
            "infra/network/dns.tf",
            "resource \"aws_route53_zone\" \"internal\" { name = \"corp\" }",
        ),
        (
            "mobile/ios/Login.swift",
            "    let controller = UIHostingController(rootView: PinPad())",
        ),
    ] {
        let file = file.replace('.', &format!("{round}."));
        session.edit(&file, text);
    }
}

#[test]
fn repeated_edits_of_a_file_are_not_corrected() {
    let mut session = Session::new();
    session.prompt(GOAL);
    for file in ["src/auth/token.ts", "src/auth/token.test.ts"] {
        for number in 0..3 {
            session.edit(file, &format!("refreshToken(user, {number})"));
        }
    }
    let check = session.prompt("go on").unwrap();
    assert_eq!((check.score, check.correction), (6, None));
}

#[test]
fn a_single_doubt_is_recorded_but_not_corrected() {
    let mut session = Session::new();
    session.prompt("Fix the overflow in billing/invoice.py");
    session.edit("billing/invoice.py", "total = sum(line.amount for line in lines)");
    session.edit(
        "mobile/ios/Login.swift",
        "    let controller = UIHostingController(rootView: PinPad())",
    );
    let check = session.prompt("go on").unwrap();
    assert!(check.score < 8 && check.reason.is_some(), "{check:?}");
    assert_eq!((check.level, check.correction), (None, None));
    assert!(session.steps[1].score < Some(OFF_GOAL_BELOW));
}

#[test]
fn doubts_give_one_mild_correction() {
    let mut session = Session::new();
    session.prompt("Fix the overflow in billing/invoice.py");
    let mut corrected = 0;
    for round in 0..5 {
        session.edit(
            "billing/invoice.py",
            &format!("total_{round} = sum(line.amount for line in lines)"),
        );
        edit_unrelated_files(&mut session, round);
        let check = session.prompt("go on").unwrap();
        assert!(check.score < 8, "{check:?}");
        assert!(check.level <= Some(CorrectionLevel::Correct), "{check:?}");
        corrected += usize::from(check.correction.is_some());
    }
    assert_eq!(corrected, 1);
    assert_eq!(session.stored.escalation, 0);
}

#[test]
fn continuing_after_a_doubt_is_not_corrected_again() {
    let mut session = Session::new();
    session.prompt("Fix the overflow in billing/invoice.py");
    session.edit("billing/invoice.py", "total = sum(line.amount for line in lines)");
    edit_unrelated_files(&mut session, 0);
    edit_unrelated_files(&mut session, 1);
    assert!(session.prompt("go on").unwrap().correction.is_some());
    let further = [
        "web/src/hero/Button0.tsx",
        "mobile/ios/Logout.swift",
        "infra/network/vpn.tf",
    ];
    let corrected = further.map(|file| {
        session.edit(file, "border: 1px solid papayawhip; margin: auto");
        let check = session.prompt("go on").unwrap();
        assert!(check.score < OFF_GOAL_BELOW, "{check:?}");
        check.correction.is_some()
    });
    assert_eq!(corrected, [false; 3]);
}

#[test]
fn doubts_do_not_escalate_a_fact() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/billing/invoice.ts", "total(lines)");
    edit_unrelated_files(&mut session, 0);
    let check = session.prompt("go on").unwrap();
    assert_eq!(check.level, Some(CorrectionLevel::Intervene), "{check:?}");
    assert!(check.correction.unwrap().contains("src/billing/invoice.ts"));
}
