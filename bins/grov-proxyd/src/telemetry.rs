//! Metrics and traces of recorded exchanges.

use crate::assembly::{self, DaemonStore};
use async_trait::async_trait;
use grov_domain::{ClientSessionId, RecordSink};
use grov_llm::{ProviderClient, ProviderRoute};
use grov_query::injections;
use grov_redact::Secret;
use grov_runtime::{Home, OtlpSettings, Settings};
use grov_telemetry::{
    Injected, InjectionLog, MeteredSink, RecordMetrics, SpanReceiver, TraceContent, TraceCounters,
    TraceExporter, TraceQueue,
};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::OnceCell;

/// Time that a collector has to accept spans.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of a collector's response that are read.
const MAX_RESPONSE: usize = 64 * 1024;
const PATH: &str = "/v1/traces";

/// Counts records, and makes traces of them if a collector is configured.
pub(crate) struct Telemetry {
    pub(crate) metrics: Arc<RecordMetrics>,
    queue: Option<TraceQueue>,
    exporter: Option<TraceExporter>,
}

impl Telemetry {
    /// `listener` is the daemon's own address, to which no trace is sent.
    pub(crate) fn new(settings: &Settings, home: &Home, listener: SocketAddr) -> Self {
        let collector = Collector::of(settings, listener);
        let (queue, exporter) = collector
            .map(|collector| {
                let injections = StoredInjections(assembly::store_apart(home));
                let content = match settings.otlp().content {
                    true => TraceContent::On,
                    false => TraceContent::Off,
                };
                let version = env!("CARGO_PKG_VERSION");
                TraceExporter::new(Box::new(collector), Box::new(injections), content, version)
            })
            .unzip();
        Self {
            metrics: Arc::default(),
            queue,
            exporter,
        }
    }

    /// The sink for records, in front of the store's.
    pub(crate) fn sink(&self, sink: Arc<dyn RecordSink>) -> Arc<dyn RecordSink> {
        Arc::new(MeteredSink::new(
            sink,
            Arc::clone(&self.metrics),
            self.queue.clone(),
        ))
    }

    /// What became of spans; `None` without a collector.
    pub(crate) fn counters(&self) -> Option<Arc<TraceCounters>> {
        self.queue.as_ref().map(TraceQueue::counters)
    }

    /// The task that sends traces; once, and only with a collector.
    pub(crate) fn take_exporter(&mut self) -> Option<TraceExporter> {
        self.exporter.take()
    }
}

/// A collector of OpenTelemetry.
struct Collector {
    base: String,
    authorization: Option<Secret>,
    route: ProviderRoute,
    /// Built with the first spans, because that reads the system's certificates.
    client: OnceCell<ProviderClient>,
}

impl Collector {
    fn of(settings: &Settings, listener: SocketAddr) -> Option<Self> {
        let OtlpSettings {
            endpoint,
            authorization,
            ..
        } = settings.otlp();
        let base = endpoint.as_ref()?.as_str().trim_end_matches('/');
        Some(Self {
            base: base.strip_suffix(PATH).unwrap_or(base).to_owned(),
            authorization: authorization.clone(),
            route: ProviderRoute {
                proxy: settings.llm().proxy.as_ref().map(|url| url.as_str().to_owned()),
                own_listeners: vec![listener],
                max_response_bytes: MAX_RESPONSE,
                ..ProviderRoute::direct(TIMEOUT)
            },
            client: OnceCell::new(),
        })
    }

    async fn client(&self) -> Result<ProviderClient, grov_llm::ProviderCallError> {
        let mut headers = vec![("content-type", Secret::new("application/x-protobuf"))];
        headers.extend(self.authorization.clone().map(|value| ("authorization", value)));
        ProviderClient::by_route(&self.base, &headers, self.route.clone()).await
    }
}

#[async_trait]
impl SpanReceiver for Collector {
    async fn send(&self, body: Vec<u8>) -> Result<(), String> {
        let sending = async {
            let client = self.client.get_or_try_init(|| self.client()).await;
            let client = client.map_err(|error| error.to_string())?;
            let response = client.post(PATH, body).await;
            let status = response.map_err(|error| error.to_string())?.status();
            match status {
                200..=299 => Ok(()),
                status => Err(format!("it answered with status {status}")),
            }
        };
        let late = |_| format!("it did not answer within {} seconds", TIMEOUT.as_secs());
        tokio::time::timeout(TIMEOUT, sending).await.map_err(late)?
    }
}

/// What the injection ledger has.
struct StoredInjections(Arc<DaemonStore>);

#[async_trait]
impl InjectionLog for StoredInjections {
    async fn injected(&self, session: &ClientSessionId, since: OffsetDateTime) -> Vec<Injected> {
        // A store that fails has its own alarm; a trace without injections is better than none.
        let all = injections(&*self.0, session, Vec::new(), &[])
            .await
            .unwrap_or_default();
        let new = all.into_iter().filter(|one| one.at >= since);
        new.map(|one| Injected {
            at: one.at,
            kind: one.kind,
            place: one.place,
            text: one.text,
            memories: one.memories.iter().map(ToString::to_string).collect(),
        })
        .collect()
    }
}
