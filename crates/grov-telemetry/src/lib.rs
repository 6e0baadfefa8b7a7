//! Metrics and traces of recorded exchanges.
//!
//! [`MeteredSink`] passes records on to the store's sink and counts them in [`RecordMetrics`]: tokens by class, cost, actions,
//! drift by rule, store lag. With [`TraceQueue`] they also become OpenTelemetry spans, one trace per turn, which
//! [`TraceExporter`] sends in batches; when its queue is full, spans are lost and counted.
//!
//! Everything runs after the client has its answer. The crate opens no sockets: [`SpanReceiver`] is the connection to a collector.
#![forbid(unsafe_code)]

mod export;
mod lag;
mod metered_sink;
mod otlp;
mod record_metrics;
mod turn_traces;

pub use export::{Injected, InjectionLog, SpanReceiver, TraceCounters, TraceExporter, TraceQueue};
pub use metered_sink::MeteredSink;
pub use record_metrics::RecordMetrics;
pub use turn_traces::TraceContent;
