//! The queue of records and the task that sends their spans to a collector.

use crate::otlp::{self, Span};
use crate::turn_traces::{EndedTurn, Made, TraceContent, TurnTraces};
use async_trait::async_trait;
use grov_domain::{ClientSessionId, ExchangeRecord, Redacted};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Records that may wait. More are lost, so that a collector that hangs costs memory for this many and no more.
const MAX_WAITING: usize = 1024;
/// Records that become spans within a second. More are lost: the relay has the processor first.
const MAX_PER_SECOND: u64 = 200;
/// After a collector did not accept spans, none are made for this long.
const PAUSE: Duration = Duration::from_secs(10);
/// Spans in one request.
const MAX_SPANS: usize = 512;
/// Spans wait this long for others.
const BATCH_INTERVAL: Duration = Duration::from_secs(2);
/// Time for the last spans when the daemon stops.
const LAST_SPANS: Duration = Duration::from_secs(2);

/// The connection to a collector.
#[async_trait]
pub trait SpanReceiver: Send + Sync {
    /// Sends the body of `POST /v1/traces` (OTLP over HTTP, protobuf).
    ///
    /// # Errors
    /// Why the spans were not accepted.
    async fn send(&self, body: Vec<u8>) -> Result<(), String>;
}

/// A text that was given to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injected {
    /// When.
    pub at: OffsetDateTime,
    /// `memory`, `drift` or `context`.
    pub kind: &'static str,
    /// `prompt`, `tool_result` or `session_start`.
    pub place: &'static str,
    /// The text.
    pub text: String,
    /// The ids of the memories in it.
    pub memories: Vec<String>,
}

/// Knows what was given to the agent of a session.
#[async_trait]
pub trait InjectionLog: Send + Sync {
    /// What was given since a time. Empty if it is unknown.
    async fn injected(&self, session: &ClientSessionId, since: OffsetDateTime) -> Vec<Injected>;
}

/// What became of spans.
#[derive(Debug, Default)]
pub struct TraceCounters {
    /// Spans that a collector accepted.
    pub sent: AtomicU64,
    /// Spans that no collector accepted.
    pub failed: AtomicU64,
    /// Records without spans: too many came or waited, or the collector had just failed.
    pub dropped: AtomicU64,
}

/// Where records wait for the exporter.
#[derive(Clone, Debug)]
pub struct TraceQueue {
    sender: mpsc::Sender<Redacted<ExchangeRecord>>,
    counters: Arc<TraceCounters>,
    gate: Arc<Gate>,
}

/// Lets as many records through as spans may be made of. Times are milliseconds since `start`.
#[derive(Debug)]
struct Gate {
    start: Instant,
    closed_until: AtomicU64,
    /// The second whose records are counted, and their number. Threads that race let a few more through.
    second: AtomicU64,
    passed: AtomicU64,
}

/// Sends the spans of records.
pub struct TraceExporter {
    records: mpsc::Receiver<Redacted<ExchangeRecord>>,
    receiver: Box<dyn SpanReceiver>,
    injections: Box<dyn InjectionLog>,
    traces: TurnTraces,
    counters: Arc<TraceCounters>,
    gate: Arc<Gate>,
    version: &'static str,
    waiting: Vec<Span>,
    /// Turns whose injections are not among the spans yet.
    ended: Vec<EndedTurn>,
    /// Spans that are being sent.
    sending: u64,
    /// Whether the last request failed, so that a dead collector is logged once.
    is_failing: bool,
}

impl TraceCounters {
    /// Registers the counters.
    pub fn register(&self, registry: &mut Registry) {
        for (name, help, value) in [
            (
                "trace_spans_sent",
                "Spans that the collector accepted",
                &self.sent,
            ),
            (
                "trace_spans_failed",
                "Spans that the collector did not accept",
                &self.failed,
            ),
            (
                "trace_records_dropped",
                "Records without spans: too many came or waited, or the collector had just failed",
                &self.dropped,
            ),
        ] {
            let counter = Counter::<u64>::default();
            counter.inc_by(value.load(Ordering::Relaxed));
            registry.register(name, help, counter);
        }
    }
}

