//! State survives a restart.

use super::bench::{GOAL, ROOT, Response, TestBed, level, session, until};
use grov_domain::{ClientSessionId, CorrectionLevel, EffectKind, SessionMode};
use grov_live::ContextSource;
use grov_session::testing::{bash, edit};

#[tokio::test(start_paused = true)]
async fn a_correction_survives_restarts_before_and_after_delivery() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");

    let later = bench.restarted();
    // Holds loading while the request reads the session. A locked session would get no correction.
    later.store.hold_steps();
    let correction = later.next_request("", &calls).await;
    later.store.release_steps();
    assert!(correction.is_some_and(|correction| correction.contains("theme.css")));
    until(|| {
        let state = later.store.state();
        state.is_some_and(|state| state.correction.is_some_and(|one| one.delivered_at.is_some()))
    })
    .await;

    let latest = later.restarted();
    // The first request after the restart loads the session.
    assert_eq!(latest.next_request("", &calls).await, None);
    assert_eq!(latest.state().mode, SessionMode::Drifted);
    until(|| latest.session_is_loaded()).await;
    let (calls, checked) = latest.change("src/components/Button.tsx", "<b/>");
    assert_eq!(level(&checked), Some(CorrectionLevel::Halt));
    assert_eq!(checked.state.as_ref().unwrap().failed_recoveries, 1);
    assert!(latest.next_request("", &calls).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn exchanges_during_the_load_are_kept() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let later = bench.restarted();
    // An exchange before the load does not overwrite the stored state.
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
async fn a_loaded_correction_is_not_delivered_if_its_call_failed() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");
    // Another failed call has no effect.
    let later = bench.restarted();
    let mut point = later.point("", &[calls[0].clone(), "call-0".to_owned()]);
    point.answered[1].failed = true;
    assert!(later.drift.applies(&point));
    // A request may find the session locked while it is loading, and then gets no correction.
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
async fn a_continued_session_is_loaded_at_its_first_prompt() {
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
async fn a_failed_load_is_retried() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let later = bench.restarted();
    later.store.panics(true);
    later.exchange(Response::default());
    until(|| !later.session_is_loading()).await;
    assert!(!later.session_is_loaded());
    later.store.panics(false);
    later.exchange(Response::default());
    until(|| later.session_is_loaded()).await;
}

#[tokio::test(start_paused = true)]
async fn a_pending_correction_is_delivered_before_the_history_is_loaded() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");
    let later = bench.restarted();
    later.store.hold_steps();
    let correction = later.next_request("", &calls).await;
    assert!(correction.is_some_and(|correction| correction.contains("theme.css")));
    assert!(later.session_is_loading());
    // An edit without findings is no proof of recovery while the goal is unknown.
    later.change("src/components/Button.tsx", "<b/>");
    assert_eq!(later.state().mode, SessionMode::Drifted);
    assert!(later.state().correction.is_some());
}

#[tokio::test(start_paused = true)]
async fn actions_on_the_goal_during_the_load_count_as_recovery() {
    for (file, mode) in [
        ("src/auth/token.ts", SessionMode::Normal),
        ("src/components/Button.tsx", SessionMode::Drifted),
    ] {
        let bench = TestBed::new();
        bench.begin(GOAL).await;
        let (calls, _) = bench.change("src/styles/theme.css", "a {}");
        assert!(bench.next_request("", &calls).await.is_some());
        let state = bench.state();
        until(|| bench.store.state().is_some_and(|stored| stored == state)).await;
        let later = bench.restarted();
        later.drift.preload().await;
        later.change(file, "const ttl = 5;");
        assert_eq!(later.state().mode, SessionMode::Drifted);
        until(|| later.session_is_loaded()).await;
        until(|| later.state().mode == mode).await;
    }
}

#[tokio::test(start_paused = true)]
async fn actions_off_the_goal_during_the_load_are_judged_afterwards() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let later = bench.restarted();
    let (calls, checked) = later.change("src/styles/theme.css", "a {}");
    // The prohibition is not loaded yet.
    assert!(!checked.verdicts[0].as_ref().unwrap().is_off_goal());
    until(|| later.session_is_loaded()).await;
    until(|| later.store.judged().len() == 1).await;
    let (_, verdict) = later.store.judged().remove(0);
    assert!(verdict.is_off_goal() && verdict.level.is_some(), "{verdict:?}");
    assert_eq!(later.state().mode, SessionMode::Drifted);
    let correction = later.next_request("", &calls).await;
    assert!(correction.is_some_and(|correction| correction.contains("theme.css")));
}

#[tokio::test(start_paused = true)]
async fn a_subagents_violation_during_the_load_is_judged_afterwards() {
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
async fn actions_before_a_prompt_are_recorded_without_a_correction() {
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
async fn recent_sessions_are_preloaded() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");
    let later = bench.restarted();
    later.drift.preload().await;
    // The preloaded state needs no read.
    later.store.panics(true);
    let correction = later.next_request("", &calls).await;
    assert!(correction.is_some_and(|correction| correction.contains("theme.css")));
    assert_eq!(later.counted("waited"), 0);
    until(|| later.session_is_loaded()).await;

    let much_later = bench.restarted();
    much_later.clock.set(much_later.clock.get() + 7200);
    much_later.drift.preload().await;
    assert!(much_later.drift.shared.sessions.get(&session()).is_none());
}

#[tokio::test(start_paused = true)]
async fn permissions_survive_a_restart() {
    let publish = || vec![bash("npm publish", EffectKind::Network, &[])];
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    // The user permits the theme and approves publishing.
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
    // Another prompt ends the consent.
    assert_eq!(later.state().consent.orders.len(), 1);
    later.exchange(Response {
        prompts: &["Translate docs/README.md into French"],
        begins: true,
        ..Response::default()
    });
    assert!(later.state().consent.orders.is_empty());
}
