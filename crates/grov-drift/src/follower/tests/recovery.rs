//! Forbidden changes that are undone.

use super::*;

/// A session with a forbidden change that was corrected.
fn corrected_session(is_made: bool) -> Session {
    let mut session = Session::new();
    session.prompt(GOAL);
    if is_made {
        let input =
            json!({"file_path": format!("{ROOT}/src/billing/new.ts"), "content": "export const total = 1;"});
        let id = session.call("Write", input);
        session.result(&id, false);
    } else {
        session.edit("src/billing/invoice.ts", "total(lines)");
    }
    let check = session.prompt("go on").unwrap();
    assert_eq!(check.level, Some(CorrectionLevel::Intervene));
    session
}

#[test]
fn undoing_a_forbidden_change_is_recovery() {
    for (is_made, command) in [
        (true, "rm src/billing/new.ts"),
        (true, "cd src/billing && rm new.ts"),
        (false, "git checkout -- src/billing/invoice.ts"),
        (false, "git restore src/billing/invoice.ts"),
        (false, "git stash"),
    ] {
        let mut session = corrected_session(is_made);
        session.run(command);
        let check = session.prompt("go on").unwrap();
        assert_eq!((check.score, check.level), (10, None), "{command}: {check:?}");
        let step = session.steps.last().unwrap();
        assert_eq!((step.score, step.findings.len()), (Some(10), 0), "{command}");
        assert!(command == "git stash" || check.has_put_back(), "{check:?}");
    }
    let mut session = corrected_session(false);
    session.edit("src/billing/invoice.ts", "sum(lines)");
    let check = session.prompt("go on").unwrap();
    assert!(check.level.is_none() && check.has_put_back(), "{check:?}");
}

#[test]
fn removing_an_older_file_is_not_recovery() {
    let mut session = corrected_session(true);
    session.run("rm -rf src/billing");
    let check = session.prompt("go on").unwrap();
    assert!(check.level >= Some(CorrectionLevel::Intervene), "{check:?}");
}

#[test]
fn changes_reverted_before_a_check_are_not_corrected() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/billing/invoice.ts", "total(lines)");
    session.run("git checkout -- src/billing/invoice.ts");
    assert_eq!(session.prompt("go on").unwrap().level, None);
}
