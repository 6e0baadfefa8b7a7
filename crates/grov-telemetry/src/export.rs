//! The queue of records and the task that sends their spans to a collector.

use crate::otlp::{self, Span};
use crate::turn_traces::{EndedTurn, Made, TraceContent, TurnTraces};
use async_trait::async_trait;
use grov_domain::{ClientSessionId, ExchangeRecord, Redacted};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Records that may wait. More are lost, so that a collector that hangs costs memory for this many and no more.
const MAX_WAITING: usize = 1024;
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
    /// Records without spans, because too many waited.
    pub dropped: AtomicU64,
}

/// Where records wait for the exporter.
#[derive(Clone, Debug)]
pub struct TraceQueue {
    sender: mpsc::Sender<Redacted<ExchangeRecord>>,
    counters: Arc<TraceCounters>,
}

/// Sends the spans of records.
pub struct TraceExporter {
    records: mpsc::Receiver<Redacted<ExchangeRecord>>,
    receiver: Box<dyn SpanReceiver>,
    injections: Box<dyn InjectionLog>,
    traces: TurnTraces,
    counters: Arc<TraceCounters>,
    version: &'static str,
    waiting: Vec<Span>,
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
                "Records without spans, because too many waited for the collector",
                &self.dropped,
            ),
        ] {
            let counter = Counter::<u64>::default();
            counter.inc_by(value.load(Ordering::Relaxed));
            registry.register(name, help, counter);
        }
    }
}

impl TraceQueue {
    /// Queues a record without waiting.
    pub(crate) fn submit(&self, record: Redacted<ExchangeRecord>) {
        if self.sender.try_send(record).is_err() {
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
        let queue = TraceQueue {
            sender,
            counters: Arc::clone(&counters),
        };
        let exporter = Self {
            records,
            receiver,
            injections,
            traces: TurnTraces::new(content),
            counters,
            version,
            waiting: Vec::new(),
            is_failing: false,
        };
        (queue, exporter)
    }

    /// Runs until `stopping` resolves, then sends what is there.
    pub async fn run(mut self, stopping: impl Future<Output = ()>) {
        tokio::pin!(stopping);
        let mut flush_at = Instant::now() + BATCH_INTERVAL;
        loop {
            tokio::select! {
                biased;
                () = &mut stopping => break,
                record = self.records.recv() => match record {
                    Some(record) => self.add(&record).await,
                    None => break,
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
        let last = async {
            while let Ok(record) = self.records.try_recv() {
                self.add(&record).await;
            }
            let made = self.traces.end_all();
            self.take(made).await;
            self.flush().await;
        };
        // A collector that hangs does not keep the daemon.
        let _ = tokio::time::timeout(LAST_SPANS, last).await;
    }

    async fn add(&mut self, record: &ExchangeRecord) {
        let made = self.traces.add(record);
        self.take(made).await;
    }

    async fn take(&mut self, made: Made) {
        self.waiting.extend(made.spans);
        for turn in &made.ended {
            let EndedTurn { session, since, .. } = turn;
            let injected = self.injections.injected(session, *since).await;
            self.waiting.extend(self.traces.injected(turn, &injected));
        }
    }

    async fn flush(&mut self) {
        let spans = std::mem::take(&mut self.waiting);
        if spans.is_empty() {
            return;
        }
        let count = spans.len() as u64;
        match self.receiver.send(otlp::request(spans, self.version)).await {
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
            }
        }
    }
}
