//! Runs the daemon: configuration, startup, serving, shutdown.

use crate::access::Access;
use crate::api_setup;
use crate::arguments::Arguments;
use crate::assembly;
use crate::context_setup;
use crate::control::Control;
use crate::dashboard;
use crate::dashboard::Dashboard;
use crate::drift_setup;
use crate::embedding::{Embedding, EmbeddingStatus};
use crate::handover::{HandOver, Inherited, Listener, Predecessor};
use crate::home_monitor::HomeMonitor;
use crate::hook_sessions::StoredHookSessions;
use crate::hooks::{self, HookRoute};
use crate::judge_setup;
use crate::launcher::Launcher;
use crate::links;
use crate::listener;
use crate::mcp::{self, McpRoute};
use crate::mitm_setup::MitmSetup;
use crate::open_files::{self, Room};
use crate::recording::Recording;
use crate::relay::{Ending, relay};
use crate::route_setup;
use crate::screening;
use crate::scrubbing;
use crate::service_manager;
use crate::telemetry::Telemetry;
use anyhow::{Context, anyhow};
use grov_domain::{Clock, Judge, SystemClock};
use grov_drift_proxy::DriftMonitor;
use grov_live::{
    ClearSettings, ContextObserver, ContextSource, MemorySource, Recorder, TaskOrchestrator, UserNaming,
};
use grov_llm::ModelJudge;
use grov_proxy_core::{HeaderPolicy, Limits, Proxy, Upstream};
use grov_runtime::daemon::{Lock, LockError, Record, RunRecord};
use grov_runtime::logging::{self, LogError};
use grov_runtime::{
    EXIT_USAGE, Environment, Home, Inputs, LlmProvider, LogSettings, ProxySettings, Settings, SettingsError,
    Tasks, UserMode,
};
use grov_serve::Signals;
use grov_telemetry::TraceCounters;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

/// The version in the daemon's record and on the health page.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Maximum number of relay threads. The daemon waits for the network, so more do not help.
const MAX_WORKERS: usize = 4;

/// Time for background work and unwritten records at shutdown.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// Why the daemon stopped or did not start.
pub(crate) struct Stop {
    pub(crate) code: u8,
    pub(crate) error: anyhow::Error,
    pub(crate) hint: Option<String>,
}

impl Stop {
    /// An error in the command line or the settings.
    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self {
            code: EXIT_USAGE,
            error: error.into(),
            hint: None,
        }
    }

    /// Any other error.
    pub(crate) fn fault(error: impl Into<anyhow::Error>) -> Self {
        Self {
            code: 2,
            ..Self::usage(error)
        }
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }
}

impl From<SettingsError> for Stop {
    fn from(error: SettingsError) -> Self {
        Self {
            hint: error.hint(),
            ..Self::usage(error)
        }
    }
}

/// Runs until a signal asks to stop, or another process takes over.
pub(crate) fn run(arguments: &Arguments, mut inherited: Inherited) -> Result<ExitCode, Stop> {
    let ended = start(arguments, &mut inherited);
    if let (Err(stop), Some(predecessor)) = (&ended, inherited.predecessor.take()) {
        predecessor.report_failure(format!("{:#}", stop.error), stop.hint.clone());
    }
    ended
}

