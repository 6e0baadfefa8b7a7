//! The daemon's life: configuration before sockets, recording beside serving, an orderly end.

use crate::arguments::Arguments;
use crate::assembly;
use crate::context_setup;
use crate::drift_setup;
use crate::embedding;
use crate::home_monitor::HomeMonitor;
use crate::hooks::{self, HookRoute};
use crate::judge_setup::{self, JudgeSetup};
use crate::listener;
use crate::open_files;
use crate::recording::Recording;
use crate::scrubbing;
use crate::signals::Signals;
use anyhow::{Context, anyhow};
use grov_domain::{Clock, SettlingJudge, SystemClock};
use grov_live::{ContextSource, Recorder, UserNaming};
use grov_proxy_core::{HeaderPolicy, Limits, Proxy, ServeError, Upstream};
use grov_runtime::daemon::{Lock, LockError, Record};
use grov_runtime::logging::{self, LogError};
use grov_runtime::{EXIT_USAGE, Environment, Home, Inputs, LogSettings, Settings, Tasks, UserMode};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// What the daemon is called in messages and in its record.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// More threads than this do not help a program that waits for the network.
const MAX_WORKERS: usize = 4;

/// Time for the last records to reach the store after the last response.
const FLUSH_LIMIT: Duration = Duration::from_secs(5);

/// Why the daemon stopped, or never started.
pub(crate) struct Stop {
    pub(crate) code: u8,
    pub(crate) error: anyhow::Error,
    pub(crate) hint: Option<String>,
}

impl Stop {
    fn usage(error: impl Into<anyhow::Error>, hint: Option<String>) -> Self {
        Self {
            code: EXIT_USAGE,
            error: error.into(),
            hint,
        }
    }

    pub(crate) fn fault(error: impl Into<anyhow::Error>, hint: Option<String>) -> Self {
        Self {
            code: 2,
            error: error.into(),
            hint,
        }
    }
}

/// Runs until a signal says stop.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let environment = Environment::of_process();
    let home = Home::locate(arguments.home.as_deref(), &environment).map_err(|error| {
        let hint = error.hint().to_owned();
        Stop::usage(error, Some(hint))
    })?;
    let flags = arguments.flags();
    let inputs = Inputs {
        home: &home,
        environment: &environment,
        directory: None,
        flags: &flags,
    };
    let settings = Settings::load(inputs).map_err(|error| {
        let hint = error.hint();
        Stop::usage(error, hint)
    })?;
    settings.ensure_startable(&environment).map_err(|error| {
        let hint = error.hint();
        Stop::usage(error, hint)
    })?;
    ensure_clock(SystemTime::now())?;
    // A home that cannot be written costs the record, not the service.
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
            let hint = "use that one, stop it, or give this one a home of its own with --home";
            return Err(Stop::fault(error, Some(hint.to_owned())));
        }
        Err(error) => {
            tracing::error!(%error, "other programs will not find this daemon");
            None
        }
    };
    // For everything but the relay, which has threads of its own. Two, so that what is to be written down for a request does
    // not wait for what computes.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the system gives no threads")
        .map_err(|error| Stop::fault(error, None))?;
    let home_monitor = Arc::new(HomeMonitor::new(&home, lock));
    let result = runtime.block_on(serve(&settings, &home, &environment, &home_monitor));
    // After the second signal tasks may still be running; they end here.
    runtime.shutdown_background();
    home_monitor.release();
    result
}

/// The HTTP library writes the date of each answer and panics where it has none: before 1970 and after 9999.
fn ensure_clock(now: SystemTime) -> Result<(), Stop> {
    const AFTER_9999: u64 = 253_402_300_800;
    let since_1970 = now.duration_since(SystemTime::UNIX_EPOCH);
    if since_1970.is_ok_and(|since| since.as_secs() < AFTER_9999) {
        return Ok(());
    }
    Err(Stop::fault(
        anyhow!("this machine's clock is before 1970 or after 9999, so that no request can be answered"),
        Some("set the clock, then start grov-proxyd again".to_owned()),
    ))
}

