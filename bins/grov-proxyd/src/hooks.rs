//! `POST /_grov/hook/EVENT`: answers hooks that the client sends over HTTP.
//!
//! The hook path (`grov-drift`) builds the responses; this module authenticates the client and runs a limited number of hooks on
//! blocking threads. Errors go to `hooks.log`, and the client gets an empty response.

use crate::project_header;
use async_trait::async_trait;
use grov_drift::{
    BASE_URL_HEADER, EMPTY_RESPONSE, Hook, HookError, HookResponse, MAX_INPUT_BYTES, PRE_TOOL_USE,
    PendingRecord, Programs, Services, TOKEN_HEADER, Work, log_error, token,
};
use grov_proxy_core::{AdminRequest, AdminResponse, AdminRoute};
use grov_runtime::{Environment, Home, HookTimes, Settings, Shutdown, Tasks, daemon};
use http::{HeaderMap, Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, sleep, timeout_at};

/// The path below `/_grov/`. The event's name follows.
pub(crate) const PREFIX: &str = "hook/";
/// Hooks that run at the same time. A client runs one hook, or one for each parallel tool call.
const MAX_CONCURRENT_HOOKS: usize = 8;
/// Guard checks of tool calls that run at the same time.
const MAX_CONCURRENT_GUARDS: usize = 32;
/// Work after a turn that runs at the same time. It mostly waits for the client's last lines or for a model. Work that waits for
/// earlier work does not count.
const MAX_CONCURRENT_WORK: usize = 8;
/// Queued and running work after a turn. More is dropped: the next hook of the session catches up.
const MAX_PENDING_WORK: usize = 256;
/// Pause before work is retried that another process blocks.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// Answers a hook. Tests replace it.
type AnswerFn = fn(&Hook<'_>) -> HookResponse;

/// The route for hooks over HTTP.
pub(crate) struct HookRoute {
    shared: Arc<Shared>,
    answer_permits: Arc<Semaphore>,
    /// Separate, because a guard may wait a minute for a busy database.
    guard_permits: Arc<Semaphore>,
}

struct Shared {
    home: Home,
    /// The daemon's environment, without variables that configure a client.
    environment: Environment,
    services: Arc<Services>,
    tasks: Tasks,
    work_permits: Arc<Semaphore>,
    /// One permit per lane. Work acquires its lane before one of `work_permits`, because work of one lane runs in order.
    lanes: Vec<Arc<Semaphore>>,
    /// The number of queued and running work.
    pending_work: AtomicUsize,
    counters: Counters,
    answer_fn: AnswerFn,
}

struct Counters {
    answered: AtomicU64,
    refused: AtomicU64,
    /// Panics.
    broken: AtomicU64,
    worked: AtomicU64,
    /// How long hooks took.
    seconds: Family<HookLabels, Histogram, fn() -> Histogram>,
    /// Those that ran as processes; `None` if their file cannot be made.
    processes: Mutex<Option<HookTimes>>,
}

/// Which hooks are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct HookLabels {
    /// `guard` before a tool call, `other`. Not the event, which the client names.
    kind: &'static str,
    /// `http`, from arrival to response, or `process`, from the start of the program to its end.
    by: &'static str,
}

impl HookLabels {
    fn of(is_guard: bool, by: &'static str) -> Self {
        let kind = if is_guard { "guard" } else { "other" };
        Self { kind, by }
    }
}

/// Upper bounds of the buckets for hooks, in seconds: 1 ms to a minute, the client's limit.
const HOOK_BUCKETS: [f64; 12] = [
    0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.06, 0.125, 0.5, 2.0, 10.0, 60.0,
];

impl Counters {
    fn new(processes: Option<HookTimes>) -> Self {
        Self {
            answered: AtomicU64::default(),
            refused: AtomicU64::default(),
            broken: AtomicU64::default(),
            worked: AtomicU64::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(HOOK_BUCKETS)),
            processes: Mutex::new(processes),
        }
    }

    fn observe(&self, labels: &HookLabels, time: Duration) {
        self.seconds.get_or_create(labels).observe(time.as_secs_f64());
    }

    /// Counts the hooks that ran as processes since the last call.
    fn catch_up(&self) {
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = processes.as_mut().map(HookTimes::take);
        for hook in taken.and_then(Result::ok).unwrap_or_default() {
            self.observe(&HookLabels::of(hook.is_guard, "process"), hook.time);
        }
    }
}

impl HookRoute {
    /// Creates a route that accepts clients with the token of this home.
    pub(crate) fn new(
        home: &Home,
        environment: &Environment,
        settings: &Settings,
        services: Arc<Services>,
        tasks: &Tasks,
    ) -> Self {
        Self::with_answer_fn(
            home,
            daemon::scrubbed_environment(environment, settings),
            services,
            tasks,
            grov_drift::handle,
        )
    }