fn start(arguments: &Arguments, inherited: &mut Inherited) -> Result<ExitCode, Stop> {
    let environment = Environment::of_process();
    let home = Home::locate(arguments.home.as_deref(), &environment).map_err(|error| {
        let hint = error.hint();
        Stop::usage(error).with_hint(hint)
    })?;
    let flags = arguments.flags();
    let inputs = Inputs {
        home: &home,
        environment: &environment,
        directory: None,
        flags: &flags,
    };
    let settings = Settings::load(inputs)?;
    settings.ensure_startable(&environment)?;
    ensure_clock(SystemTime::now())?;
    // Without a writable home, requests are still relayed.
    let home_fault = home.create().err();
    start_log(settings.log())?;
    for warning in settings.warnings() {
        tracing::warn!("{warning}");
    }
    if let Some(error) = &home_fault {
        tracing::error!(%error, "the home cannot be used: requests are relayed, nothing is recorded");
    }
    let lock = match inherited.predecessor.is_some() || arguments.serves_one_run() {
        // A successor gets the lock when it is ready. A daemon of `grov run` leaves it to the daemon that others use.
        true => None,
        false => lock(&home)?,
    };
    // Runs everything except the relay. Two threads, so that a computation does not delay writes that a request waits for.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start the async runtime")
        .map_err(Stop::fault)?;
    let home_monitor = Arc::new(HomeMonitor::new(&home, lock));
    let daemon = Daemon {
        settings: &settings,
        home: &home,
        environment: &environment,
        home_monitor: &home_monitor,
        serves_one_run: arguments.serves_one_run(),
    };
    let result = runtime.block_on(daemon.serve(inherited));
    // Aborts tasks that still run after a second signal.
    runtime.shutdown_background();
    home_monitor.release();
    result
}

/// Locks the home; `None` if it cannot be written.
fn lock(home: &Home) -> Result<Option<Lock>, Stop> {
    match Lock::acquire(home) {
        Ok(lock) => Ok(Some(lock)),
        Err(error @ LockError::Held { .. }) => {
            let hint = "use the running daemon, stop it, or choose another home with --home";
            Err(Stop::fault(error).with_hint(hint))
        }
        Err(error) => {
            tracing::error!(%error, "other programs will not find this daemon");
            Ok(None)
        }
    }
}

/// Checks that the year is within 1970 to 9999. Otherwise the HTTP library panics when it writes the date of a response.
fn ensure_clock(now: SystemTime) -> Result<(), Stop> {
    const AFTER_9999: u64 = 253_402_300_800;
    let since_1970 = now.duration_since(SystemTime::UNIX_EPOCH);
    if since_1970.is_ok_and(|since| since.as_secs() < AFTER_9999) {
        return Ok(());
    }
    let error =
        anyhow!("this machine's clock is before 1970 or after 9999, so that no request can be answered");
    Err(Stop::fault(error).with_hint("set the clock, then start grov-proxyd again"))
}

/// Starts the log. If its file cannot be opened, logs to standard error instead.
fn start_log(settings: &LogSettings) -> Result<(), Stop> {
    match logging::init(settings) {
        Err(error @ LogError::File { .. }) => {
            let to_stderr = LogSettings {
                file: None,
                ..settings.clone()
            };
            logging::init(&to_stderr).map_err(Stop::usage)?;
            tracing::error!(%error, "logging to standard error instead");
            Ok(())
        }
        other => other.map_err(Stop::usage),
    }
}

/// A daemon that is starting.
struct Daemon<'a> {
    settings: &'a Settings,
    home: &'a Home,
    environment: &'a Environment,
    home_monitor: &'a Arc<HomeMonitor>,
    /// Whether it belongs to one `grov run`, ends with it, and leaves the home's lock alone.
    serves_one_run: bool,
}

