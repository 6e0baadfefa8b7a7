//! Prepares a proxy for this crate.

use crate::context::BETA_HEADER;
use crate::identity::identity_headers;
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
