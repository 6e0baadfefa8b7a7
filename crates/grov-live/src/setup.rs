//! Prepares a proxy for this crate.

use crate::context::BETA_HEADER;
use crate::counters::Counter;
use crate::identity::identity_headers;
use crate::injection::Counters;
use grov_domain::{RecordSink, SinkHealth};
use grov_proxy_core::{MetricKind, ProxyBuilder};
use std::sync::Arc;

/// Makes the proxy keep the headers that [`Identity`](crate::Identity) and [`ContextMonitor`](crate::ContextMonitor) read, and adds the state of `sink` to
/// `/_grov/health` and `/_grov/metrics`.
pub fn configure(mut builder: ProxyBuilder, sink: &Arc<dyn RecordSink>) -> ProxyBuilder {
    for (kind, name, help, read) in METRICS {
        let sink = Arc::clone(sink);
        builder = builder.metric(kind, name, help, move || read(sink.health()));
    }
    let sink = Arc::clone(sink);
    builder
        .keep_headers(identity_headers())
        .keep_headers([BETA_HEADER])
        .health_section("store", move || health(sink.health()))
}

/// Adds to `/_grov/metrics` for how many prompts memory was searched, and for how many it came too late.
pub fn with_memory_metrics(mut builder: ProxyBuilder, counters: &Arc<Counters>) -> ProxyBuilder {
    for (name, help, read) in MEMORY_METRICS {
        let counters = Arc::clone(counters);
        builder = builder.metric(MetricKind::Counter, name, help, move || read(&counters).get());
    }
    builder
}

/// A metric of the ledger: name, description, counter.
type MemoryMetric = (&'static str, &'static str, fn(&Counters) -> &Counter);

const MEMORY_METRICS: [MemoryMetric; 3] = [
    (
        "memory_prompts",
        "Prompts for which memory was searched",
        |counters| &counters.memory_asked,
    ),
    (
        "memory_late",
        "Prompts whose memory came too late for their request",
        |counters| &counters.memory_late,
    ),
    (
        "memory_added_later",
        "Prompts whose memory came too late and was added later in the same turn",
        |counters| &counters.memory_added_later,
    ),
];

/// A metric of a sink: kind, name, description, value.
type SinkMetric = (MetricKind, &'static str, &'static str, fn(SinkHealth) -> u64);

const METRICS: [SinkMetric; 4] = [
    (
        MetricKind::Gauge,
        "records_queued",
        "Records accepted and not yet stored",
        |health| health.queued,
    ),
    (
        MetricKind::Gauge,
        "records_spooled",
        "Records waiting in the spool file",
        |health| health.spooled,
    ),
    (
        MetricKind::Counter,
        "records_stored",
        "Records stored",
        |health| health.stored,
    ),
    (
        MetricKind::Counter,
        "records_lost",
        "Records neither stored nor spooled",
        |health| health.lost,
    ),
];

fn health(health: SinkHealth) -> serde_json::Value {
    let SinkHealth {
        queued,
        stored,
        spooled,
        lost,
        last_error,
    } = health;
    serde_json::json!({
        "ok": last_error.is_none() && lost == 0,
        "queued": queued,
        "stored": stored,
        "spooled": spooled,
        "lost": lost,
        "last_error": last_error,
    })
}
