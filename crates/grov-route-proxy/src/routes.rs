//! The routes of a proxy: the current provider file, and its reload.

use crate::calibration::Calibrator;
use crate::changes::Changes;
use crate::counters::Counters;
use crate::decisions::Decisions;
use crate::near_misses::NearMisses;
use crate::source::ProviderSource;
use crate::table::Table;
use crate::usage::UsageReports;
use grov_domain::RoutedUsage;
use grov_proxy_core::{MetricKind, ProxyBuilder, Upstreams};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

/// Interval between two looks at the provider file. Each takes a few system calls.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Limits that apply where the provider file has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteSettings {
    /// Maximum time to connect to a provider.
    pub connect: Duration,
    /// Maximum wait for a provider's response head.
    pub first_byte: Duration,
    /// Maximum pause inside a provider's response.
    pub idle: Duration,
    /// Interval of `ping` events while a provider is silent. Zero for none.
    pub ping: Duration,
}

/// The routes of a proxy. Clones share them.
#[derive(Clone)]
pub struct Routes {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    source: ProviderSource,
    upstreams: Upstreams,
    pub(crate) settings: RouteSettings,
    table: RwLock<Arc<Table>>,
    changes: Mutex<Changes>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) calibrator: Calibrator,
    pub(crate) usage: UsageReports,
    pub(crate) near_misses: NearMisses,
    pub(crate) decisions: Decisions,
}

impl Routes {
    /// Loads the provider file. A file with problems is logged and shown, and is no error.
    pub fn new(source: ProviderSource, upstreams: Upstreams, settings: RouteSettings) -> Self {
        let routes = Self {
            shared: Arc::new(Shared {
                source,
                upstreams,
                settings,
                table: RwLock::default(),
                changes: Mutex::default(),
                counters: Arc::default(),
                calibrator: Calibrator::default(),
                usage: UsageReports::default(),
                near_misses: NearMisses::default(),
                decisions: Decisions::default(),
            }),
        };
        routes.load();
        routes
    }

    /// Makes a proxy use these routes, and adds their state to `/_grov/health`, `/_grov/metrics` and `/_grov/routes`.
    pub fn configure(&self, mut builder: ProxyBuilder) -> ProxyBuilder {
        for (name, _) in self.shared.counters.all() {
            let counters = Arc::clone(&self.shared.counters);
            let value = move || {
                counters
                    .all()
                    .into_iter()
                    .find_map(|(counter, value)| (counter == name).then_some(value))
            };
            let (metric, help) = metric(name);
            builder = builder.metric(MetricKind::Counter, metric, help, move || {
                value().unwrap_or_default()
            });
        }
        let health = self.clone();
        builder
            .router(self.clone())
            .observer(self.clone())
            .health_section("routes", move || health.health())
            .admin_route("routes", Arc::new(self.clone()))
    }

    /// Reloads the provider file when it changes, and compares token counts, until `stop` resolves.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        let mut checks = tokio::time::interval(CHECK_INTERVAL);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = &mut stop => return,
                () = self.shared.calibrator.run() => {}
                _ = checks.tick() => {
                    let routes = self.clone();
                    // Fails only while the process is going down.
                    let _ = tokio::task::spawn_blocking(move || routes.reload_if_changed()).await;
                }
            }
        }
    }

    /// Returns the receiver of what each later exchange used and cost. Only the first call gets reports.
    pub fn usage(&self) -> mpsc::Receiver<RoutedUsage> {
        self.shared.usage.subscribe()
    }

    /// The counters.
    pub fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.shared.counters)
    }

    pub(crate) fn table(&self) -> Arc<Table> {
        Arc::clone(&self.shared.table.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn reload_if_changed(&self) {
        let in_use = self.table().file.is_some();
        let now = self.shared.source.fingerprint();
        if self.changes().check(now, in_use) {
            self.load();
        }
    }

    /// Reads the provider file without waiting whether it changes further: a program that wrote the whole of it asks.
    pub(crate) fn read_again(&self) {
        let in_use = self.table().file.is_some();
        let now = self.shared.source.fingerprint();
        let is_due = self.changes().is_due(&now, in_use);
        if is_due {
            self.load();
        }
    }

    fn changes(&self) -> MutexGuard<'_, Changes> {
        let changes = self.shared.changes.lock();
        changes.unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the provider file. Requests in progress keep the targets that they have.
    fn load(&self) {
        let Shared {
            source,
            upstreams,
            settings,
            counters,
            ..
        } = &*self.shared;
        let before = source.fingerprint();
        let reading = source.read();
        if source.fingerprint() != before {
            // It was written meanwhile. The next checks find the change.
            return;
        }
        self.changes().were_read(before);
        let table = Table::new(reading, &self.table(), upstreams, settings);
        let file = table.path.as_deref().map(|path| path.display().to_string());
        for problem in &table.problems {
            tracing::error!(file, %problem, "the provider file has a problem; the last good one stays in use");
        }
        match (&file, table.problems.is_empty()) {
            (Some(_), true) => counters.loaded.increment(),
            (Some(_), false) => counters.not_loaded.increment(),
            (None, _) => {}
        }
        if let Some(loaded) = table.file.as_ref().filter(|_| table.problems.is_empty()) {
            for warning in loaded.warnings() {
                tracing::warn!(file, %warning, "the provider file");
            }
            let models = loaded.targets().len();
            tracing::info!(file, models, "the provider file was loaded");
        }
        *self.shared.table.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(table);
    }
}

/// The name and the description of a counter in metrics.
fn metric(counter: &str) -> (&'static str, &'static str) {
    match counter {
        "routed" => ("routed_requests", "Requests for which a provider was chosen"),
        "answered_locally" => (
            "routed_answered_locally",
            "Routed requests answered without a provider",
        ),
        "completed" => ("routed_completed", "Routed responses that arrived whole"),
        "failed" => (
            "routed_failed",
            "Routed responses that failed or were interrupted",
        ),
        "retried" => ("routed_retried", "Attempts after which another target was tried"),
        "circuit_open" => (
            "routed_circuit_open",
            "Requests refused because every circuit was open",
        ),
        "input_tokens" => (
            "routed_input_tokens",
            "Input tokens of routed responses, without cached ones",
        ),
        "cached_tokens" => ("routed_cached_tokens", "Cached input tokens of routed responses"),
        "output_tokens" => ("routed_output_tokens", "Output tokens of routed responses"),
        "loaded" => ("provider_file_loaded", "How often the provider file was loaded"),
        _ => (
            "provider_file_not_loaded",
            "How often the provider file had problems",
        ),
    }
}
