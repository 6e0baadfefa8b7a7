//! Corrections are delivered with the next request, once, and resolved by the following actions.

use super::bench::{GOAL, ROOT, Response, TestBed, level, lineage, session, until};
use crate::Policy;
use grov_domain::{CorrectionLevel, CorrectionOutcome, EffectKind, SessionMode, SwitchScope, SwitchStore};
use grov_live::ContextSource;
use grov_session::testing::{bash, edit, read};
use std::sync::Arc;

#[tokio::test(start_paused = true)]
async fn a_forbidden_action_is_corrected_with_the_next_request() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;

    // On the goal: no correction.
    let (calls, checked) = bench.change("src/auth/token.ts", "const ttl = 90;");
    assert!(
        checked
            .verdicts
            .iter()
            .flatten()
            .all(|verdict| !verdict.is_off_goal())
    );
    assert_eq!(bench.next_request("", &calls).await, None);

    // Off the goal: the verdict is recorded with the step, and the next request has a correction in the form for tool
    // loops.
    let (calls, checked) = bench.change("src/styles/theme.css", "a { color: teal; }");
    assert_eq!(level(&checked), Some(CorrectionLevel::Intervene));
    assert_eq!(checked.state.as_ref().unwrap().mode, SessionMode::Drifted);
    let correction = bench.next_request("", &calls).await.unwrap();
    assert!(
        correction.starts_with("<system-reminder>\n<grov-context")
            && correction.ends_with("</system-reminder>")
    );
    assert!(
        correction.contains("theme.css") && correction.contains("Fix the token refresh"),
        "{correction}"
    );

    assert_eq!(bench.next_request("", &calls).await, None);
    let delivered = bench.state().correction.unwrap();
    assert!(delivered.delivered_at.is_some());
    until(|| {
        bench
            .store
            .state()
            .is_some_and(|state| state.correction == Some(delivered.clone()))
    })
    .await;

    // The agent follows it and continues.
    let undo = bash(
        "git checkout -- src/styles/theme.css",
        EffectKind::VersionControl,
        &["/home/me/app/src/styles/theme.css"],
    );
    let (_, checked) = bench.exchange(Response {
        actions: vec![undo],
        ..Response::default()
    });
    assert!(!checked.verdicts[0].as_ref().unwrap().is_off_goal());
    assert_eq!(bench.state().mode, SessionMode::Normal);
    until(|| bench.store.outcome(&delivered.id) == Some(CorrectionOutcome::Followed)).await;
    assert_eq!(bench.counted("delivered"), 1);
    assert_eq!(bench.counted("followed"), 1);
}

