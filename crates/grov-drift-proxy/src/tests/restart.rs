//! What was known outlives the program.

use super::bench::{GOAL, ROOT, Response, TestBed, level, session, until};
use grov_domain::{ClientSessionId, CorrectionLevel, EffectKind, SessionMode};
use grov_live::ContextSource;
use grov_session::testing::{bash, edit};

#[tokio::test(start_paused = true)]
async fn a_correction_survives_a_restart_before_and_after_it_is_said() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");

    let later = bench.restarted();
    // Loading is at rest while the request looks at the session: else it may find it busy, and say nothing.
    later.store.holds_steps();
    let said = later.next_request("", &calls).await;
    later.store.releases_steps();
    assert!(said.is_some_and(|said| said.contains("theme.css")));
    until(|| {
        let state = later.store.state();
        state.is_some_and(|state| state.correction.is_some_and(|one| one.delivered_at.is_some()))
    })
    .await;

    let latest = later.restarted();
    // The first request after the start brings back where the session stood.
    assert_eq!(latest.next_request("", &calls).await, None);
    assert_eq!(latest.state().mode, SessionMode::Drifted);
    until(|| latest.session_is_loaded()).await;
    let (calls, checked) = latest.change("src/components/Button.tsx", "<b/>");
    assert_eq!(level(&checked), Some(CorrectionLevel::Halt));
    assert_eq!(checked.state.as_ref().unwrap().failed_recoveries, 1);
    assert!(latest.next_request("", &calls).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn what_happens_while_a_session_is_loaded_is_not_lost() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let later = bench.restarted();
    // Seen before anything could be loaded: the state that was stored is not overwritten.
    let (_, checked) = later.change("src/auth/token.ts", "const ttl = 5;");
    assert_eq!(checked.state, None);
    until(|| {
        let slot = later.drift.shared.slot(&session());
        slot.session().engine.is_history_loaded()
    })
    .await;
    assert_eq!(later.state().prompts, bench.state().prompts);
    let (_, checked) = later.change("src/styles/theme.css", "a {}");
    assert_eq!(level(&checked), Some(CorrectionLevel::Intervene));
}

#[tokio::test(start_paused = true)]
async fn a_correction_that_was_loaded_is_not_said_where_its_call_failed() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");
    // Another call failed beside it: that says nothing.
    let later = bench.restarted();
    let mut point = later.point("", &[calls[0].clone(), "call-0".to_owned()]);
    point.answered[1].failed = true;
    assert!(later.drift.applies(&point));
    // While it is loaded, a request may find the session busy, and says nothing.
    until(|| later.session_is_loaded()).await;
    assert!(later.drift.context(&point).await.is_some());

    let later = bench.restarted();
    let mut point = later.point("", &calls);
    point.answered[0].failed = true;
    assert!(later.drift.applies(&point));
    until(|| later.session_is_loaded()).await;
    assert!(later.drift.context(&point).await.is_none());
    later.exchange(Response {
        answered: &calls,
        failed: &calls,
        ..Response::default()
    });
    assert_eq!(
        (later.state().correction, later.state().mode),
        (None, SessionMode::Normal)
    );
}

#[tokio::test(start_paused = true)]
async fn a_session_that_goes_on_is_loaded_at_its_first_prompt() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let later = bench.restarted();
    assert_eq!(later.next_request("also cover it with a test", &[]).await, None);
    until(|| later.session_is_loaded()).await;
    assert_eq!(later.contract().goal, GOAL);
    let mut fresh = bench.point("Fix it", &[]);
    fresh.begins = true;
    fresh.lineage.session = ClientSessionId::new("fresh");
    assert!(!later.drift.applies(&fresh));
}

#[tokio::test(start_paused = true)]
async fn work_that_breaks_off_is_not_under_way_for_ever() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let later = bench.restarted();
    later.store.panics(true);
    later.exchange(Response::default());
    until(|| !later.session_is_under_way()).await;
    assert!(!later.session_is_loaded());
    later.store.panics(false);
    later.exchange(Response::default());
    until(|| later.session_is_loaded()).await;
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_said_before_it_is_known_what_was_done() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");
    let later = bench.restarted();
    later.store.holds_steps();
    let said = later.next_request("", &calls).await;
    assert!(said.is_some_and(|said| said.contains("theme.css")));
    assert!(later.session_is_under_way());
    // An edit that nothing is found of proves nothing while the goal is not known.
    later.change("src/components/Button.tsx", "<b/>");
    assert_eq!(later.state().mode, SessionMode::Drifted);
    assert!(later.state().correction.is_some());
}

