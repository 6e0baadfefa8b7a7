//! Counters and gauges. They contain names and numbers, never headers, texts or paths.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StatusLabel {
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PolicyLabel {
    policy: &'static str,
}

/// Upper bounds of the buckets for Grov's own work, in seconds: 50 µs to 1 s.
const OWN_BUCKETS: [f64; 14] = [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.06, 0.125, 0.25, 1.0,
];
/// Upper bounds of the buckets for the upstream's first byte, in seconds: 50 ms to two minutes.
const UPSTREAM_BUCKETS: [f64; 12] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0, 120.0];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FaultLabel {
    kind: &'static str,
}

/// The counters and gauges of a proxy.
///
/// Also served as OpenMetrics text at `/_grov/metrics`.
#[derive(Debug)]
pub struct Metrics {
    responses: Family<StatusLabel, Counter>,
    faults: Family<FaultLabel, Counter>,
    pub(crate) streams: Gauge,
    pub(crate) clients_gone: Counter,
    pub(crate) observed: Counter,
    pub(crate) edited: Counter,
    /// Connections with another protocol.
    pub(crate) switched: Gauge,
    added_latency: Histogram,
    first_byte: Histogram,
    policies: Family<PolicyLabel, Histogram, fn() -> Histogram>,
    connections: Gauge,
    /// Idle connections closed for a new client.
    pub(crate) evictions: Counter,
    /// The last error of `accept`.
    accept_error: Mutex<Option<String>>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            responses: Family::default(),
            faults: Family::default(),
            streams: Gauge::default(),
            clients_gone: Counter::default(),
            observed: Counter::default(),
            edited: Counter::default(),
            switched: Gauge::default(),
            added_latency: own_work(),
            first_byte: Histogram::new(UPSTREAM_BUCKETS),
            policies: Family::new_with_constructor(own_work),
            connections: Gauge::default(),
            evictions: Counter::default(),
            accept_error: Mutex::default(),
        }
    }
}

fn own_work() -> Histogram {
    Histogram::new(OWN_BUCKETS)
}

impl Metrics {
    /// Records the time that Grov itself added before a request was forwarded.
    pub(crate) fn added(&self, latency: Duration) {
        self.added_latency.observe(latency.as_secs_f64());
    }

    /// Records the time from forwarding a request to the head of the response.
    pub(crate) fn first_byte(&self, latency: Duration) {
        self.first_byte.observe(latency.as_secs_f64());
    }

    /// Records the time that a policy took for a request.
    pub(crate) fn policy(&self, policy: &'static str, latency: Duration) {
        self.policies
            .get_or_create(&PolicyLabel { policy })
            .observe(latency.as_secs_f64());
    }

    /// Counts a response to a client.
    pub(crate) fn responded(&self, status: u16) {
        self.responses.get_or_create(&StatusLabel { status }).inc();
    }

    /// Counts a fault.
    pub(crate) fn fault(&self, kind: &'static str) {
        self.faults.get_or_create(&FaultLabel { kind }).inc();
    }

    pub(crate) fn set_connections(&self, open: usize) {
        self.connections.set(i64::try_from(open).unwrap_or(i64::MAX));
    }

    /// Counts an error of `accept`.
    pub(crate) fn not_accepted(&self, error: &io::Error) {
        self.fault("not_accepted");
        *self.accept_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
    }

    /// Returns the last error of `accept`.
    pub(crate) fn accept_error(&self) -> Option<String> {
        self.accept_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns the number of connected clients.
    pub fn connections(&self) -> u64 {
        u64::try_from(self.connections.get()).unwrap_or(0)
    }

    /// Returns the number of idle connections that were closed for a new client.
    pub fn evictions(&self) -> u64 {
        self.evictions.get()
    }

    /// Returns the number of responses being relayed.
    pub fn streams(&self) -> u64 {
        u64::try_from(self.streams.get()).unwrap_or(0)
    }

    /// Returns the number of client connections that changed to another protocol and are open.
    pub fn switched(&self) -> u64 {
        u64::try_from(self.switched.get()).unwrap_or(0)
    }

    /// Returns the number of observed exchanges.
    pub fn exchanges_observed(&self) -> u64 {
        self.observed.get()
    }

    /// Returns the count of a fault such as `policy_panic` or `upstream_timeout`, or 0 for an unknown one.
    pub fn faults(&self, kind: &'static str) -> u64 {
        self.faults.get_or_create(&FaultLabel { kind }).get()
    }

    /// Returns the metrics as OpenMetrics text. `more` registers further ones.
    pub(crate) fn render(&self, more: impl FnOnce(&mut Registry)) -> String {
        let mut registry = Registry::with_prefix("grov");
        registry.register(
            "responses",
            "Responses sent to clients, by status",
            self.responses.clone(),
        );
        registry.register("faults", "Faults, by kind", self.faults.clone());
        registry.register("streams", "Responses being relayed", self.streams.clone());
        registry.register(
            "added_latency_seconds",
            "Time that Grov itself adds before a request to the Messages API is forwarded",
            self.added_latency.clone(),
        );
        registry.register(
            "time_to_first_byte_seconds",
            "Time from forwarding such a request to the head of the upstream's response",
            self.first_byte.clone(),
        );
        registry.register(
            "policy_seconds",
            "Time that a policy takes for a request; memory and corrections are the policy `injection`",
            self.policies.clone(),
        );
        registry.register(
            "client_connections",
            "Connected clients",
            self.connections.clone(),
        );
        registry.register(
            "clients_sent_away",
            "Idle connections closed for a new client",
            self.evictions.clone(),
        );
        registry.register(
            "clients_gone",
            "Clients that disconnected during a response",
            self.clients_gone.clone(),
        );
        registry.register(
            "exchanges_observed",
            "Exchanges that observers have seen",
            self.observed.clone(),
        );
        registry.register(
            "requests_edited",
            "Requests that policies edited",
            self.edited.clone(),
        );
        registry.register(
            "switched_connections",
            "Clients whose connection changed to another protocol, such as WebSocket",
            self.switched.clone(),
        );
        more(&mut registry);
        let mut text = String::new();
        // Writing to a String does not fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
        text
    }
}