#[tokio::test(start_paused = true)]
async fn ignored_corrections_escalate_to_forced_recovery_and_back() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let mut corrections = Vec::new();
    for number in 0..4 {
        let (calls, _) = bench.change(&format!("src/components/Part{number}.tsx"), "<div/>");
        corrections.push(bench.next_request("", &calls).await.unwrap());
    }
    assert_eq!(bench.state().mode, SessionMode::Forced);
    assert!(
        corrections[3].contains("exactly this one action"),
        "{}",
        corrections[3]
    );
    for (place, text) in corrections.iter().enumerate() {
        assert!(!corrections[..place].contains(text));
    }
    assert_eq!(bench.counted("ignored"), 3);
    bench.change("src/auth/token.ts", "const ttl = 120;");
    assert_eq!(bench.state().mode, SessionMode::Normal);
    assert_eq!(bench.counted("forced"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_withdrawn_correction_is_delivered_again() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");
    assert!(bench.next_request("", &calls).await.is_some());
    bench.drift.withdrawn(&lineage(None));
    assert!(bench.next_request("", &calls).await.is_some());
    // The text of another source was withdrawn.
    assert_eq!(bench.next_request("", &calls).await, None);
    bench.drift.withdrawn(&lineage(None));
    assert!(bench.state().correction.unwrap().delivered_at.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_denied_edit_causes_no_correction() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let (calls, checked) = bench.change("src/styles/theme.css", "a {}");
    assert!(level(&checked).is_some());
    let mut point = bench.point("", &calls);
    point.answered[0].failed = true;
    assert!(bench.drift.context(&point).await.is_none());
    bench.exchange(Response {
        answered: &calls,
        failed: &calls,
        ..Response::default()
    });
    assert_eq!(bench.state().mode, SessionMode::Normal);
    assert_eq!(bench.state().escalation, 0);
    assert_eq!(bench.next_request("", &calls).await, None);
}

const FORBIDS: &str = "Fix the token refresh in src/auth/token.ts and do not touch src/db/pool.ts";

#[tokio::test(start_paused = true)]
async fn a_call_permitted_in_the_guards_dialog_causes_no_correction() {
    let bench = TestBed::new();
    bench.begin(FORBIDS).await;
    let (calls, checked) = bench.change("src/db/pool.ts", "export const size = 50;");
    assert!(level(&checked).is_some());
    bench.store.guard_asks_about(&calls[0]);
    assert_eq!(bench.next_request("", &calls).await, None);
    let state = bench.state();
    assert_eq!(
        (state.mode, state.correction, state.escalation),
        (SessionMode::Normal, None, 0)
    );
    // It is not logged as drift either, and the same file causes no further correction.
    until(|| {
        bench
            .store
            .judged()
            .iter()
            .any(|(_, verdict)| verdict.score == 10)
    })
    .await;
    let (calls, checked) = bench.change("src/db/pool.ts", "export const size = 60;");
    assert_eq!(level(&checked), None);
    assert_eq!(bench.next_request("", &calls).await, None);
    let (calls, checked) = bench.change("src/db/pool.ts", "export const other = 60;");
    assert_eq!(level(&checked), None);
    assert_eq!(bench.next_request("", &calls).await, None);
}

#[tokio::test(start_paused = true)]
async fn an_unasked_or_denied_call_is_not_permitted() {
    for is_asked in [false, true] {
        let bench = TestBed::new();
        bench.begin(FORBIDS).await;
        let (calls, _) = bench.change("src/db/pool.ts", "export const size = 50;");
        if is_asked {
            bench.store.guard_asks_about(&calls[0]);
            let mut point = bench.point("", &calls);
            point.answered[0].failed = true;
            assert!(bench.drift.context(&point).await.is_none());
            bench.exchange(Response {
                answered: &calls,
                failed: &calls,
                ..Response::default()
            });
        } else {
            assert!(bench.next_request("", &calls).await.is_some());
        }
        let (_, checked) = bench.change(
            "src/db/pool.ts",
            "export const size = 50;\nexport const more = 1;",
        );
        assert!(level(&checked).is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn a_correction_needs_its_call_in_the_history() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");
    let mut elsewhere = bench.point("", &["call-of-another-client".to_owned()]);
    elsewhere.body = "\"call-of-another-client\"".into();
    assert!(bench.drift.context(&elsewhere).await.is_none());
    assert!(bench.next_request("", &calls).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_correction_is_not_delivered() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    bench.cause_doubt();
    let (calls, checked) = bench.change("src/styles/theme.css", "a {}");
    assert!(level(&checked).is_some());
    bench.store.forget_correction_text();
    until(|| bench.state().correction.is_none()).await;
    assert_eq!(bench.next_request("", &calls).await, None);
}

#[tokio::test(start_paused = true)]
async fn no_correction_is_created_while_switched_off() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let scope = SwitchScope::Project(ROOT.to_owned());
    let is_off = || bench.drift.shared.watcher.is_switched_off(&session(), ROOT);
    bench.cause_doubt();
    bench.change("src/styles/theme.css", "a {}");
    bench.store.switch(&scope, false).await.unwrap();
    until(is_off).await;
    let (calls, checked) = bench.change("src/components/Button.tsx", "<b/>");
    assert_eq!(level(&checked), None);
    assert_eq!((bench.state().correction, bench.state().escalation), (None, 0));
    bench.store.switch(&scope, true).await.unwrap();
    until(|| !is_off()).await;
    assert_eq!(bench.next_request("", &calls).await, None);
    let (calls, _) = bench.change("src/styles/theme.css", "b {}");
    assert!(bench.next_request("", &calls).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn without_corrections_verdicts_are_only_recorded() {
    let settings = Policy {
        corrects: false,
        ..Policy::PER_ACTION
    };
    let bench = TestBed::with(settings, Arc::default(), Arc::default());
    bench.begin(GOAL).await;
    let (calls, checked) = bench.change("src/styles/theme.css", "a {}");
    assert!(checked.verdicts[0].as_ref().unwrap().is_off_goal());
    assert_eq!(level(&checked), None);
    assert_eq!(bench.next_request("", &calls).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_subagent_may_explore_widely() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    for number in 0..40 {
        let (calls, checked) = bench.exchange(Response {
            actions: vec![
                read(&format!("{ROOT}/docs/{number}.md")),
                edit(&format!("{ROOT}/tmp/notes{number}.md"), "notes"),
            ],
            agent: Some("explorer"),
            ..Response::default()
        });
        assert_eq!(level(&checked), None);
        let mut point = bench.point("", &calls);
        point.lineage = lineage(Some("explorer"));
        assert!(!bench.drift.applies(&point));
    }
    assert_eq!(bench.state().mode, SessionMode::Normal);
    assert_eq!(bench.next_request("go on", &[]).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_subagents_violation_is_corrected_in_the_main_conversation() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    bench.exchange(Response {
        actions: vec![edit(&format!("{ROOT}/src/styles/theme.css"), "a {}")],
        agent: Some("worker"),
        ..Response::default()
    });
    let correction = bench.next_request("", &[]).await.unwrap();
    assert!(correction.contains("theme.css"));
}

#[tokio::test(start_paused = true)]
async fn a_subagents_violation_needs_no_call_in_the_history() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    bench.exchange(Response {
        agent: Some("reviewer"),
        actions: vec![edit(&format!("{ROOT}/src/styles/theme.css"), "a {}")],
        ..Response::default()
    });
    let mut point = bench.point("", &[]);
    point.body = "".into();
    let words = bench.drift.context(&point).await.unwrap();
    assert!(words.text.contains("theme.css"), "{}", words.text);
    // A call of the main conversation must be in the history of the request.
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");
    let mut point = bench.point("", &calls);
    point.answered.clear();
    point.body = "".into();
    assert!(bench.drift.context(&point).await.is_none());
}