impl Daemon<'_> {
    async fn serve(&self, inherited: &mut Inherited) -> Result<ExitCode, Stop> {
        let Self {
            settings,
            home,
            environment,
            home_monitor,
            ..
        } = *self;
        let mitm = settings.mitm();
        let tunnels = if mitm.enabled { mitm.connections } else { 0 };
        let room = open_files::room(open_files::raise_limit(), tunnels);
        let access = Arc::new(Access::new(home, settings.proxy())?);
        let (listener, address) = listener::bind(settings.proxy(), inherited.proxy.take())?;
        let recording = Recording::start(home, home_monitor, settings.store()).map_err(Stop::fault)?;
        let tasks = Tasks::new(tokio::runtime::Handle::current());
        tasks.spawn(
            "home",
            Arc::clone(home_monitor).run(recording.store(), tasks.shutdown()),
        );
        scrubbing::scrub_secrets(home, &tasks).await;
        tasks.spawn("prune", recording.prune_regularly(tasks.shutdown()));
        let judge =
            judge_setup::judge(settings, environment, address, &recording.store()).map_err(Stop::usage)?;
        let services = Services {
            settings,
            home,
            address,
            recording: &recording,
            tasks: &tasks,
            access: &access,
            judge: Arc::new(judge),
        };
        let hook_services = assembly::hook_services(home, environment);
        let hooks = HookRoute::new(home, environment, settings, hook_services, &tasks);
        let mitm_listener = inherited.mitm.take();
        let Built { proxy, drift, mitm } =
            services.proxy(room, environment, Arc::new(hooks), mitm_listener)?;
        let signals = Signals::listen().map_err(Stop::fault)?;
        if let Some(drift) = drift {
            // So that corrections that were pending when the last daemon stopped go out with the next request.
            drift.preload().await;
        }
        let mut listeners = vec![Listener::proxy(&listener).map_err(Stop::fault)?];
        if let Some(mitm) = &mitm {
            listeners.push(Listener::mitm(mitm.listener()).map_err(Stop::fault)?);
        }
        let hand_over = Arc::new(HandOver::new(listeners, Arc::clone(home_monitor)));
        let _record = self.announce(address, &access, mitm.as_ref(), inherited.predecessor.take());
        self.control(&hand_over, &tasks);
        if !self.serves_one_run {
            let store = assembly::store_apart(home);
            tasks.spawn("links", links::run(home.clone(), store, tasks.shutdown()));
        }
        service_manager::ready();
        tasks.spawn("watchdog", service_manager::watchdog(address, tasks.shutdown()));
        tasks.spawn("access", Arc::clone(&access).watch(tasks.shutdown()));
        let ending = Ending {
            signals,
            launcher: self.serves_one_run.then(Launcher::watch),
            hand_over,
            home_monitor: Arc::clone(home_monitor),
        };
        // Boxed: it is large.
        let relaying = Box::pin(relay(proxy, listener, mitm, ending, &recording));
        let Some(aborted) = relaying.await? else {
            return Ok(ExitCode::from(130));
        };
        if aborted > 0 {
            tracing::warn!(
                cut = aborted,
                "responses were cut off at the end of the grace period"
            );
        }
        let judge = services.judge;
        tasks.shut_down();
        // Closing the judge makes rules give the pending verdicts. Both end before the store closes, because they write to it.
        let (_, closed) = tokio::join!(
            tasks.drain(FLUSH_TIMEOUT),
            tokio::time::timeout(FLUSH_TIMEOUT, judge.close())
        );
        if closed.is_err() {
            tracing::warn!(
                "model calls were still in progress at shutdown; their reserved cost stays in the spending ledger"
            );
        }
        let health = recording.stop(FLUSH_TIMEOUT).await;
        match health.queued + health.lost {
            0 => Ok(ExitCode::SUCCESS),
            lost => Err(Stop::fault(anyhow!("{lost} record(s) could not be kept"))),
        }
    }

    /// Publishes the daemon's address to other programs and prints it. The result is the record of a daemon of `grov run`.
    fn announce(
        &self,
        address: SocketAddr,
        access: &Access,
        mitm: Option<&MitmSetup>,
        predecessor: Option<Predecessor>,
    ) -> Option<RunRecord> {
        if let Some(predecessor) = predecessor {
            let lock = predecessor.take_lock().unwrap_or_else(|error| {
                tracing::warn!(%error, "the replaced daemon did not pass on the home's lock");
                None
            });
            self.home_monitor.take_over(lock);
        }
        let url = format!("{}://{address}", access.scheme());
        let mitm_url = mitm.map(|mitm| format!("http://{}", mitm.address));
        let record = Record {
            base_url: access.base_url(address),
            mitm_url: mitm_url.clone(),
            ..Record::of_this_process(&url, VERSION, SystemClock.now())
        };
        let unpublished = |error| tracing::error!(%error, "other programs will not find this daemon");
        let of_run = match self.serves_one_run {
            true => RunRecord::publish(self.home, &record).map_err(unpublished).ok(),
            false => {
                let _ = self.home_monitor.publish(record).map_err(unpublished);
                None
            }
        };
        tracing::info!(version = VERSION, %url, "started");
        if let Some(mitm_url) = mitm_url {
            print_line(&format!("CONNECT proxy (HTTPS_PROXY) on {mitm_url}"));
        }
        print_line(&format!("listening on {url}"));
        access.announce(print_line);
        of_run
    }

    /// Accepts commands, if this is the daemon that others find.
    fn control(&self, hand_over: &Arc<HandOver>, tasks: &Tasks) {
        if !self.home_monitor.is_locked() {
            return;
        }
        match Control::listen(self.home) {
            Ok(control) => {
                tasks.spawn("control", control.run(Arc::clone(hand_over), tasks.shutdown()));
            }
            Err(error) => tracing::warn!(%error, "a restart of this daemon will close its port for a moment"),
        }
    }
}