#[tokio::test(start_paused = true)]
async fn who_was_on_the_goal_while_a_session_was_loaded_is_back_on_it() {
    for (file, mode) in [
        ("src/auth/token.ts", SessionMode::Normal),
        ("src/components/Button.tsx", SessionMode::Drifted),
    ] {
        let bench = TestBed::new();
        bench.begin(GOAL).await;
        let (calls, _) = bench.change("src/styles/theme.css", "a {}");
        assert!(bench.next_request("", &calls).await.is_some());
        let said = bench.state();
        until(|| bench.store.state().is_some_and(|state| state == said)).await;
        let later = bench.restarted();
        later.drift.preload().await;
        later.change(file, "const ttl = 5;");
        assert_eq!(later.state().mode, SessionMode::Drifted);
        until(|| later.session_is_loaded()).await;
        until(|| later.state().mode == mode).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_off_the_goal_while_a_session_was_loaded_is_judged_then() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let later = bench.restarted();
    let (calls, checked) = later.change("src/styles/theme.css", "a {}");
    // Nobody knows yet that it is forbidden.
    assert!(!checked.verdicts[0].as_ref().unwrap().is_off_goal());
    until(|| later.session_is_loaded()).await;
    until(|| later.store.judged().len() == 1).await;
    let (_, verdict) = later.store.judged().remove(0);
    assert!(verdict.is_off_goal() && verdict.level.is_some(), "{verdict:?}");
    assert_eq!(later.state().mode, SessionMode::Drifted);
    let said = later.next_request("", &calls).await;
    assert!(said.is_some_and(|said| said.contains("theme.css")));
}

#[tokio::test(start_paused = true)]
async fn what_a_subagent_broke_while_a_session_was_loaded_is_judged_then() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let later = bench.restarted();
    later.exchange(Response {
        agent: Some("agent"),
        actions: vec![edit(&format!("{ROOT}/src/styles/theme.css"), "a {}")],
        ..Response::default()
    });
    until(|| later.store.judged().len() == 1).await;
    assert!(later.store.judged()[0].1.is_off_goal());
}

#[tokio::test(start_paused = true)]
async fn what_was_done_before_a_prompt_is_recorded_and_not_spoken_of() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let later = bench.restarted();
    later.change("src/styles/theme.css", "a {}");
    later.exchange(Response {
        prompts: &["Now cover the token refresh with a test"],
        ..Response::default()
    });
    until(|| later.store.judged().len() == 1).await;
    assert!(later.store.judged()[0].1.is_off_goal());
    assert_eq!(later.next_request("", &[]).await, None);
}

#[tokio::test(start_paused = true)]
async fn sessions_at_work_before_a_start_are_recalled() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");
    let later = bench.restarted();
    later.drift.preload().await;
    // Nothing has to be read any more.
    later.store.panics(true);
    let said = later.next_request("", &calls).await;
    assert!(said.is_some_and(|said| said.contains("theme.css")));
    assert_eq!(later.counted("waited"), 0);
    until(|| later.session_is_loaded()).await;

    let much_later = bench.restarted();
    much_later.clock.set(much_later.clock.get() + 7200);
    much_later.drift.preload().await;
    assert!(much_later.drift.shared.sessions.get(&session()).is_none());
}

#[tokio::test(start_paused = true)]
async fn what_the_user_allowed_outlives_the_program() {
    let publish = || vec![bash("npm publish", EffectKind::Network, &[])];
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    // They let the theme pass, and say yes to publishing.
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");
    assert!(bench.next_request("", &calls).await.is_some());
    bench.clock.tick();
    bench.exchange(Response {
        prompts: &["go on"],
        ends: true,
        answer: Some("Shall I publish the package to npm?"),
        ..Response::default()
    });
    bench.exchange(Response {
        prompts: &["yes"],
        ..Response::default()
    });
    let later = bench.restarted();
    later.exchange(Response::default());
    until(|| later.session_is_loaded()).await;
    let (_, checked) = later.exchange(Response {
        actions: publish(),
        ..Response::default()
    });
    assert!(
        !checked.verdicts[0].as_ref().unwrap().is_off_goal(),
        "{checked:?}"
    );
    let (_, checked) = later.change("src/styles/theme.css", "b {}");
    assert_eq!(level(&checked), None);
    let (_, checked) = later.change("src/styles/header.css", "b {}");
    assert!(level(&checked).is_some());
    // Another task ends it.
    assert_eq!(later.state().consent.words.len(), 1);
    later.exchange(Response {
        prompts: &["Translate docs/README.md into French"],
        begins: true,
        ..Response::default()
    });
    assert!(later.state().consent.words.is_empty());
}
