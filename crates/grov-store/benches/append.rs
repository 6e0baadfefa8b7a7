//! Measures recording: records per second and CPU time per record over all threads, with three steps per record. For
//! batches of 1, 16 and 256 passed to the store, with and without drift states, and for the batching writer under
//! constant load.
//!
//! `cargo bench -p grov-store --bench append [-- RECORDS [BATCH]]`
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, missing_docs)]

use grov_domain::{
    Action, ActionType, ClientSessionId, DriftState, Effect, EffectKind, ExchangeId, ExchangeKind,
    ExchangeRecord, ExchangeStore, JudgedBy, Outcome, Project, Prompt, RecordSink, Redacted, Step, StepId,
    StepVerdict, TaskStore, TokenUsage,
};
use grov_store::{BatchWriter, OpenOptions, Spool, SqliteStore, WriterOptions};
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};
use time::OffsetDateTime;

const SESSIONS: usize = 8;
const REASONING: &str = "The handler reads the header before the body is complete, so the limit has to be checked on \
    every frame. I'll move the check into the relay and keep the counter with the exchange; the existing test covers \
    the case where the client goes away.";
const COMMAND: &str =
    "cd /home/dev/projects/relay && cargo nextest run -p relay-core --no-fail-fast 2>&1 | tail -40";

fn step(exchange: &ExchangeId, index: usize) -> Step {
    let (tool, action_type) = [
        ("Edit", ActionType::Edit),
        ("Read", ActionType::Read),
        ("Bash", ActionType::Bash),
    ][index];
    let file = format!("/home/dev/projects/relay/crates/core/src/handler_{index}.rs");
    let is_command = action_type == ActionType::Bash;
    Step {
        id: StepId::of(exchange, index),
        action: Action {
            tool: tool.to_owned(),
            tool_use_id: Some(format!("toolu_01{exchange}")),
            action_type,
            files: if is_command { Vec::new() } else { vec![file] },
            folders: Vec::new(),
            command: is_command.then(|| COMMAND.to_owned()),
            effects: if is_command {
                vec![Effect {
                    kind: EffectKind::Test,
                    paths: vec!["/home/dev/projects/relay".to_owned()],
                }]
            } else {
                Vec::new()
            },
            line: None,
            change: None,
        },
        reasoning: (index == 0).then(|| REASONING.to_owned()),
        keywords: vec!["handler".to_owned(), "relay".to_owned()],
        is_key_decision: index == 0,
        timestamp: OffsetDateTime::now_utc(),
        verdict: None,
    }
}

fn record(number: usize) -> ExchangeRecord {
    let id = ExchangeId::fresh();
    let client = ClientSessionId::new(format!("00000000-0000-4000-8000-{:012}", number % SESSIONS));
    let now = OffsetDateTime::now_utc();
    ExchangeRecord {
        session_id: client.first_task(),
        client_session_id: client,
        agent_id: None,
        kind: ExchangeKind::Main,
        project: Project {
            path: Some("/home/dev/projects/relay".to_owned()),
            remote: None,
        },
        user: Some("Dev <dev@example.com>".to_owned()),
        model: Some("claude-sonnet-4-5-20250929".to_owned()),
        started_at: now - Duration::from_secs(3),
        ended_at: now,
        prompts: if number.is_multiple_of(20) {
            vec![Prompt {
                text: "Please check the limit on every frame.".to_owned(),
                queued: false,
            }]
        } else {
            Vec::new()
        },
        steps: (0..3).map(|index| step(&id, index)).collect(),
        failures: Vec::new(),
        usage: TokenUsage {
            input: 12,
            cache_read: 20_000,
            cache_creation: 700,
            output: 350,
            ..TokenUsage::default()
        },
        stop_reason: Some("tool_use".to_owned()),
        outcome: Outcome::Complete,
        id,
        drift: None,
        edits: None,
    }
}

/// CPU time of all threads of this process.
fn processor_time() -> Duration {
    let nanos = fs::read_dir("/proc/self/task")
        .expect("this bench reads /proc")
        .filter_map(|task| fs::read_to_string(task.ok()?.path().join("schedstat")).ok())
        .filter_map(|text| text.split(' ').next()?.parse::<u64>().ok())
        .sum();
    Duration::from_nanos(nanos)
}