/// What serves clients.
struct Built {
    proxy: Proxy,
    drift: Option<Arc<DriftMonitor>>,
    mitm: Option<MitmSetup>,
}

/// The parts that the policies, observers and pages of the proxy need.
struct Services<'a> {
    settings: &'a Settings,
    home: &'a Home,
    address: SocketAddr,
    recording: &'a Recording,
    tasks: &'a Tasks,
    access: &'a Access,
    judge: Arc<ModelJudge>,
}

impl Services<'_> {
    /// Builds the proxy and starts the background work of its parts.
    fn proxy(
        &self,
        room: Room,
        environment: &Environment,
        hooks: Arc<HookRoute>,
        mitm_listener: Option<std::net::TcpListener>,
    ) -> Result<Built, Stop> {
        let Self {
            settings, recording, ..
        } = self;
        let drift = self.drift();
        let user_home = environment.get("HOME").map(PathBuf::from);
        let task_orchestrator = self.task_orchestrator();
        let mut telemetry = Telemetry::new(settings, self.home, self.address);
        if let Some(exporter) = telemetry.take_exporter() {
            self.tasks.spawn("traces", exporter.run(self.stopping()));
        }
        let mut recorder = Recorder::new(
            telemetry.sink(recording.sink()),
            user_naming(settings.user()),
            user_home,
        )
        .with_tasks(task_orchestrator.clone());
        if settings.mitm().enabled {
            let store = assembly::store_apart(self.home);
            let hooked = StoredHookSessions::new(store, tokio::runtime::Handle::current());
            recorder = recorder.with_hook_sessions(Arc::new(hooked));
        }
        if let Some(drift) = &drift {
            recorder = recorder.with_action_checker(Arc::clone(drift) as Arc<_>);
        }
        let corrections = drift.clone().map(|drift| drift as Arc<dyn ContextSource>);
        // On a separate connection, so that a request does not wait for records that are being written.
        let store = assembly::store_apart(self.home);
        let judge = Arc::clone(&self.judge) as Arc<_>;
        let (monitor, worker) =
            context_setup::monitor(settings.context(), assembly::store_apart(self.home), judge);
        self.tasks.spawn("context windows", worker.run(self.stopping()));
        let has_model = settings.llm().provider != LlmProvider::Offline;
        let choice = has_model.then(|| {
            let judge = Arc::clone(&self.judge) as Arc<_>;
            (judge, assembly::store_apart(self.home))
        });
        let (injection, worker, memory) = context_setup::injection(
            store,
            corrections,
            Arc::clone(&monitor),
            settings.context(),
            settings.memory(),
            choice,
        );
        let clearing = injection.clearing(ClearSettings {
            summaries: Arc::new(context_setup::Summaries(Arc::clone(&monitor))),
            tasks: Some(task_orchestrator),
        });
        self.tasks.spawn("injection ledger", worker.run(self.stopping()));
        self.tasks.spawn("warming up", warm_up(memory));
        let context_counters = injection.counters();
        let embedding = self.embedding();
        let screening = screening::run(assembly::store_apart(self.home), self.tasks.shutdown());
        self.tasks.spawn("screening", screening);
        if has_model {
            let judge = Arc::clone(&self.judge) as Arc<_>;
            let store = assembly::store_apart(self.home);
            let screening = screening::run_by_model(store, judge, self.tasks.shutdown());
            self.tasks.spawn("screening by the model", screening);
        }
        let judge = Arc::clone(&self.judge);
        let drift_counters = drift.as_ref().map(|drift| drift.counters());
        let hook_counters = Arc::clone(&hooks);
        let upstream = Upstream::parse(settings.proxy().upstream.as_str()).map_err(Stop::usage)?;
        let builder = grov_live::configure(Proxy::builder(upstream), &recording.sink());
        let builder = grov_live::with_memory_metrics(builder, &context_counters);
        let builder = api_setup::with_upstreams(builder, settings.proxy()).map_err(Stop::usage)?;
        let (builder, routes) = route_setup::routed(builder, self.home, environment, settings.route());
        let is_secure = self.access.scheme() == "https";
        let dashboard = Dashboard::new(self.home, environment, settings.route(), is_secure);
        let mitm = MitmSetup::new(settings, self.home, &builder.upstreams(), room, mitm_listener)?;
        let mitm_counters = mitm.as_ref().map(|mitm| Arc::clone(&mitm.counters));
        let usage = route_setup::record_usage(routes.usage(), recording.store(), self.stopping());
        self.tasks.spawn("routed usage", usage);
        self.tasks.spawn("provider file", routes.run(self.stopping()));
        let proxy = self
            .access
            .protect(builder)
            .limits(limits(settings.proxy(), room.clients))
            .headers(match settings.proxy().headers {
                grov_runtime::HeaderPolicy::Open => HeaderPolicy::Open,
                grov_runtime::HeaderPolicy::Strict => HeaderPolicy::Strict,
            })
            .policy(injection)
            .observer(recorder)
            .observer(ContextObserver(monitor))
            .observer(clearing)
            .extra_roots(extra_roots(settings.proxy()))
            .workers(worker_count())
            .health_section("judge", move || judge_setup::state(&judge.status()))
            .health_section("drift", move || {
                let counters = drift_counters.iter().flat_map(|counters| counters.all());
                counters.collect()
            })
            .health_section("context", move || context_counters.all().into_iter().collect())
            .health_section("mitm", move || {
                let counters = mitm_counters.iter().flat_map(|counters| counters.all());
                counters.collect()
            })
            .health_section("embedder", move || embedding.to_json())
            .health_section("hooks", move || hook_counters.state())
            .health_section("traces", {
                let counters = telemetry.counters();
                move || traces_health(counters.as_deref())
            })
            .register_metrics({
                let (metrics, sink) = (Arc::clone(&telemetry.metrics), recording.sink());
                let (hooks, traces) = (Arc::clone(&hooks), telemetry.counters());
                move |registry| {
                    metrics.register(registry, &sink.health());
                    hooks.register_metrics(registry);
                    if let Some(traces) = &traces {
                        traces.register(registry);
                    }
                }
            })
            .admin_route(hooks::PREFIX, hooks)
            .admin_route(
                mcp::PREFIX,
                Arc::new(McpRoute::new(self.home, settings.context())),
            )
            .site(dashboard::PREFIX, Arc::new(dashboard))
            .version(VERSION)
            .build()
            .map_err(Stop::usage)?;
        Ok(Built { proxy, drift, mitm })
    }

    fn task_orchestrator(&self) -> TaskOrchestrator {
        let (tasks, worker) = TaskOrchestrator::new(
            Arc::clone(&self.judge) as Arc<_>,
            self.recording.store(),
            Arc::new(SystemClock),
            self.settings.tasks().abandon_after,
        );
        self.tasks
            .spawn("task orchestration", worker.run(self.stopping()));
        tasks
    }

    fn drift(&self) -> Option<Arc<DriftMonitor>> {
        let judge = Arc::clone(&self.judge) as Arc<_>;
        let (drift, worker) = drift_setup::monitor(self.settings.drift(), judge, self.recording.store())?;
        self.tasks.spawn("drift", worker.run(self.stopping()));
        Some(drift)
    }

    fn embedding(&self) -> EmbeddingStatus {
        let status = EmbeddingStatus::default();
        // On a separate connection, because it takes longer than a request may wait.
        let store = assembly::store_apart(self.home);
        if let Some(embedding) = Embedding::new(self.settings, self.address, store, status.clone()) {
            self.tasks
                .spawn("embedding", embedding.run(self.tasks.shutdown()));
        }
        status
    }

    /// Returns a future that resolves when the background work is asked to stop.
    fn stopping(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut shutdown = self.tasks.shutdown();
        async move { shutdown.requested().await }
    }
}

