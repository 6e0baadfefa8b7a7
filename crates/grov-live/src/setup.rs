//! Prepares a proxy for the parts of this crate.

use crate::identity::IDENTITY_HEADERS;
use grov_domain::{RecordSink, SinkHealth};
use grov_proxy_core::{MetricKind, ProxyBuilder};
use std::sync::Arc;

/// Makes the proxy keep the headers that [`Identity`](crate::Identity) reads, and shows the state of `sink` in
/// `/_grov/health` and `/_grov/metrics`.
pub fn configure(builder: ProxyBuilder, sink: &Arc<dyn RecordSink>) -> ProxyBuilder {
    let metric = |read: fn(SinkHealth) -> u64| {
        let sink = Arc::clone(sink);
        move || read(sink.health())
    };
    let queued = metric(|health| health.queued);
    let spooled = metric(|health| health.spooled);
    let stored = metric(|health| health.stored);
    let lost = metric(|health| health.lost);
    let (counter, gauge) = (MetricKind::Counter, MetricKind::Gauge);
    let sink = Arc::clone(sink);
    builder
        .keep_headers(IDENTITY_HEADERS)
        .health_section("store", move || health(sink.health()))
        .metric(
            gauge,
            "records_queued",
            "Records accepted and not yet stored",
            queued,
        )
        .metric(
            gauge,
            "records_spooled",
            "Records waiting in the spool file",
            spooled,
        )
        .metric(counter, "records_stored", "Records stored", stored)
        .metric(
            counter,
            "records_lost",
            "Records neither stored nor spooled",
            lost,
        )
}

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
