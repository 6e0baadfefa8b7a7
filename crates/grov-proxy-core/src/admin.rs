//! The routes below `/_grov/`: health, metrics, and those of the embedder.

mod route;

pub use route::{AdminRequest, AdminResponse, AdminRoute};

use crate::body::Collector;
use crate::connection_state::RequestGuard;
use crate::error_response::{ErrorKind, ExchangeError};
use crate::metrics::Metrics;
use crate::upstream::Pools;
use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, header};
use hyper::body::Incoming;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;

/// The path prefix of all admin routes.
pub(crate) const PREFIX: &str = "/_grov/";

/// A section of the health report: its name, and the function that returns its value.
pub(crate) type HealthSection = (&'static str, Box<dyn Fn() -> Value + Send + Sync>);

/// The kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A count that only grows.
    Counter,
    /// A value that rises and falls.
    Gauge,
}

/// A metric of the embedder: kind, name, help text, and the function that returns its value.
pub(crate) type EmbedderMetric = (
    MetricKind,
    &'static str,
    &'static str,
    Box<dyn Fn() -> u64 + Send + Sync>,
);

/// Serves the admin routes.
pub(crate) struct AdminService {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) pools: Arc<Pools>,
    pub(crate) version: String,
    pub(crate) sections: Vec<HealthSection>,
    pub(crate) embedder_metrics: Vec<EmbedderMetric>,
    pub(crate) started: Instant,
    /// [`Limits::connections`](crate::Limits::connections).
    pub(crate) max_connections: usize,
    /// Collects the bodies of requests to routes of the embedder.
    pub(crate) collector: Collector,
    /// The embedder's routes, by prefix below [`PREFIX`].
    pub(crate) routes: Vec<(&'static str, Arc<dyn AdminRoute>)>,
}

impl AdminService {
    /// Answers a request whose path begins with [`PREFIX`].
    pub(crate) async fn serve(
        &self,
        request: Request<Incoming>,
        serving: &RequestGuard,
    ) -> Result<Response<Bytes>, ExchangeError> {
        let path = request.uri().path().strip_prefix(PREFIX).unwrap_or_default();
        let mut routes = self.routes.iter();
        let found = routes.find_map(|(prefix, route)| Some((route, path.strip_prefix(prefix)?)));
        if let Some((route, rest)) = found {
            let rest = rest.to_owned();
            return route::serve(route.as_ref(), rest, request, &self.collector, serving).await;
        }
        let readable = matches!(*request.method(), Method::GET | Method::HEAD);
        match path {
            "health" if readable => Ok(text("application/json", self.health())),
            "metrics" if readable => Ok(text(
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
                self.openmetrics(),
            )),
            _ => Err(ExchangeError::new(ErrorKind::UnknownAdminRoute, "no such route")),
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
                "most": self.max_connections,
                "closed_for_others": self.metrics.evictions(),
                "refused": self.metrics.faults("clients_refused"),
                "not_accepted": self.metrics.faults("not_accepted"),
                "last_error": self.metrics.accept_error(),
            },
            "bodies": {
                "bytes": self.collector.reserved(),
                "refused": self.metrics.faults("bodies_refused"),
            },
            "exchanges_observed": self.metrics.exchanges_observed(),
        });
        for (name, section) in &self.sections {
            health[*name] = section();
        }
        health.to_string()
    }

    fn openmetrics(&self) -> String {
        self.metrics.render(|registry| {
            let (reused, opened) = self.pools.counts();
            let counter = MetricKind::Counter;
            counter.register(
                registry,
                "upstream_connections_reused",
                "Requests that reused an upstream connection",
                reused,
            );
            counter.register(
                registry,
                "upstream_connections_opened",
                "Upstream connections opened",
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

fn text(content_type: &'static str, text: String) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(text));
    let content_type = HeaderValue::from_static(content_type);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}
