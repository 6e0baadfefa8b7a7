//! How long requests wait, and how long judging takes.

use super::bench::{GOAL, ROOT, Response, TestBed, session};
use super::double::{Answers, MemoryStore, Ticking};
use crate::{DriftMonitor, Policy};
use grov_domain::Project;
use grov_live::{ActionChecker, CheckResult, ContextSource, PendingExchange};
use grov_session::testing::{edit, read, read_intent};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

#[tokio::test(start_paused = true)]
async fn a_request_waits_for_the_rules_within_its_limit() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let unknown = ["never-assessed".to_owned()];
    assert_eq!(bench.next_request("", &unknown).await, None);
    assert_eq!(bench.counted("waited"), 1);

    // The verdict arrives while the request waits.
    let calls = [format!("call-{}", bench.calls.load(Ordering::Relaxed))];
    let (correction, _) = tokio::join!(bench.next_request("", &calls), async {
        tokio::task::yield_now().await;
        bench.change("src/styles/theme.css", "a {}")
    });
    assert!(correction.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_request_does_not_wait_for_a_locked_session() {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    let (calls, _) = bench.change("src/styles/theme.css", "a {}");
    let slot = bench.drift.shared.slot(&session());
    let point = bench.point("", &calls);
    let busy = slot.session();
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| bench.drift.applies(&point));
        assert!(asked.join().unwrap());
    });
    drop(busy);
    assert!(bench.next_request("", &calls).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn requests_without_project_or_outside_turns_are_ignored() {
    let bench = TestBed::new();
    let mut record = bench.record(&Response {
        prompts: &[GOAL],
        actions: vec![edit("a.rs", "x")],
        ..Response::default()
    });
    record.project = Project::default();
    let checked = bench.drift.check(&PendingExchange {
        record: &record,
        task_is_known: true,
        actions: &[edit("a.rs", "x")],
        results: &[],
        working_directory: None,
        begins: true,
        ends_turn: false,
        answer: None,
        questions: &[],
        earlier_prompts: &Vec::new,
    });
    assert_eq!(checked, CheckResult::default());
    assert!(bench.drift.shared.sessions.get(&session()).is_none());
}

#[test]
fn the_rules_take_under_20_ms_after_500_steps() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _entered = runtime.enter();
    let (drift, _work) = DriftMonitor::new(
        Policy::PER_ACTION,
        Arc::new(Answers::default()),
        Arc::new(MemoryStore::default()),
        Arc::new(Ticking::default()),
        Arc::new(read_intent),
    );
    let bench = TestBed {
        drift,
        store: Arc::default(),
        judge: Arc::default(),
        clock: Arc::default(),
        _work: JoinSet::new(),
        calls: AtomicUsize::new(0),
    };
    let mut took = Vec::new();
    for number in 0..1000_usize {
        let file = format!("{ROOT}/src/auth/part{}.ts", number % 60);
        let response = Response {
            prompts: if number == 0 { &[GOAL] } else { &[] },
            begins: number == 0,
            actions: vec![read(&file), edit(&file, &"const a = 1;\n".repeat(200))],
            ..Response::default()
        };
        let record = bench.record(&response);
        let exchange = PendingExchange {
            record: &record,
            task_is_known: true,
            actions: &response.actions,
            results: &[],
            working_directory: Some(ROOT.as_ref()),
            begins: response.begins,
            ends_turn: false,
            answer: None,
            questions: &[],
            earlier_prompts: &Vec::new,
        };
        let began = Instant::now();
        bench.drift.check(&exchange);
        if number >= 250 {
            took.push(began.elapsed());
        }
    }
    took.sort_unstable();
    let (median, most) = (took[took.len() / 2], took[took.len() * 99 / 100]);
    println!("median {median:?}, p99 {most:?}");
    // Far more than needed, even in an unoptimized build on a busy machine.
    assert!(median < Duration::from_millis(20), "{median:?}");
}
