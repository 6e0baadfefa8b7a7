//! A sink that counts records on their way to the store.

use crate::{RecordMetrics, TraceQueue};
use grov_domain::{ExchangeRecord, RecordSink, Redacted, SinkHealth};
use std::sync::Arc;

/// Passes records on, counts them, and hands copies to the exporter of traces.
pub struct MeteredSink {
    sink: Arc<dyn RecordSink>,
    metrics: Arc<RecordMetrics>,
    traces: Option<TraceQueue>,
}

impl MeteredSink {
    /// A sink in front of `sink`. Without `traces` no spans are made.
    pub fn new(sink: Arc<dyn RecordSink>, metrics: Arc<RecordMetrics>, traces: Option<TraceQueue>) -> Self {
        Self {
            sink,
            metrics,
            traces,
        }
    }
}

impl RecordSink for MeteredSink {
    fn submit(&self, record: Redacted<ExchangeRecord>) {
        self.metrics.count(&record);
        if let Some(traces) = &self.traces {
            traces.submit(&record);
        }
        self.sink.submit(record);
    }

    fn health(&self) -> SinkHealth {
        self.sink.health()
    }
}
