//! The stored session: of another version, edited by the user, deleted.

use super::*;

#[test]
fn state_of_another_version_is_rebuilt_without_repeating_corrections() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/billing/invoice.ts", "total(lines)");
    session.prompt("go on");
    let before = session.steps.clone();
    for state in ["{\"version\":999}", "no JSON", ""] {
        session.stored.engine_state = Some(state.to_owned());
        session.steps.clear();
        session.checks.clear();
        let now = session.now;
        session.hook(|follower| {
            follower.check(now);
        });
        assert_eq!(session.steps, before, "{state}");
        assert_eq!(session.checks, []);
        assert_eq!(session.stored.contract.instructions, [GOAL]);
        assert_eq!((session.stored.actions, session.stored.prompts), (1, 2));
    }
}

#[test]
fn goal_edits_apply_and_are_not_stored_in_the_contract() {
    let mut session = Session::new();
    session.prompt(GOAL);
    let edit = GoalEdit {
        id: GoalEditId::new("e"),
        client_session_id: ClientSessionId::new("s"),
        kind: GoalEditKind::Forbid,
        text: "docs/**".to_owned(),
        at: start(),
        since_prompt: None,
    };
    let mut follower = TranscriptFollower::resume(session.stored.clone(), &[edit], Arc::new(extract_intent));
    assert_eq!(follower.contract().forbidden, ["docs/**"]);
    let from = usize::try_from(session.stored.read_to).unwrap();
    session.edit("docs/a.md", "text");
    follower.read(&session.transcript.as_bytes()[from..]);
    let check = follower.check(session.now).unwrap();
    assert!(check.score <= 3);
    let progress = follower.into_progress(session.now);
    assert_eq!(progress.session.contract.forbidden, Vec::<String>::new());
    // The user reverted the edit meanwhile.
    let later = resume(progress.session);
    assert_eq!(later.contract().forbidden, Vec::<String>::new());
}

#[test]
fn deleted_memory_is_not_read_again() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/billing/bill.ts", "Tokens");
    session.stop();
    assert!(session.stored.is_unchecked);
    let forgotten = HookSession {
        contract: GoalContract::default(),
        engine_state: None,
        waiting: Vec::new(),
        ..session.stored.clone()
    };
    session.stored = forgotten.clone();
    session.steps.clear();
    session.stop();
    assert_eq!(session.stored.contract, GoalContract::default());
    assert_eq!(session.stored.read_to, forgotten.read_to);
    assert_eq!((session.stored.prompts, session.stored.actions), (1, 1));
    assert!(session.steps.is_empty() && !session.stored.is_unchecked);
    let check = session.prompt("Write docs/auth.md.");
    assert_eq!(check, None, "a corrected action is not corrected again");
    session.edit("docs/auth.md", "Tokens");
    session.stop();
    assert_eq!(session.stored.contract.instructions, ["Write docs/auth.md."]);
    assert_eq!((session.stored.prompts, session.stored.actions), (2, 2));
}
