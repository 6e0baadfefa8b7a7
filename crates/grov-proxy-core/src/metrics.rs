//! Counters and gauges. They contain names and numbers, never headers, texts or paths.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::io;
use std::sync::{Mutex, PoisonError};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StatusLabel {
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FaultLabel {
    kind: &'static str,
}

/// The counters and gauges of a proxy.
///
/// Also served as OpenMetrics text at `/_grov/metrics`.
#[derive(Debug, Default)]
pub struct Metrics {
    responses: Family<StatusLabel, Counter>,
    faults: Family<FaultLabel, Counter>,
    pub(crate) streams: Gauge,
    pub(crate) clients_gone: Counter,
    pub(crate) observed: Counter,
    pub(crate) edited: Counter,
    /// Connections with another protocol.
    pub(crate) switched: Gauge,
    connections: Gauge,
    /// Idle connections closed for a new client.
    pub(crate) evictions: Counter,
    /// The last error of `accept`.
    accept_error: Mutex<Option<String>>,
}

impl Metrics {
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
