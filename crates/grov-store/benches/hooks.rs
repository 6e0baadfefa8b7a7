//! Measures a hook's use of the store: opening it, reading its session and saving progress, each in a separate process,
//! with 10,000 memories in the database; then in one process. The engine state has 20 kB.
//!
//! `cargo bench -p grov-store --bench hooks [-- PROCESSES [MEMORIES]]`
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, missing_docs)]

use grov_domain::{
    ActionSketch, ActionType, ClientSessionId, EffectKind, HookCheck, HookProgress, HookSession, HookStep,
    HookStore, MemoryStore, Redacted, StepId, Task,
};
use grov_store::contract::empty_task;
use grov_store::{OpenOptions, SqliteStore};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use time::OffsetDateTime;

const PART: &str = "GROV_BENCH_HOOKS_DATABASE";
const COURSE_BYTES: usize = 20_000;

fn memory(number: usize) -> Task {
    Task {
        project_path: "/home/dev/projects/relay".to_owned(),
        original_query: format!(
            "Please check limit {number} on every frame of stream {}.",
            number % 97
        ),
        goal: Some(format!("Limit {number} per frame")),
        reasoning_trace: vec![format!("read the relay {number}"), "moved the check".to_owned()],
        files_touched: vec![format!("crates/core/src/handler_{}.rs", number % 500)],
        created_at: OffsetDateTime::now_utc(),
        ..empty_task(&format!("task-{number:06}"))
    }
}

fn client() -> ClientSessionId {
    ClientSessionId::new("00000000-0000-4000-8000-000000000001")
}

fn begun() -> HookSession {
    let project = "/home/dev/projects/relay".to_owned();
    HookSession::new(client(), project.clone(), project, OffsetDateTime::now_utc())
}

/// The progress of a prompt: two actions and a check.
fn learned(mut session: HookSession) -> HookProgress {
    let now = OffsetDateTime::now_utc();
    session.updated_at = now;
    let line = "\"the handler reads the header before the body is complete\",";
    session.engine_state = Some(format!("[{}1]", line.repeat(COURSE_BYTES / line.len())));
    let step = |index: u64| HookStep {
        id: StepId::new(format!("{}-{index}", session.revision)),
        tool_use_id: Some(format!("toolu_01{}{index}", session.revision)),
        agent_id: None,
        tool: "Bash".to_owned(),
        action: ActionSketch {
            action_type: ActionType::Bash,
            files: vec!["crates/core/src/handler.rs".to_owned()],
            command: Some("cargo nextest run -p relay-core --no-fail-fast 2>&1 | tail -40".to_owned()),
            effects: vec![EffectKind::Test],
            reasoning: Some("The existing test covers the case where the client goes away.".to_owned()),
            failed: Some(false),
            output: Some("test result: ok. 12 passed".repeat(10)),
            content: Some("fn check(frame: &Frame) -> bool { frame.len() < LIMIT }\n".repeat(20)),
            line: None,
            change: None,
        },
        prompt: session.revision,
        score: Some(9),
        findings: Vec::new(),
        timestamp: now,
    };
    let steps = vec![step(1), step(2)];
    let check = HookCheck {
        id: session.revision.to_string(),
        actions: 2,
        score: 9,
        level: None,
        reason: None,
        files: Vec::new(),
        recovery_plan: Vec::new(),
        correction: None,
        at: now,
    };
    HookProgress {
        session,
        steps,
        ended: Vec::new(),
        allowed: Vec::new(),
        check: Some(check),
    }
}

/// Microseconds for opening, reading and saving.
async fn hook(store: &SqliteStore, opened: Duration) -> [u128; 3] {
    let start = Instant::now();
    let session = store.hook_session(&client()).await.unwrap().unwrap_or_else(begun);
    let read = start.elapsed();
    let progress = learned(session);
    let start = Instant::now();
    assert!(store.save_hook_progress(&Redacted::of(&progress)).await.unwrap());
    [opened, read, start.elapsed()].map(|time| time.as_micros())
}

fn in_runtime<T>(part: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(part)
}

async fn open(database: &Path) -> (SqliteStore, Duration) {
    let start = Instant::now();
    let options = OpenOptions {
        busy_timeout: Duration::from_secs(2),
        ..OpenOptions::brief()
    };
    let store = SqliteStore::open(database, &options).await.unwrap();
    (store, start.elapsed())
}

fn tell(what: &str, times: &mut [[u128; 3]]) {
    for (column, name) in ["open", "hook_session", "follow"].into_iter().enumerate() {
        let mut sorted: Vec<u128> = times.iter().map(|time| time[column]).collect();
        sorted.sort_unstable();
        let at = |percent: usize| sorted[(sorted.len() - 1) * percent / 100];
        println!("{what:12} {name:13} median {:6} us   p99 {:6} us", at(50), at(99));
    }
}

fn main() {
    if let Some(database) = std::env::var_os(PART) {
        let times = in_runtime(async {
            let (store, opened) = open(Path::new(&database)).await;
            hook(&store, opened).await
        });
        println!("times {} {} {}", times[0], times[1], times[2]);
        return;
    }
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|argument| argument.parse().ok())
        .collect();
    let processes = numbers.first().copied().unwrap_or(200);
    let memories = numbers.get(1).copied().unwrap_or(10_000);
    let folder = std::env::temp_dir().join(format!("grov-bench-hooks-{}", std::process::id()));
    let database = folder.join("grov.db");
    in_runtime(async {
        let (store, _) = open(&database).await;
        let tasks: Vec<Task> = (0..memories).map(memory).collect();
        for portion in tasks.chunks(1000) {
            store.import(&Redacted::each(portion)).await.unwrap();
        }
        store.close().await.unwrap();
    });
    let size = fs::metadata(&database).unwrap().len() / 1024;
    println!("{processes} processes, {memories} memories, database of {size} KiB");
    let mut cold = Vec::with_capacity(processes);
    for _ in 0..processes {
        let output = Command::new(std::env::current_exe().unwrap())
            .env(PART, &database)
            .output()
            .unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        let mut times = output
            .strip_prefix("times ")
            .expect("a hook's times")
            .split_whitespace();
        cold.push(std::array::from_fn(|_| times.next().unwrap().parse().unwrap()));
    }
    tell("cold process", &mut cold);
    let mut warm = in_runtime(async {
        let (store, opened) = open(&database).await;
        let mut times = Vec::with_capacity(processes);
        for _ in 0..processes {
            times.push(hook(&store, opened).await);
        }
        times
    });
    tell("warm", &mut warm);
    fs::remove_dir_all(folder).unwrap();
}
