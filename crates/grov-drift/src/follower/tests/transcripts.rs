//! Transcripts as clients write them: late results, history, forks, rewritten and shortened files.

use super::*;

#[test]
fn a_result_in_a_later_hook_updates_its_step() {
    let mut session = Session::new();
    session.prompt(GOAL);
    let late = session.begin_edit("src/auth/token.ts", "b");
    session.hook(|_| {});
    assert_eq!(session.steps[0].action.failed, None);
    session.result(&late, true);
    session.edit("src/auth/token.ts", "b");
    session.hook(|_| {});
    assert_eq!(session.steps[1].action.failed, Some(false));
    let expected = HookStepResult {
        id: session.steps[0].id.clone(),
        failed: true,
        output: Some("done".to_owned()),
    };
    assert_eq!(session.ended, [expected]);
}

#[test]
fn entries_before_the_first_hook_are_history() {
    let mut session = Session::new();
    session.line(json!({"type": "user", "message": {"content": GOAL}}));
    session.edit("src/billing/invoice.ts", "total(lines)");
    session.stored.started_at = session.now;
    assert_eq!(session.prompt("go on"), None);
    // A fork begins with a copy of another session, whose actions are not recorded twice.
    assert_eq!((session.stored.actions, session.stored.prompts), (0, 1));
    assert!(session.stored.contract.goal.contains("token refresh"));
}

#[test]
fn a_fork_starts_with_the_contract_of_its_origin() {
    let mut origin = Session::new();
    origin.prompt(GOAL);
    origin.edit("src/auth/token.ts", "refresh");
    let begins = origin.now + Duration::seconds(10);
    let id = ClientSessionId::new("f");
    let fork = HookSession::new(id, ROOT.to_owned(), ROOT.to_owned(), begins);
    let read: IntentReader = Arc::new(extract_intent);
    let follower = TranscriptFollower::fork(fork, &origin.stored.contract, &[], Arc::clone(&read));
    assert!(follower.contract().instructions.contains(&GOAL.to_owned()));

    // Another hook gets the first prompt, before the transcript exists.
    let mut follower =
        TranscriptFollower::resume(follower.into_progress(begins).session, &[], Arc::clone(&read));
    follower.add_prompt("Now write tests for src/auth/token.ts as well", start());
    let stored = follower.into_progress(begins).session;
    let contract = stored.contract.clone();
    assert_eq!((contract.instructions.len(), stored.prompts), (2, 1));
    assert!(
        contract
            .constraints
            .iter()
            .any(|words| words.contains("src/billing")),
        "{contract:?}"
    );
    let mut follower = TranscriptFollower::resume(stored, &[], read);
    follower.read(origin.transcript.replace("\"s\"", "\"f\"").as_bytes());
    assert_eq!(
        follower.contract(),
        &contract,
        "its history repeats known prompts"
    );
    assert_eq!((follower.session().prompts, follower.session().actions), (1, 0));
}

#[test]
fn a_shorter_or_missing_transcript_is_handled() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/auth/token.ts", "refreshToken(user)");
    session.hook(|_| {});
    let mut follower = resume(session.stored.clone());
    assert_eq!(follower.offset(10), 0);
    assert_eq!(follower.read(b"{\"type\":\"user\",\"mess"), 0);
    assert_eq!(follower.offset(0), 0);
    follower.add_prompt("", start());
    follower.follow(&[]);
    assert!(
        follower.check(start() - Duration::days(400)).is_some(),
        "the clock jumped"
    );
    let progress = follower.into_progress(start() - Duration::days(400));
    assert_eq!(progress.session.read_to, 0);
}

#[test]
fn repeated_lines_give_the_same_steps() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/auth/token.ts", "refreshToken(user)");
    session.hook(|_| {});
    let steps = session.steps.clone();
    // The client rewrites the file with the same entries.
    session.stored.read_to = 0;
    session.hook(|_| {});
    assert_eq!(session.steps, steps);
}

#[test]
fn a_turn_of_thousands_of_actions_has_bounded_state() {
    let mut session = Session::new();
    session.prompt(GOAL);
    for at in 0..2_000 {
        session.edit(
            &format!("src/auth/part_{at}.ts"),
            &format!("refreshToken(user, {at})"),
        );
    }
    let check = session.prompt("go on").unwrap();
    assert_eq!(check.actions, 2_000);
    assert_eq!(session.stored.actions, 2_000);
    let state = session.stored.engine_state.as_ref().unwrap();
    assert!(state.len() < 1_100_000, "{}", state.len());
}
