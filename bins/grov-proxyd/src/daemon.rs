//! Runs the daemon: configuration, startup, serving, shutdown.

use crate::access::Access;
use crate::arguments::Arguments;
use crate::assembly;
use crate::context_setup;
use crate::drift_setup;
use crate::embedding::{Embedding, EmbeddingStatus};
use crate::home_monitor::HomeMonitor;
use crate::hook_sessions::StoredHookSessions;
use crate::hooks::{self, HookRoute};
use crate::judge_setup;
use crate::listener;
use crate::mitm_setup::MitmSetup;
use crate::open_files;
use crate::recording::Recording;
use crate::route_setup;
use crate::screening;
use crate::scrubbing;
use anyhow::{Context, anyhow};
use grov_domain::{Clock, Judge, SystemClock};
use grov_drift_proxy::DriftMonitor;
use grov_live::{ClearSettings, ContextObserver, ContextSource, Recorder, TaskOrchestrator, UserNaming};
use grov_llm::ModelJudge;
use grov_proxy_core::{HeaderPolicy, Limits, Proxy, ServeError, Upstream};
use grov_runtime::daemon::{Lock, LockError, Record};
use grov_runtime::logging::{self, LogError};
use grov_runtime::{
    EXIT_USAGE, Environment, Home, Inputs, LogSettings, ProxySettings, Settings, SettingsError, Tasks,
    UserMode,
};
use grov_serve::Signals;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::net::TcpListener;

/// The version in the daemon's record and on the health page.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Maximum number of relay threads. The daemon waits for the network, so more do not help.
const MAX_WORKERS: usize = 4;

/// Time for background work and unwritten records at shutdown.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// Time for unwritten records after a second signal.
const SHORT_FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

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

/// Runs until a signal asks to stop.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
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
    let lock = match Lock::acquire(&home) {
        Ok(lock) => Some(lock),
        Err(error @ LockError::Held { .. }) => {
            let hint = "use the running daemon, stop it, or choose another home with --home";
            return Err(Stop::fault(error).with_hint(hint));
        }
        Err(error) => {
            tracing::error!(%error, "other programs will not find this daemon");
            None
        }
    };
    // Runs everything except the relay. Two threads, so that a computation does not delay writes that a request waits for.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start the async runtime")
        .map_err(Stop::fault)?;
    let home_monitor = Arc::new(HomeMonitor::new(&home, lock));
    let result = runtime.block_on(serve(&settings, &home, &environment, &home_monitor));
    // Aborts tasks that still run after a second signal.
    runtime.shutdown_background();
    home_monitor.release();
    result
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