/// Does once what the first prompt would do within its 8 ms: builds tables of words, opens the database. Requests are served
/// meanwhile.
async fn warm_up(memory: Option<Arc<MemorySource>>) {
    let start = Instant::now();
    // On a thread of its own, because it computes. If that fails, the first prompt does it.
    let _ = tokio::task::spawn_blocking(grov_live::warm_up).await;
    if let Some(memory) = memory {
        memory.warm_up().await;
    }
    tracing::debug!(milliseconds = start.elapsed().as_millis(), "warmed up");
}

fn traces_health(counters: Option<&TraceCounters>) -> serde_json::Value {
    let Some(counters) = counters else {
        return serde_json::json!({"configured": false});
    };
    serde_json::json!({
        "configured": true,
        "sent": counters.sent.load(Ordering::Relaxed),
        "failed": counters.failed.load(Ordering::Relaxed),
        "dropped": counters.dropped.load(Ordering::Relaxed),
    })
}

/// The certificates of `proxy.extra_ca`. An unreadable file is no reason not to start: only upstreams behind a company's proxy need it.
fn extra_roots(settings: &ProxySettings) -> Vec<CertificateDer<'static>> {
    let Some(path) = &settings.extra_ca else {
        return Vec::new();
    };
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    read.unwrap_or_else(|error| {
        let path = path.display();
        tracing::warn!(%path, %error, "the certificates of proxy.extra_ca (NODE_EXTRA_CA_CERTS) cannot be read and are not used");
        Vec::new()
    })
}

fn limits(settings: &ProxySettings, connections: usize) -> Limits {
    Limits {
        body: settings.body_limit,
        connect: settings.connect_timeout,
        response: settings.response_timeout,
        idle: settings.idle_timeout,
        grace: settings.shutdown_grace,
        connections,
        ..Limits::default()
    }
}

/// Returns the number of relay threads.
fn worker_count() -> usize {
    std::thread::available_parallelism().map_or(2, |count| count.get().clamp(2, MAX_WORKERS))
}

/// Prints a line to standard error.
pub(crate) fn print_line(line: &str) {
    // Standard error may be closed.
    let _ = writeln!(std::io::stderr(), "{}", grov_runtime::printable(line));
}

fn user_naming(mode: UserMode) -> UserNaming {
    match mode {
        UserMode::Plain => UserNaming::Plain,
        UserMode::Hash => UserNaming::Hash,
        UserMode::Off => UserNaming::Off,
    }
}

#[cfg(test)]
mod tests;
