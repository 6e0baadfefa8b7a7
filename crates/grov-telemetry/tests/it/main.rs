//! Records become traces, and a full queue loses records and nothing else.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use async_trait::async_trait;
use grov_domain::{
    ClientSessionId, ExchangeId, ExchangeKind, ExchangeRecord, Outcome, Project, Prompt, RecordSink,
    Redacted, SessionId, SinkHealth, TokenUsage,
};
use grov_telemetry::{
    Injected, InjectionLog, MeteredSink, RecordMetrics, SpanReceiver, TraceContent, TraceExporter,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};
use tokio::sync::Notify;

const START: OffsetDateTime = datetime!(2026-02-03 04:05:06 UTC);

/// Counts what reaches the store.
#[derive(Default)]
struct Store(AtomicUsize);

impl RecordSink for Store {
    fn submit(&self, _: Redacted<ExchangeRecord>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn health(&self) -> SinkHealth {
        SinkHealth::default()
    }
}

/// Keeps the bodies, or never answers.
#[derive(Clone, Default)]
struct Bodies {
    bodies: Arc<Mutex<Vec<Vec<u8>>>>,
    hangs: bool,
}

#[async_trait]
impl SpanReceiver for Bodies {
    async fn send(&self, body: Vec<u8>) -> Result<(), String> {
        if self.hangs {
            Notify::new().notified().await;
        }
        self.bodies.lock().unwrap().push(body);
        Ok(())
    }
}

struct OneMemory;

#[async_trait]
impl InjectionLog for OneMemory {
    async fn injected(&self, _: &ClientSessionId, since: OffsetDateTime) -> Vec<Injected> {
        // One with each of the prompts.
        let all = [START, START + Duration::seconds(2)].map(|at| Injected {
            at,
            kind: "memory",
            place: "prompt",
            text: "injected words".to_owned(),
            memories: vec!["task-7".to_owned()],
        });
        all.into_iter().filter(|one| one.at >= since).collect()
    }
}

fn record(number: i64, prompt: Option<&str>, stop_reason: &str) -> Redacted<ExchangeRecord> {
    let prompts = prompt.map(|text| Prompt {
        text: text.to_owned(),
        queued: false,
    });
    Redacted::of(&ExchangeRecord {
        id: ExchangeId::new(format!("exchange-{number}")),
        session_id: SessionId::new("s"),
        client_session_id: ClientSessionId::new("s"),
        agent_id: None,
        kind: ExchangeKind::Main,
        project: Project {
            path: Some("/home/me/secret-project".to_owned()),
            remote: None,
        },
        user: None,
        model: Some("claude-x".to_owned()),
        started_at: START + Duration::seconds(number),
        ended_at: START + Duration::seconds(number) + Duration::milliseconds(500),
        prompts: prompts.into_iter().collect(),
        steps: Vec::new(),
        failures: Vec::new(),
        usage: TokenUsage {
            input: 3,
            output: 4,
            ..TokenUsage::default()
        },
        stop_reason: Some(stop_reason.to_owned()),
        outcome: Outcome::Complete,
        drift: None,
        edits: None,
    })
}

/// What is sent for two turns.
async fn sent(content: TraceContent) -> String {
    let receiver = Bodies::default();
    let (queue, exporter) = TraceExporter::new(Box::new(receiver.clone()), Box::new(OneMemory), content, "1");
    let store = Arc::new(Store::default());
    let sink = MeteredSink::new(
        Arc::clone(&store) as Arc<_>,
        Arc::new(RecordMetrics::default()),
        Some(queue),
    );
    sink.submit(record(0, Some("the first prompt"), "tool_use"));
    sink.submit(record(1, None, "end_turn"));
    sink.submit(record(2, Some("the second prompt"), "tool_use"));
    exporter.run(async {}).await;
    assert_eq!(store.0.load(Ordering::Relaxed), 3);
    let bodies = receiver.bodies.lock().unwrap();
    String::from_utf8_lossy(&bodies.concat()).into_owned()
}

#[tokio::test]
async fn an_unfinished_turn_is_sent_at_the_end_and_content_only_on_request() {
    let off = sent(TraceContent::Off).await;
    assert_eq!(
        off.matches("invoke_agent").count(),
        4,
        "a name and an attribute for each turn: {off}"
    );
    assert_eq!(off.matches("chat claude-x").count(), 3);
    assert_eq!(off.matches("inject memory").count(), 2);
    assert!(off.contains("task-7"));
    for private in [
        "first prompt",
        "second prompt",
        "injected words",
        "secret-project",
    ] {
        assert!(!off.contains(private), "{private}");
    }
    let on = sent(TraceContent::On).await;
    for private in [
        "first prompt",
        "second prompt",
        "injected words",
        "secret-project",
    ] {
        assert!(on.contains(private), "{private}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_hangs_loses_records_beyond_the_queue_and_stores_all() {
    let receiver = Bodies {
        hangs: true,
        ..Bodies::default()
    };
    let (queue, exporter) =
        TraceExporter::new(Box::new(receiver), Box::new(OneMemory), TraceContent::Off, "1");
    let counters = queue.counters();
    let store = Arc::new(Store::default());
    let sink = MeteredSink::new(
        Arc::clone(&store) as Arc<_>,
        Arc::new(RecordMetrics::default()),
        Some(queue),
    );
    for number in 0..3000 {
        sink.submit(record(number, Some("x"), "end_turn"));
        if number % 200 == 199 {
            tokio::time::advance(std::time::Duration::from_secs(1)).await;
        }
    }
    assert_eq!(counters.dropped.load(Ordering::Relaxed), 3000 - 1024);
    assert_eq!(store.0.load(Ordering::Relaxed), 3000);
    // It ends although the receiver never answers.
    exporter.run(async {}).await;
}

#[tokio::test(start_paused = true)]
async fn more_than_200_records_a_second_are_stored_without_spans() {
    let (queue, _exporter) = TraceExporter::new(
        Box::new(Bodies::default()),
        Box::new(OneMemory),
        TraceContent::Off,
        "1",
    );
    let counters = queue.counters();
    let store = Arc::new(Store::default());
    let sink = MeteredSink::new(
        Arc::clone(&store) as Arc<_>,
        Arc::new(RecordMetrics::default()),
        Some(queue),
    );
    for second in 0..2 {
        for number in 0..300 {
            sink.submit(record(second * 300 + number, Some("x"), "end_turn"));
        }
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
    }
    assert_eq!(counters.dropped.load(Ordering::Relaxed), 200);
    assert_eq!(store.0.load(Ordering::Relaxed), 600);
}

/// Refuses everything.
struct Refusing(Arc<AtomicUsize>);

#[async_trait]
impl SpanReceiver for Refusing {
    async fn send(&self, _: Vec<u8>) -> Result<(), String> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Err("refused".to_owned())
    }
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_refuses_is_asked_again_after_a_pause() {
    let asked = Arc::new(AtomicUsize::new(0));
    let receiver = Refusing(Arc::clone(&asked));
    let (queue, exporter) =
        TraceExporter::new(Box::new(receiver), Box::new(OneMemory), TraceContent::Off, "1");
    let counters = queue.counters();
    let sink = MeteredSink::new(
        Arc::new(Store::default()),
        Arc::new(RecordMetrics::default()),
        Some(queue),
    );
    let half_a_minute = async {
        for number in 0..30 {
            sink.submit(record(number, Some("x"), "end_turn"));
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        }
    };
    tokio::select! {
        () = exporter.run(std::future::pending()) => panic!("it ended"),
        () = half_a_minute => {}
    }
    let (asked, dropped) = (
        asked.load(Ordering::Relaxed),
        counters.dropped.load(Ordering::Relaxed),
    );
    // A record may have waited while the receiver was asked.
    assert!((2..=4).contains(&asked), "asked {asked} times in 30 s");
    assert!((15..30).contains(&dropped), "{dropped} records without spans");
}