async fn serve(
    settings: &Settings,
    home: &Home,
    environment: &Environment,
    home_monitor: &Arc<HomeMonitor>,
) -> Result<ExitCode, Stop> {
    let connections = open_files::room_for_clients(open_files::raise_limit());
    let access = Arc::new(Access::new(home, settings.proxy())?);
    let (listener, address) = listener::bind(settings.proxy())?;
    let recording = Recording::start(home, home_monitor, settings.store()).map_err(Stop::fault)?;
    let tasks = Tasks::new(tokio::runtime::Handle::current());
    tasks.spawn(
        "home",
        Arc::clone(home_monitor).run(recording.store(), tasks.shutdown()),
    );
    scrubbing::scrub_secrets(home, &tasks).await;
    tasks.spawn("prune", recording.prune_regularly(tasks.shutdown()));
    let judge = judge_setup::judge(settings.llm(), address, &recording.store()).map_err(Stop::usage)?;
    let services = Services {
        settings,
        home,
        address,
        recording: &recording,
        tasks: &tasks,
        access: &access,
        judge: Arc::new(judge),
    };
    let hooks = HookRoute::new(home, environment, settings, assembly::hook_services(home), &tasks);
    let Built { proxy, drift, mitm } = services.proxy(connections, environment, Arc::new(hooks))?;
    let mut signals = Signals::listen().map_err(Stop::fault)?;
    if let Some(drift) = drift {
        // So that corrections that were pending when the last daemon stopped go out with the next request.
        drift.preload().await;
    }
    announce(address, &access, mitm.as_ref(), home_monitor);
    tasks.spawn("access", Arc::clone(&access).watch(tasks.shutdown()));
    // Boxed: it is large.
    let relaying = Box::pin(relay(proxy, listener, mitm, &mut signals, &recording));
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
        connections: usize,
        environment: &Environment,
        hooks: Arc<HookRoute>,
    ) -> Result<Built, Stop> {
        let Self {
            settings, recording, ..
        } = self;
        let drift = self.drift();
        let user_home = environment.get("HOME").map(PathBuf::from);
        let task_orchestrator = self.task_orchestrator();
        let mut recorder = Recorder::new(recording.sink(), user_naming(settings.user()), user_home)
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
        let (injection, worker) = context_setup::injection(
            store,
            corrections,
            Arc::clone(&monitor),
            settings.context(),
            settings.memory(),
        );
        let clearing = injection.clearing(ClearSettings {
            summaries: Arc::new(context_setup::Summaries(Arc::clone(&monitor))),
            tasks: Some(task_orchestrator),
        });
        self.tasks.spawn("injection ledger", worker.run(self.stopping()));
        let context_counters = injection.counters();
        let embedding = self.embedding();
        let screening = screening::run(assembly::store_apart(self.home), self.tasks.shutdown());
        self.tasks.spawn("screening", screening);
        let judge = Arc::clone(&self.judge);
        let drift_counters = drift.as_ref().map(|drift| drift.counters());
        let hook_counters = Arc::clone(&hooks);
        let upstream = Upstream::parse(settings.proxy().upstream.as_str()).map_err(Stop::usage)?;
        let builder = grov_live::configure(Proxy::builder(upstream), &recording.sink());
        let (builder, routes) = route_setup::routed(builder, self.home, environment, settings.route());
        let mitm = MitmSetup::new(settings, self.home, &builder.upstreams())?;
        let mitm_counters = mitm.as_ref().map(|mitm| Arc::clone(&mitm.counters));
        let usage = route_setup::record_usage(routes.usage(), recording.store(), self.stopping());
        self.tasks.spawn("routed usage", usage);
        self.tasks.spawn("provider file", routes.run(self.stopping()));
        let proxy = self
            .access
            .protect(builder)
            .limits(limits(settings.proxy(), connections))
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
            .admin_route(hooks::PREFIX, hooks)
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

/// Serves clients until a signal, then waits for running responses. Returns the number of responses that were cut off, or
/// `None` after a second signal.
async fn relay(
    mut proxy: Proxy,
    listener: TcpListener,
    mitm: Option<MitmSetup>,
    signals: &mut Signals,
    recording: &Recording,
) -> Result<Option<usize>, Stop> {
    let metrics = proxy.metrics();
    let (stop, mut stopped) = tokio::sync::watch::channel(false);
    let mut mitm_stopped = stopped.clone();
    let intake = mitm.is_some().then(|| proxy.intake());
    let connect_proxy = async move {
        let (Some(mitm), Some(intake)) = (mitm, intake) else {
            return Ok(0);
        };
        mitm.serve(intake, async move {
            let _ = mitm_stopped.wait_for(|stop| *stop).await;
        })
        .await
    };
    let serving = proxy.serve(listener, async move {
        // Also resolves when the sender is dropped.
        let _ = stopped.wait_for(|stop| *stop).await;
    });
    let serving = async {
        let serving = async { serving.await.map_err(failed) };
        let (cut, tunnels) = tokio::try_join!(serving, connect_proxy)?;
        match tunnels {
            0 => {}
            tunnels => tracing::info!(tunnels, "tunnels were cut off"),
        }
        Ok(cut)
    };
    tokio::pin!(serving);
    tokio::select! {
        ended = &mut serving => return ended.map(Some),
        () = signals.next() => {}
    }
    print_line(&format!(
        "shutting down; waiting for {} response(s) to end; a second signal aborts them",
        metrics.streams()
    ));
    stop.send_replace(true);
    tokio::select! {
        ended = &mut serving => ended.map(Some),
        () = signals.next() => {
            recording.stop(SHORT_FLUSH_TIMEOUT).await;
            Ok(None)
        }
    }
}

fn failed(error: ServeError) -> Stop {
    match error {
        ServeError::Threads(_) => Stop::fault(error),
        error => Stop::usage(error),
    }
}

/// Publishes the daemon's address to other programs and prints it.
fn announce(address: SocketAddr, access: &Access, mitm: Option<&MitmSetup>, home_monitor: &HomeMonitor) {
    let url = format!("{}://{address}", access.scheme());
    let mitm_url = mitm.map(|mitm| format!("http://{}", mitm.address));
    let record = Record {
        base_url: access.base_url(address),
        mitm_url: mitm_url.clone(),
        ..Record::of_this_process(&url, VERSION, SystemClock.now())
    };
    if let Err(error) = home_monitor.publish(record) {
        tracing::error!(%error, "other programs will not find this daemon");
    }
    if let Some(mitm_url) = mitm_url {
        print_line(&format!("CONNECT proxy (HTTPS_PROXY) on {mitm_url}"));
    }
    print_line(&format!("listening on {url}"));
    access.announce(print_line);
}

/// Returns the number of relay threads.
fn worker_count() -> usize {
    std::thread::available_parallelism().map_or(2, |count| count.get().clamp(2, MAX_WORKERS))
}

/// Prints a line to standard error.
fn print_line(line: &str) {
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