fn report(name: &str, records: usize, start: Instant, processor: Duration) {
    let (wall, processor) = (start.elapsed(), processor_time() - processor);
    println!(
        "{name:<22} {:>8.0} records/s {:>7.1} us CPU/record",
        records as f64 / wall.as_secs_f64(),
        processor.as_secs_f64() * 1e6 / records as f64
    );
}

/// An exchange with judged actions and a drift state.
fn watched(number: usize) -> ExchangeRecord {
    let mut record = record(number);
    for step in &mut record.steps {
        step.verdict = Some(StepVerdict {
            score: 10,
            by: JudgedBy::Rules,
            findings: Vec::new(),
            level: None,
            correction: None,
            recovery_plan: Vec::new(),
        });
    }
    if number.is_multiple_of(20) {
        record.drift = Some(DriftState::new(record.client_session_id.clone(), record.ended_at));
    }
    record
}

async fn store_in_batches(name: &str, record: fn(usize) -> ExchangeRecord, total: usize, size: usize) {
    let home = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&home.path().join("grov.db"), &OpenOptions::default())
        .await
        .unwrap();
    let records: Vec<_> = (0..total).map(record).collect();
    store
        .append(&Redacted::each(&records[..SESSIONS.min(total)]))
        .await
        .unwrap();
    let (start, processor) = (Instant::now(), processor_time());
    for batch in records[SESSIONS..].chunks(size) {
        store.append(&Redacted::each(batch)).await.unwrap();
    }
    report(
        &format!("{name}, batches of {size}"),
        total - SESSIONS,
        start,
        processor,
    );
}

/// Submits records every 10 ms at the given rate.
async fn write_steadily(total: usize, per_second: usize) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("grov.db");
    let store = Arc::new(SqliteStore::open(&path, &OpenOptions::default()).await.unwrap());
    let writer = BatchWriter::start(store, WriterOptions::new(Spool::for_database(&path))).unwrap();
    let mut records: Vec<_> = (0..total).map(record).collect();
    let (start, processor) = (Instant::now(), processor_time());
    let mut ticks = tokio::time::interval(Duration::from_millis(10));
    let mut submitted = 0.0;
    while !records.is_empty() {
        ticks.tick().await;
        submitted += per_second as f64 / 100.0;
        let left = total.saturating_sub(submitted as usize);
        for record in records.drain(left..) {
            writer.submit(Redacted::of(&record));
        }
    }
    assert!(writer.flush(Duration::from_secs(60)).await);
    report(&format!("writer, {per_second}/s"), total, start, processor);
    let health = writer.shutdown(Duration::from_secs(10)).await;
    assert_eq!(
        (health.stored, health.lost, health.spooled),
        (total as u64, 0, 0),
        "{health:?}"
    );
}

/// Measures a short command: opening an existing database, one query, closing it.
async fn open_and_ask() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("grov.db");
    let store = SqliteStore::open(&path, &OpenOptions::default()).await.unwrap();
    store
        .append(&Redacted::each(&(0..2000).map(record).collect::<Vec<_>>()))
        .await
        .unwrap();
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..200 {
        let start = Instant::now();
        let store = SqliteStore::open_existing(&path, &OpenOptions::default())
            .await
            .unwrap()
            .unwrap();
        let status = store.project_status("/home/dev/projects/relay").await.unwrap();
        times.push(start.elapsed());
        assert_eq!(status.steps, 6000);
    }
    times.sort();
    println!(
        "open and project_status: median {:?}, 90th {:?}",
        times[100], times[180]
    );
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut numbers = std::env::args()
        .skip(1)
        .filter_map(|argument| argument.parse().ok());
    let total = numbers.next().unwrap_or(20_000);
    let only: Option<usize> = numbers.next();
    for size in [1, 16, 256] {
        if only.is_none_or(|only| only == size) {
            store_in_batches("store", record, total, size).await;
            store_in_batches("watched", watched, total, size).await;
        }
    }
    if only.is_some() {
        return;
    }
    for per_second in [20, 200, 2000] {
        write_steadily((per_second * 3).min(total), per_second).await;
    }
    open_and_ask().await;
}
