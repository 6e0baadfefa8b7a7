//! What the proxy counts. Names and values only: no header, no text, no path of a user ever gets in here.

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

/// Counters of one proxy.
#[derive(Debug, Default)]
pub struct Metrics {
    responses: Family<StatusLabel, Counter>,
    faults: Family<FaultLabel, Counter>,
    streams: Gauge,
    clients_gone: Counter,
    observed: Counter,
    edited: Counter,
    connections: Gauge,
    evictions: Counter,
    /// The last error for which no client could be accepted.
    accept_error: Mutex<Option<String>>,
}

impl Metrics {
    pub(crate) fn responded(&self, status: u16) {
        self.responses.get_or_create(&StatusLabel { status }).inc();
    }

    /// Counts a fault that the client did not notice, or that was not the client's.
    pub(crate) fn fault(&self, kind: &'static str) {
        self.faults.get_or_create(&FaultLabel { kind }).inc();
    }

    pub(crate) fn stream_opened(&self) {
        self.streams.inc();
    }

    pub(crate) fn stream_closed(&self) {
        self.streams.dec();
    }

    pub(crate) fn client_gone(&self) {
        self.clients_gone.inc();
    }

    pub(crate) fn observed(&self) {
        self.observed.inc();
    }

    pub(crate) fn edited(&self) {
        self.edited.inc();
    }

    /// An idle connection was asked to end for a new client.
    pub(crate) fn evicted(&self) {
        self.evictions.inc();
    }

    pub(crate) fn set_connections(&self, open: usize) {
        self.connections.set(i64::try_from(open).unwrap_or(i64::MAX));
    }

    /// A client could not be accepted.
    pub(crate) fn not_accepted(&self, error: &io::Error) {
        self.fault("not_accepted");
        *self.accept_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
    }

    /// The last error for which a client could not be accepted.
    pub(crate) fn accept_error(&self) -> Option<String> {
        self.accept_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// ConnectionSet that are connected right now.
    pub fn connections(&self) -> u64 {
        u64::try_from(self.connections.get()).unwrap_or(0)
    }

    /// Idle connections that were ended for a new client.
    pub fn evictions(&self) -> u64 {
        self.evictions.get()
    }

    /// Responses on their route to a client right now.
    pub fn streams(&self) -> u64 {
        u64::try_from(self.streams.get()).unwrap_or(0)
    }

    /// Exchanges with the Messages API that observers were told of.
    pub fn exchanges_observed(&self) -> u64 {
        self.observed.get()
    }

    /// How often a fault of this kind was counted.
    pub fn faults(&self, kind: &'static str) -> u64 {
        self.faults.get_or_create(&FaultLabel { kind }).get()
    }

    /// The counters as Prometheus text; `more` adds what others count.
    pub(crate) fn render(&self, more: impl FnOnce(&mut Registry)) -> String {
        let mut registry = Registry::with_prefix("grov");
        registry.register(
            "responses",
            "Responses sent to clients, by status",
            self.responses.clone(),
        );
        registry.register("faults", "Faults, by kind", self.faults.clone());
        registry.register(
            "streams",
            "Responses on their route right now",
            self.streams.clone(),
        );
        registry.register(
            "client_connections",
            "ConnectionSet that are connected right now",
            self.connections.clone(),
        );
        registry.register(
            "clients_sent_away",
            "Idle connections ended for a new client",
            self.evictions.clone(),
        );
        registry.register(
            "clients_gone",
            "ConnectionSet that left before the end",
            self.clients_gone.clone(),
        );
        registry.register(
            "exchanges_observed",
            "Exchanges that observers were told of",
            self.observed.clone(),
        );
        registry.register(
            "requests_edited",
            "Requests that left with something added",
            self.edited.clone(),
        );
        more(&mut registry);
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
        text
    }
}