impl Gate {
    fn new() -> Self {
        Self {
            start: Instant::now(),
            closed_until: AtomicU64::new(0),
            second: AtomicU64::new(0),
            passed: AtomicU64::new(0),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn passes(&self) -> bool {
        let now = self.now();
        if now < self.closed_until.load(Ordering::Relaxed) {
            return false;
        }
        if self.second.swap(now / 1000, Ordering::Relaxed) != now / 1000 {
            self.passed.store(0, Ordering::Relaxed);
        }
        self.passed.fetch_add(1, Ordering::Relaxed) < MAX_PER_SECOND
    }

    fn close_for(&self, pause: Duration) {
        let pause = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        let until = self.now().saturating_add(pause);
        self.closed_until.store(until, Ordering::Relaxed);
    }
}

impl TraceQueue {
    /// Queues a copy of a record without waiting.
    pub(crate) fn submit(&self, record: &Redacted<ExchangeRecord>) {
        if !self.gate.passes() || self.sender.try_send(record.clone()).is_err() {
            self.counters.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What became of spans.
    pub fn counters(&self) -> Arc<TraceCounters> {
        Arc::clone(&self.counters)
    }
}

impl TraceExporter {
    /// An exporter and the queue that feeds it. `version` is Grov's.
    pub fn new(
        receiver: Box<dyn SpanReceiver>,
        injections: Box<dyn InjectionLog>,
        content: TraceContent,
        version: &'static str,
    ) -> (TraceQueue, Self) {
        let (sender, records) = mpsc::channel(MAX_WAITING);
        let counters = Arc::new(TraceCounters::default());
        let gate = Arc::new(Gate::new());
        let queue = TraceQueue {
            sender,
            counters: Arc::clone(&counters),
            gate: Arc::clone(&gate),
        };
        let exporter = Self {
            records,
            receiver,
            injections,
            traces: TurnTraces::new(content),
            counters,
            gate,
            version,
            waiting: Vec::new(),
            ended: Vec::new(),
            sending: 0,
            is_failing: false,
        };
        (queue, exporter)
    }

    /// Runs until `stopping` resolves, then sends what is there, for at most two seconds.
    pub async fn run(mut self, stopping: impl Future<Output = ()>) {
        // A collector that does not answer is not waited for.
        tokio::select! {
            biased;
            () = stopping => {}
            () = self.send_all() => {}
        }
        self.lose_unsent();
        let last = async {
            while let Ok(record) = self.records.try_recv() {
                self.add(&record);
            }
            let made = self.traces.end_all();
            self.take(made);
            self.flush().await;
        };
        // A collector that hangs does not keep the daemon.
        let _ = tokio::time::timeout(LAST_SPANS, last).await;
        self.lose_unsent();
    }

    /// Sends spans until the queue is closed.
    async fn send_all(&mut self) {
        let mut flush_at = Instant::now() + BATCH_INTERVAL;
        loop {
            tokio::select! {
                record = self.records.recv() => match record {
                    Some(record) => self.add(&record),
                    None => return,
                },
                () = tokio::time::sleep_until(flush_at), if !self.waiting.is_empty() => {
                    self.flush().await;
                }
            }
            if self.waiting.len() >= MAX_SPANS {
                self.flush().await;
            }
            if self.waiting.is_empty() {
                flush_at = Instant::now() + BATCH_INTERVAL;
            }
        }
    }

    /// Counts the spans that were being sent when sending was given up.
    fn lose_unsent(&mut self) {
        let lost = std::mem::take(&mut self.sending);
        if lost > 0 {
            self.counters.failed.fetch_add(lost, Ordering::Relaxed);
            tracing::warn!(
                spans = lost,
                "the collector of traces did not answer before the end; spans are lost"
            );
        }
    }

    fn add(&mut self, record: &ExchangeRecord) {
        let made = self.traces.add(record);
        self.take(made);
    }

    fn take(&mut self, made: Made) {
        self.waiting.extend(made.spans);
        self.ended.extend(made.ended);
    }

    /// Adds what was given to the agent in the turns that ended: one read of the store for each session.
    async fn add_injections(&mut self) {
        let mut sessions: BTreeMap<ClientSessionId, Vec<EndedTurn>> = BTreeMap::new();
        for turn in self.ended.drain(..) {
            sessions.entry(turn.session.clone()).or_default().push(turn);
        }
        for (session, turns) in sessions {
            let Some(since) = turns.iter().map(|turn| turn.since).min() else {
                continue;
            };
            let injected = self.injections.injected(&session, since).await;
            for turn in &turns {
                self.waiting.extend(self.traces.injected(turn, &injected));
            }
        }
    }

    async fn flush(&mut self) {
        self.add_injections().await;
        let spans = std::mem::take(&mut self.waiting);
        if spans.is_empty() {
            return;
        }
        let count = spans.len() as u64;
        self.sending = count;
        let sent = self.receiver.send(otlp::request(spans, self.version)).await;
        self.sending = 0;
        match sent {
            Ok(()) => {
                self.counters.sent.fetch_add(count, Ordering::Relaxed);
                if self.is_failing {
                    tracing::info!("the collector of traces accepts spans again");
                }
                self.is_failing = false;
            }
            Err(error) => {
                self.counters.failed.fetch_add(count, Ordering::Relaxed);
                if !self.is_failing {
                    tracing::warn!(error, "the collector of traces accepts no spans; they are lost");
                }
                self.is_failing = true;
                self.gate.close_for(PAUSE);
            }
        }
    }
}
