//! Prompts that a hook records without following the transcript.

use super::*;

#[test]
fn a_pending_prompt_gives_the_same_result() {
    let second = "Now write the docs of it in docs/auth.md, and do not touch README.md.";
    let work = |session: &mut Session, note: fn(&mut Session, &str)| {
        note(session, GOAL);
        session.edit("src/auth/token.ts", "refreshToken(user)");
        session.stop();
        note(session, second);
        session.edit("docs/auth.md", "How a token is refreshed");
        session.edit("README.md", "Tokens");
        session.stop();
    };
    let (mut pending, mut followed) = (Session::new(), Session::new());
    work(&mut pending, Session::record_pending);
    work(&mut followed, |session, text| {
        session.prompt(text);
    });
    assert_eq!(pending.stored.contract, followed.stored.contract);
    assert_eq!(pending.stored.waiting, []);
    let counted = |session: &Session| {
        (
            session.stored.prompts,
            session.stored.actions,
            session.stored.read_to,
        )
    };
    assert_eq!(counted(&pending), counted(&followed));
    let found = |session: &Session| -> Vec<_> {
        let steps = session.steps.iter();
        steps
            .map(|step| (step.id.clone(), step.prompt, step.score))
            .collect()
    };
    assert_eq!(found(&pending), found(&followed));
    assert_eq!(pending.checks.len(), 1, "the first turn was settled");
    assert!(pending.stored.is_unchecked, "the second turn needs a check");
    let correction = |session: &mut Session| session.prompt("go on").unwrap().correction.unwrap();
    assert_eq!(correction(&mut pending), correction(&mut followed));
    assert!(!pending.stored.is_unchecked);
}

#[test]
fn actions_before_a_pending_prompt_are_judged_without_it() {
    let mut session = Session::new();
    session.record_pending(GOAL);
    session.edit("README.md", "Tokens");
    session.edit("src/auth/token.ts", "refreshToken(user)");
    // No worker followed that turn.
    session.record_pending("Do not touch README.md any more.");
    assert_eq!(session.stored.waiting.len(), 2);
    session.stop();
    let forbidden = session.steps.iter().flat_map(|step| &step.findings);
    assert_eq!(
        forbidden
            .filter(|finding| finding.rule == grov_domain::Rule::Constraint)
            .count(),
        0
    );
    session.edit("README.md", "Tokens again");
    session.stop();
    let last = session.steps.last().unwrap();
    assert_eq!(last.findings[0].rule, grov_domain::Rule::Constraint);
    assert_eq!(session.stored.prompts, 2);
}

#[test]
fn only_text_may_stay_unread() {
    let mut session = Session::new();
    assert!(can_defer(&session.stored, true));
    session.record_pending(GOAL);
    session.line(json!({"type": "system", "subtype": "turn_duration"}));
    session.line(json!({"type": "user", "message": {"content": "go on"}}));
    assert!(has_no_actions(&session.stored, session.unread(), "go on"));
    assert!(
        !has_no_actions(&session.stored, session.unread(), "go on then"),
        "no hook recorded that prompt"
    );
    session.run("ls");
    assert!(!has_no_actions(&session.stored, session.unread(), "go on"));
    session.edit("README.md", "Tokens");
    session.edit("src/billing/bill.ts", "Tokens");
    session.stop();
    assert!(session.stored.is_unchecked && !can_defer(&session.stored, true));
    assert!(can_defer(&session.stored, false), "checks are off");
    session.prompt("go on");
    for _ in 0..8 {
        assert!(can_defer(&session.stored, true));
        session.record_pending("go on");
    }
    assert!(!can_defer(&session.stored, true), "that is enough");
}

#[test]
fn pending_prompts_apply_immediately() {
    let mut session = Session::new();
    session.record_pending(GOAL);
    session.edit("src/auth/token.ts", "refreshToken(user)");
    let read_to = session.transcript.len();
    session.edit("src/auth/token.ts", "refreshToken(user, now)");
    session.record_pending("Do not touch README.md any more.");
    let contract_before = session.stored.contract.clone();
    assert_eq!(contract_before.instructions.len(), 2);
    // A hook follows a part of it, for a new and for a stored engine state.
    for part in [0, read_to] {
        let mut follower = resume(session.stored.clone());
        follower.offset(session.transcript.len() as u64);
        let from = usize::try_from(follower.session().read_to).unwrap();
        follower.read(&session.transcript.as_bytes()[from..part.max(from)]);
        session.stored = follower.into_progress(session.now).session;
        assert_eq!(session.stored.contract, contract_before, "{part}");
        assert_eq!(session.stored.prompts, 2, "{part}");
    }
    let mut follower = resume(session.stored.clone());
    follower.queue_prompt("And not LICENSE either.", session.transcript.len() as u64);
    session.stored = follower.into_progress(session.now).session;
    assert_eq!((session.stored.prompts, session.stored.waiting.len()), (3, 2));
    assert_eq!(session.stored.contract.instructions.len(), 3);
    session.stop();
    assert_eq!((session.stored.prompts, session.stored.waiting.len()), (3, 0));
    assert_eq!(session.stored.contract.instructions.len(), 3);
}

#[test]
fn a_prompt_in_the_transcript_before_its_hook_counts_once() {
    let mut session = Session::new();
    session.record_pending(GOAL);
    session.stop();
    session.line(json!({"type": "user", "message": {"content": "Now write docs/auth.md."}}));
    let length = session.transcript.len() as u64;
    record_pending(
        &mut session.stored,
        "Now write docs/auth.md.",
        length,
        Arc::new(extract_intent),
    );
    session.edit("docs/auth.md", "Tokens");
    session.stop();
    assert_eq!((session.stored.prompts, session.stored.actions), (2, 1));
    assert_eq!(session.stored.contract.instructions.len(), 2);
}

#[test]
fn a_prefetched_prompt_gives_the_same_contract() {
    let intents = Arc::new(IntentCache::default());
    let reader = || -> IntentReader {
        let intents = Arc::clone(&intents);
        Arc::new(move |question: &grov_domain::IntentQuestion| intents.extract_intent(question))
    };
    let mut session = begun();
    let mut ahead = begun();
    let prompts = [
        GOAL,
        "yes, go on",
        "Now write docs/auth.md.",
        "Only that, please.",
        "thanks",
        "Translate the README into French.",
    ];
    for prompt in prompts.iter().cycle().take(40) {
        ahead
            .contract
            .instructions
            .iter()
            .for_each(|prompt| intents.prefetch(prompt));
        intents.prefetch_alone(prompt);
        record_pending(&mut ahead, prompt, 0, reader());
        record_pending(&mut session, prompt, 0, Arc::new(extract_intent));
        assert_eq!(ahead, session);
    }
    assert!(session.contract.instructions.len() > 2);
}
