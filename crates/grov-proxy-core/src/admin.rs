//! The routes below `/_grov/`: health, metrics, and those of the embedder.

mod route;
mod site;

pub use route::{AdminRequest, AdminResponse, AdminRoute};
pub use site::{Site, SiteBody};
pub(crate) use site::{SiteStream, Sites, serve as serve_site};

use crate::body::Collector;
use crate::connection_state::RequestGuard;
use crate::error_response::{ErrorKind, ExchangeError};
use crate::metrics::Metrics;
use crate::upstream::Pools;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, header};
use hyper::body::Incoming;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use serde_json::Value;
use std::collections::BTreeSet;
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

/// Registers metrics of the embedder.
pub(crate) type Registrar = Box<dyn Fn(&mut Registry) + Send + Sync>;

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Serves the admin routes.
pub(crate) struct AdminService {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) pools: Arc<Pools>,
    pub(crate) version: String,
    pub(crate) sections: Vec<HealthSection>,
    pub(crate) embedder_metrics: Vec<EmbedderMetric>,
    pub(crate) registrars: Vec<Registrar>,
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
            "metrics" if readable && accepts_openmetrics(request.headers()) => {
                Ok(text(OPENMETRICS, self.openmetrics()))
            }
            "metrics" if readable => Ok(text(PROMETHEUS, prometheus_text(&self.openmetrics()))),
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
            for register in &self.registrars {
                register(registry);
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

/// Whether the client asked for OpenMetrics, as Prometheus does.
fn accepts_openmetrics(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(header::ACCEPT).iter();
    accepted.any(|value| {
        value
            .to_str()
            .is_ok_and(|value| value.contains("application/openmetrics-text"))
    })
}

/// OpenMetrics as Prometheus text, which names a counter in its comments as in its samples and has no end mark.
fn prometheus_text(openmetrics: &str) -> String {
    let mut counters = BTreeSet::new();
    for line in openmetrics.lines() {
        let declared = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' '));
        if let Some((name, "counter")) = declared {
            counters.insert(name);
        }
    }
    let mut text = String::with_capacity(openmetrics.len());
    for line in openmetrics.lines() {
        let comment = line.strip_prefix("# ");
        let mut words = comment.into_iter().flat_map(|comment| comment.splitn(3, ' '));
        match (words.next(), words.next(), words.next()) {
            (Some("EOF" | "UNIT"), ..) => continue,
            (Some(kind), Some(name), Some(rest)) if counters.contains(name) => {
                text.push_str(&format!("# {kind} {name}_total {rest}"));
            }
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

fn text(content_type: &'static str, text: String) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(text));
    let content_type = HeaderValue::from_static(content_type);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_the_names_of_their_samples_in_prometheus_text() {
        let open = "# HELP grov_x Xs.\n# TYPE grov_x counter\ngrov_x_total{a=\"b\"} 1\n# HELP grov_y Ys.\n# TYPE grov_y gauge\ngrov_y 2\n# EOF\n";
        let text = "# HELP grov_x_total Xs.\n# TYPE grov_x_total counter\ngrov_x_total{a=\"b\"} 1\n# HELP grov_y Ys.\n# TYPE grov_y gauge\ngrov_y 2\n";
        assert_eq!(prometheus_text(open), text);
    }
}
