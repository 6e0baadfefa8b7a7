//! The pages below `/_grov/`: the only path prefix that is ours.

use crate::answer::Refusal;
use crate::body::Collector;
use crate::metrics::Metrics;
use crate::upstream::Pools;
use bytes::Bytes;
use http::{HeaderValue, Method, Response, header};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;

/// Prefix of our own pages.
pub(crate) const PREFIX: &str = "/_grov/";

/// A part of the health page that others fill in.
pub(crate) type HealthSection = (&'static str, Box<dyn Fn() -> Value + Send + Sync>);

/// The kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A count that only grows.
    Counter,
    /// A value that rises and falls.
    Gauge,
}

/// A metric of the embedder: kind, name, help text and value.
pub(crate) type EmbedderMetric = (
    MetricKind,
    &'static str,
    &'static str,
    Box<dyn Fn() -> u64 + Send + Sync>,
);

/// Answers questions about the proxy itself.
pub(crate) struct OwnPages {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) pools: Arc<Pools>,
    pub(crate) version: String,
    pub(crate) sections: Vec<HealthSection>,
    pub(crate) embedder_metrics: Vec<EmbedderMetric>,
    pub(crate) started: Instant,
    /// Most clients that may be connected.
    pub(crate) most_connections: usize,
    /// For the memory that bodies take.
    pub(crate) collector: Collector,
}

impl OwnPages {
    pub(crate) fn answer(&self, method: &Method, path: &str) -> Result<Response<Bytes>, Refusal> {
        let readable = method == Method::GET || method == Method::HEAD;
        match path {
            "/_grov/health" if readable => Ok(page("application/json", self.health())),
            "/_grov/metrics" if readable => Ok(page(
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
                self.prometheus(),
            )),
            _ => Err(Refusal::NoSuchPage),
        }
    }

    fn health(&self) -> String {
        let mut health = serde_json::json!({
            "schema": 1,
            "status": "ok",
            "version": self.version,
            "pid": std::process::id(),
            "uptime_seconds": self.started.elapsed().as_secs(),
            "upstream": self.pools.main().connector().upstream().uri().to_string(),
            "streams": self.metrics.streams(),
            "connections": {
                "open": self.metrics.connections(),
                "most": self.most_connections,
                "closed_for_others": self.metrics.clients_sent_away(),
                "refused": self.metrics.faults("clients_refused"),
                "not_accepted": self.metrics.faults("not_accepted"),
                "last_error": self.metrics.accept_error(),
            },
            "bodies": {
                "bytes": self.collector.taken(),
                "refused": self.metrics.faults("bodies_refused"),
            },
            "exchanges_observed": self.metrics.exchanges_observed(),
        });
        for (name, state) in &self.sections {
            health[*name] = state();
        }
        health.to_string()
    }

    fn prometheus(&self) -> String {
        self.metrics.render(|registry| {
            let (reused, opened) = self.pools.counts();
            let counter = MetricKind::Counter;
            counter.register(
                registry,
                "upstream_connections_reused",
                "Requests that found a connection ready",
                reused,
            );
            counter.register(
                registry,
                "upstream_connections_opened",
                "Connections opened to the upstream",
                opened,
            );
            for (kind, name, help, value) in &self.embedder_metrics {
                kind.register(registry, name, help, value());
            }
        })
    }
}

impl MetricKind {
    fn register(self, registry: &mut Registry, name: &str, help: &str, value: u64) {
        match self {
            Self::Counter => {
                let counter = Counter::<u64>::default();
                counter.inc_by(value);
                registry.register(name, help, counter);
            }
            Self::Gauge => {
                let gauge = Gauge::<i64>::default();
                gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
                registry.register(name, help, gauge);
            }
        }
    }
}

fn page(content_type: &'static str, text: String) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(text));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