/// Starts the log. One that has no file to write to goes to standard error: it must not cost the service.
fn start_log(settings: &LogSettings) -> Result<(), Stop> {
    let refused = |error: LogError| Stop::usage(error, None);
    match logging::init(settings) {
        Err(error @ LogError::File { .. }) => {
            let to_stderr = LogSettings {
                file: None,
                ..settings.clone()
            };
            logging::init(&to_stderr).map_err(refused)?;
            tracing::error!(%error, "logging to standard error instead");
            Ok(())
        }
        other => other.map_err(refused),
    }
}

async fn serve(
    settings: &Settings,
    home: &Home,
    environment: &Environment,
    home_monitor: &Arc<HomeMonitor>,
) -> Result<ExitCode, Stop> {
    let connections = open_files::room_for_clients(open_files::raise_limit());
    let proxy_settings = settings.proxy();
    let (listener, url) = listener::bind(proxy_settings)?;
    let recording =
        Recording::start(home, home_monitor, settings.store()).map_err(|error| Stop::fault(error, None))?;
    let tasks = Tasks::new(tokio::runtime::Handle::current());
    tasks.spawn(
        "home",
        Arc::clone(home_monitor).run(recording.store(), tasks.shutdown()),
    );
    scrubbing::scrub_secrets(home, &tasks).await;
    tasks.spawn("prune", recording.prune_regularly(tasks.shutdown()));
    let user_home = environment.get("HOME").map(PathBuf::from);
    let address = listener.local_addr().map_err(|error| Stop::fault(error, None))?;
    let judge_setup = JudgeSetup::new(
        settings.llm(),
        address,
        recording.store(),
        settings.tasks().abandon_after,
    )
    .map_err(|error| Stop::usage(error, None))?;
    let judge = judge_setup.judge();
    let mut recorder = Recorder::new(recording.sink(), user_naming(settings.user()), user_home)
        .with_tasks(judge_setup.tasks);
    let mut stopping = tasks.shutdown();
    let judging = async move { judge_setup.work.run(stopping.requested()).await };
    tasks.spawn("task orchestration", judging);
    let watch = drift_setup::watch(settings.drift(), Arc::clone(&judge) as Arc<_>, recording.store());
    let drift = watch.map(|(drift, work)| {
        let mut stopping = tasks.shutdown();
        tasks.spawn("drift", async move { work.run(stopping.requested()).await });
        drift
    });
    if let Some(drift) = &drift {
        recorder = recorder.with_action_checker(Arc::clone(drift) as Arc<_>);
    }
    let recalling = drift.clone();
    let drift_counters = drift.as_ref().map(|drift| drift.counters());
    let corrections = drift.map(|drift| drift as Arc<dyn ContextSource>);
    // A connection of its own: a request must not wait behind records that are being written.
    let (injection, keeping) =
        context_setup::injection(assembly::store_apart(home), corrections, settings.memory());
    let mut stopping = tasks.shutdown();
    tasks.spawn("injection ledger", async move {
        keeping.run(stopping.requested()).await;
    });
    let counters = injection.counters();
    // And one for what takes longer than a request may wait.
    let (embedding, embedding_status) = embedding::embedding(settings, address, assembly::store_apart(home));
    if let Some(work) = embedding {
        tasks.spawn("embedding", work.run(tasks.shutdown()));
    }
    let hook_route = Arc::new(HookRoute::new(
        home,
        environment,
        settings,
        assembly::hook_services(home),
        &tasks,
    ));
    let upstream = Upstream::parse(proxy_settings.upstream.as_str());
    let builder = Proxy::builder(upstream.map_err(|error| Stop::usage(error, None))?);
    let proxy = grov_live::configure(builder, &recording.sink())
        .limits(Limits {
            body: proxy_settings.body_limit,
            connect: proxy_settings.connect_timeout,
            response: proxy_settings.response_timeout,
            idle: proxy_settings.idle_timeout,
            grace: proxy_settings.shutdown_grace,
            connections,
            ..Limits::default()
        })
        .headers(match proxy_settings.headers {
            grov_runtime::HeaderPolicy::Open => HeaderPolicy::Open,
            grov_runtime::HeaderPolicy::Strict => HeaderPolicy::Strict,
        })
        .allowed_hosts(proxy_settings.allowed_hosts.iter().cloned())
        .policy(injection)
        .observer(recorder)
        .workers(workers())
        .health_section("judge", {
            let judge = Arc::clone(&judge);
            move || judge_setup::state(&judge.status())
        })
        .health_section("drift", move || drift_setup::state(drift_counters.as_deref()))
        .health_section("context", move || context_setup::state(&counters))
        .health_section("embedder", move || embedding_status.read())
        .health_section("hooks", {
            let route = Arc::clone(&hook_route);
            move || route.state()
        })
        .admin_route(hooks::PREFIX, hook_route)
        .version(VERSION)
        .build()
        .map_err(|error| Stop::usage(error, None))?;
    let metrics = proxy.metrics();
    let mut signals = Signals::listen().map_err(|error| Stop::fault(error, None))?;
    if let Some(drift) = recalling {
        // What waited to be said when the last daemon ended is said at the very next request.
        drift.preload().await;
    }
    announce(&url, home_monitor);

    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = proxy.serve(listener, async move {
        // The sender goes only with this function, which is a stop as well.
        let _ = stopped.await;
    });
    tokio::pin!(serving);
    let early = tokio::select! {
        ended = &mut serving => Some(ended),
        () = signals.next() => None,
    };
    let ended = match early {
        Some(ended) => ended,
        None => {
            say(&format!(
                "stopping; {} running response(s) may end first, a second signal stops now",
                metrics.streams()
            ));
            let _ = stop.send(());
            tokio::select! {
                ended = &mut serving => ended,
                () = signals.next() => {
                    recording.stop(Duration::from_millis(500)).await;
                    return Ok(ExitCode::from(130));
                }
            }
        }
    };
    let cut = ended.map_err(|error| match error {
        ServeError::Threads(_) => Stop::fault(error, None),
        error => Stop::usage(error, None),
    })?;
    if cut > 0 {
        tracing::warn!(cut, "responses were cut off at the end of the grace period");
    }
    tasks.shut_down();
    // Closed first, so that rules give the verdicts that are under way. What was paid for is written down before the store
    // closes.
    let (_, closed) = tokio::join!(
        tasks.drain(FLUSH_LIMIT),
        tokio::time::timeout(FLUSH_LIMIT, judge.close())
    );
    if closed.is_err() {
        tracing::warn!(
            "calls to the model were still under way; the ledger keeps what was set aside for them"
        );
    }
    let health = recording.stop(FLUSH_LIMIT).await;
    if health.queued + health.lost > 0 {
        return Err(Stop::fault(
            anyhow!("{} record(s) could not be kept", health.queued + health.lost),
            None,
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Says that the daemon accepts, to people and to other programs.
fn announce(url: &str, watch: &HomeMonitor) {
    let record = Record::of_this_process(url, VERSION, SystemClock.now());
    if let Err(error) = watch.publish(record) {
        tracing::error!(%error, "other programs will not find this daemon");
    }
    say(&format!("listening on {url}"));
}

/// How many threads relay.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(2, |count| count.get().clamp(2, MAX_WORKERS))
}

/// One line for the person who started the daemon.
fn say(line: &str) {
    // Nobody may be reading; the daemon goes on.
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
mod tests {
    use super::*;

    #[test]
    fn with_an_impossible_clock_the_daemon_does_not_start() {
        let year = Duration::from_secs(366 * 24 * 3600);
        let epoch = SystemTime::UNIX_EPOCH;
        assert!(ensure_clock(epoch).is_ok() && ensure_clock(epoch + year * 500).is_ok());
        for wrong in [
            epoch - Duration::from_secs(1),
            epoch - year * 10,
            epoch + year * 8100,
        ] {
            assert!(ensure_clock(wrong).is_err_and(|stop| stop.code == 2));
        }
    }
}