    fn with_answer_fn(
        home: &Home,
        environment: Environment,
        services: Arc<Services>,
        tasks: &Tasks,
        answer_fn: AnswerFn,
    ) -> Self {
        let shared = Shared {
            home: home.clone(),
            environment,
            services,
            tasks: tasks.clone(),
            work_permits: Arc::new(Semaphore::new(MAX_CONCURRENT_WORK)),
            lanes: (0..Work::LANES).map(|_| Arc::new(Semaphore::new(1))).collect(),
            pending_work: AtomicUsize::new(0),
            counters: Counters::new(HookTimes::count(home).ok()),
            answer_fn,
        };
        Self {
            shared: Arc::new(shared),
            answer_permits: Arc::new(Semaphore::new(MAX_CONCURRENT_HOOKS)),
            guard_permits: Arc::new(Semaphore::new(MAX_CONCURRENT_GUARDS)),
        }
    }

    /// Registers the time that hooks take.
    pub(crate) fn register_metrics(&self, registry: &mut Registry) {
        self.shared.counters.catch_up();
        registry.register(
            "hook_seconds",
            "Time that hooks take, by kind: guard or other, and by what runs them: http or process",
            self.shared.counters.seconds.clone(),
        );
    }

    /// Returns the counters for the health page.
    pub(crate) fn state(&self) -> serde_json::Value {
        let counters = &self.shared.counters;
        serde_json::json!({
            "answered": counters.answered.load(Ordering::Relaxed),
            "refused": counters.refused.load(Ordering::Relaxed),
            "broken": counters.broken.load(Ordering::Relaxed),
            "worked": counters.worked.load(Ordering::Relaxed),
            "working": self.shared.pending_work.load(Ordering::Relaxed),
        })
    }
}

#[async_trait]
impl AdminRoute for HookRoute {
    fn body_limit(&self) -> u64 {
        MAX_INPUT_BYTES
    }

    /// Checks the token before a permit is taken or the body is read. Reads a file of one line, which does not block noticeably.
    fn authorize(&self, headers: &HeaderMap) -> Result<(), AdminResponse> {
        if self.shared.is_authorized(headers) {
            return Ok(());
        }
        self.shared.counters.refused.fetch_add(1, Ordering::Relaxed);
        Err(error_response(
            StatusCode::FORBIDDEN,
            "the hook sent no token of this home; register it again: grov init --http",
        ))
    }

    async fn handle(&self, request: AdminRequest) -> AdminResponse {
        if request.method != Method::POST {
            return error_response(StatusCode::METHOD_NOT_ALLOWED, "hooks are posted");
        }
        let is_name =
            !request.rest.is_empty() && request.rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_name {
            return error_response(StatusCode::NOT_FOUND, "an event's name follows /_grov/hook/");
        }
        let received_at = Instant::now();
        let permits = match request.rest.as_str() {
            PRE_TOOL_USE => &self.guard_permits,
            _ => &self.answer_permits,
        };
        // Fails only if the semaphore is closed, which it never is. If the client disconnects here, the hook does not run.
        let permit = Arc::clone(permits).acquire_owned().await;
        let (sender, receiver) = oneshot::channel();
        let shared = Arc::clone(&self.shared);
        // In a task, so that a hook that has started runs to its end even if the client disconnects.
        self.shared.tasks.spawn("hook", async move {
            let _permit = permit;
            let ended = tokio::task::spawn_blocking({
                let shared = Arc::clone(&shared);
                move || shared.answer(&request, received_at.into_std(), sender)
            });
            if ended.await.is_err() {
                shared.counters.broken.fetch_add(1, Ordering::Relaxed);
            }
        });
        receiver
            .await
            .unwrap_or_else(|_| json_response(EMPTY_RESPONSE.to_owned()))
    }
}

