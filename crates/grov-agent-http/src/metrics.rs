//! Counters and gauges: names and numbers, never texts, ids or keys.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: String,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabel {
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DecisionLabel {
    decision: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: &'static str,
}

/// The metrics of the service.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabel, Histogram, fn() -> Histogram>,
    decisions: Family<DecisionLabel, Counter>,
    tokens: Family<KindLabel, Counter>,
    faults: Family<KindLabel, Counter>,
    /// Chats that are running.
    pub(crate) chats: Gauge,
    /// Open connections.
    pub(crate) connections: Gauge,
    /// Stored versions of documents.
    pub(crate) documents: Counter,
}

/// Bounds of the histogram of durations, in seconds.
const BOUNDS: [f64; 12] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0, 120.0,
];

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("grov_agent");
        let requests = Family::default();
        registry.register("requests", "Requests, by route and status", requests.clone());
        let histogram: fn() -> Histogram = || Histogram::new(BOUNDS);
        let durations = Family::new_with_constructor(histogram);
        registry.register_with_unit(
            "request_duration",
            "Time until the head of the answer",
            Unit::Seconds,
            durations.clone(),
        );
        let decisions = Family::default();
        registry.register("chats", "Answered chats, by decision", decisions.clone());
        let tokens = Family::default();
        registry.register("tokens", "Tokens of chats, by kind", tokens.clone());
        let faults = Family::default();
        registry.register("faults", "Faults, by kind", faults.clone());
        let chats = Gauge::default();
        registry.register("chats_running", "Chats that are running", chats.clone());
        let connections = Gauge::default();
        registry.register("connections", "Open connections", connections.clone());
        let documents = Counter::default();
        registry.register("documents", "Stored versions of documents", documents.clone());
        Self {
            registry,
            requests,
            durations,
            decisions,
            tokens,
            faults,
            chats,
            connections,
            documents,
        }
    }

    /// Counts a request. `route` is the pattern of its path, so that the number of labels is bounded.
    pub(crate) fn answered(&self, method: &http::Method, route: &str, status: u16, took: Duration) {
        let labels = RequestLabels {
            // An unknown method is the client's own text.
            method: if is_known(method) {
                method.to_string()
            } else {
                "other".to_owned()
            },
            route: route.to_owned(),
            status,
        };
        self.requests.get_or_create(&labels).inc();
        let label = RouteLabel {
            route: route.to_owned(),
        };
        self.durations.get_or_create(&label).observe(took.as_secs_f64());
    }

    /// Counts an answered chat.
    pub(crate) fn chatted(&self, decision: &'static str, input: u64, output: u64) {
        self.decisions.get_or_create(&DecisionLabel { decision }).inc();
        self.tokens
            .get_or_create(&KindLabel { kind: "input" })
            .inc_by(input);
        self.tokens
            .get_or_create(&KindLabel { kind: "output" })
            .inc_by(output);
    }

    /// Counts a fault.
    pub(crate) fn fault(&self, kind: &'static str) {
        self.faults.get_or_create(&KindLabel { kind }).inc();
    }

    /// The metrics as OpenMetrics text.
    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a String does not fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry);
        text
    }
}

fn is_known(method: &http::Method) -> bool {
    use http::Method;
    [
        Method::GET,
        Method::POST,
        Method::PATCH,
        Method::DELETE,
        Method::HEAD,
        Method::PUT,
        Method::OPTIONS,
    ]
    .contains(method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_have_bounded_labels() {
        let metrics = Metrics::new();
        let odd = http::Method::from_bytes(b"MADE-UP").unwrap();
        metrics.answered(&odd, "/chat", 405, Duration::from_millis(3));
        metrics.chatted("ACT", 3, 4);
        metrics.fault("panic");
        let text = metrics.render();
        assert!(
            text.contains(r#"grov_agent_requests_total{method="other",route="/chat",status="405"} 1"#),
            "{text}"
        );
        assert!(
            text.contains(r#"grov_agent_tokens_total{kind="output"} 4"#),
            "{text}"
        );
    }
}