impl Shared {
    /// Runs the hook, sends the response, then records what can be recorded later.
    fn answer(
        self: &Arc<Self>,
        request: &AdminRequest,
        received_at: std::time::Instant,
        sender: oneshot::Sender<AdminResponse>,
    ) {
        let (body, pending) = self.run_hook(request, received_at).over_http();
        self.counters.answered.fetch_add(1, Ordering::Relaxed);
        let labels = HookLabels::of(request.rest == PRE_TOOL_USE, "http");
        self.counters.observe(&labels, received_at.elapsed());
        // The client may have disconnected.
        let _ = sender.send(json_response(body));
        if let Some(Err(error)) = pending.map(PendingRecord::finish) {
            log_error(Some(&self.home), error);
        }
    }

    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let Some(shown) = headers.get(TOKEN_HEADER) else {
            return false;
        };
        // Read for each request, because `grov init --http` creates it while the daemon runs.
        token::read(&self.home).is_some_and(|known| token::is_equal(&known, shown.as_bytes()))
    }

    fn run_hook(self: &Arc<Self>, request: &AdminRequest, received_at: std::time::Instant) -> HookResponse {
        if request.body.is_none() {
            log_error(Some(&self.home), "the hook event is too long");
        }
        (self.answer_fn)(&Hook {
            event: Some(&request.rest),
            // A body that is too long counts as empty. A guard that fails closed denies an empty event.
            input: request.body.as_deref().unwrap_or_default(),
            home: &self.home,
            environment: &hook_environment(&self.environment, &request.headers),
            // Not needed: the client has reached the daemon.
            daemon_port: None,
            programs: &InProcess(self),
            services: &self.services,
            waiting_since: received_at,
        })
    }

    async fn run_work(self: &Arc<Self>, work: Work, mut stopping: Shutdown) {
        match self.run_in_lane(work, &mut stopping).await {
            Some(Ok(())) => {
                self.counters.worked.fetch_add(1, Ordering::Relaxed);
            }
            Some(Err(error)) => log_error(Some(&self.home), error),
            None => {}
        }
    }

    /// Runs work after all earlier work of its lane. It holds a permit only while it runs. Returns `None` if the daemon stops
    /// before the work is done.
    async fn run_in_lane(
        self: &Arc<Self>,
        mut work: Work,
        stopping: &mut Shutdown,
    ) -> Option<Result<(), HookError>> {
        let until = Instant::now() + work.lock_timeout();
        // There are `Work::LANES` lanes, so this is never `None`.
        let lane = Arc::clone(self.lanes.get(work.lane())?);
        let Ok(_lane) = until_shutdown(stopping, timeout_at(until, lane.acquire_owned())).await? else {
            return Some(work.abandon());
        };
        loop {
            let permit = until_shutdown(stopping, Arc::clone(&self.work_permits).acquire_owned()).await?;
            let shared = Arc::clone(self);
            let outcome = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                work.try_run(&shared.home, &shared.environment, &shared.services)
            });
            work = match outcome.await {
                Ok(Ok(Some(blocked))) => blocked,
                Ok(done) => return Some(done.map(drop)),
                Err(_) => {
                    self.counters.broken.fetch_add(1, Ordering::Relaxed);
                    return Some(Err(HookError::WorkPanicked));
                }
            };
            if Instant::now() >= until {
                return Some(work.abandon());
            }
            until_shutdown(stopping, sleep(RETRY_INTERVAL)).await?;
        }
    }
}

/// Returns the output of `future`, or `None` if the daemon stops first.
async fn until_shutdown<T>(stopping: &mut Shutdown, future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        () = stopping.requested() => None,
        output = future => Some(output),
    }
}

/// Does in this process the work for which a hook process starts other programs.
struct InProcess<'a>(&'a Arc<Shared>);

impl Programs for InProcess<'_> {
    /// Does nothing: this process is the proxy.
    fn start_proxy(&self, _: u16) -> Result<(), HookError> {
        Ok(())
    }

    /// Not needed: the client reached this process.
    fn move_proxy(&self) -> Result<String, HookError> {
        Err(HookError::Process("the proxy cannot move itself".to_owned()))
    }

    fn exits_after_response(&self) -> bool {
        false
    }

    /// Runs the work in the background. Work that has not started when the daemon stops is dropped.
    fn start_worker(&self, work: Work, _: &Settings) -> Result<(), HookError> {
        let shared = Arc::clone(self.0);
        if shared.pending_work.fetch_add(1, Ordering::AcqRel) >= MAX_PENDING_WORK {
            shared.pending_work.fetch_sub(1, Ordering::AcqRel);
            return Err(HookError::TooMuchWork);
        }
        let stopping = shared.tasks.shutdown();
        self.0.tasks.spawn("hook work", async move {
            shared.run_work(work, stopping).await;
            shared.pending_work.fetch_sub(1, Ordering::AcqRel);
        });
        Ok(())
    }
}

/// Returns the daemon's environment, extended by the variables that the client sends in headers. A header is empty if the client
/// does not have the variable.
fn hook_environment(daemon: &Environment, headers: &HeaderMap) -> Environment {
    let base_url = headers.get(BASE_URL_HEADER).and_then(|value| value.to_str().ok());
    let base_url = base_url.filter(|url| !url.is_empty()).map(OsString::from);
    // A hook says its directory in its input too, so an unknown one is no error.
    let directory = project_header::directory(headers).ok().flatten();
    let passed = [
        ("ANTHROPIC_BASE_URL", base_url),
        ("CLAUDE_PROJECT_DIR", directory.map(OsString::from)),
    ];
    let client = passed
        .into_iter()
        .filter_map(|(variable, value)| Some((variable.to_owned(), value?)));
    let daemon = daemon
        .iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    daemon.chain(client).collect()
}

fn json_response(text: String) -> AdminResponse {
    AdminResponse {
        status: StatusCode::OK,
        content_type: "application/json",
        body: text.into(),
    }
}

fn error_response(status: StatusCode, message: &str) -> AdminResponse {
    let body = serde_json::json!({
        "type": "error",
        "error": { "type": "hook_error", "message": format!("grov-proxyd: {message}") },
    });
    AdminResponse {
        status,
        ..json_response(body.to_string())
    }
}

#[cfg(test)]
mod tests;
