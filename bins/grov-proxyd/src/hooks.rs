//! `POST /_grov/hook/EVENT`: hooks that the client sends to the daemon instead of starting a process.
//!
//! What is answered is the hook path's, word for word; this says who may ask, and runs it on threads that may block, so many
//! at once. Whatever goes wrong here is a line in `hooks.log` and an answer that says nothing.

use async_trait::async_trait;
use grov_drift::{
    BASE_URL_HEADER, EMPTY_RESPONSE, Hook, HookError, HookResponse, MAX_INPUT_BYTES, PRE_TOOL_USE,
    PROJECT_HEADER, PendingRecord, Programs, Services, TOKEN_HEADER, Work, log_error, token,
};
use grov_proxy_core::{AdminRequest, AdminResponse, AdminRoute};
use grov_runtime::{Environment, Home, Settings, Shutdown, Tasks, daemon};
use http::{HeaderMap, Method, StatusCode};
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, sleep, timeout_at};

/// Below `/_grov/`; the event's name follows.
pub(crate) const PREFIX: &str = "hook/";
/// Hooks that are answered at once. The client runs one at a time, or as many as it calls tools in parallel.
const MAX_CONCURRENT_HOOKS: usize = 8;
/// Tool calls that are looked at at once.
const MAX_CONCURRENT_GUARDS: usize = 32;
/// Ends of turns that are worked on at once. Each mostly waits: for the client's last words, for a model. What waits for other
/// work is none of them.
const MAX_CONCURRENT_WORK: usize = 8;
/// More than these wait for nothing: the next hook of a session reads what is left.
const MAX_PENDING_WORK: usize = 256;
/// After which work is taken up again that other processes are in the way of.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// What answers a hook: the hook path, or a test.
type AnswerFn = fn(&Hook<'_>) -> HookResponse;

/// The page that hooks over HTTP go to.
pub(crate) struct HookRoute {
    shared: Arc<Shared>,
    answer_permits: Arc<Semaphore>,
    /// The guard may wait for a busy database for a minute; no other hook waits for it.
    guard_permits: Arc<Semaphore>,
}

/// What every answer needs.
struct Shared {
    home: Home,
    /// The daemon's own, without anything that a client set for its session.
    environment: Environment,
    services: Arc<Services>,
    tasks: Tasks,
    work_permits: Arc<Semaphore>,
    /// One permit for each lane of work, taken before one of `work_permits`.
    lanes: Vec<Arc<Semaphore>>,
    /// Work that was handed over and is not done.
    open: AtomicUsize,
    counters: Counters,
    answer_fn: AnswerFn,
}

#[derive(Default)]
struct Counters {
    answered: AtomicU64,
    refused: AtomicU64,
    broken: AtomicU64,
    worked: AtomicU64,
}

impl HookRoute {
    /// A page for the clients of this user.
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
            open: AtomicUsize::new(0),
            counters: Counters::default(),
            answer_fn,
        };
        Self {
            shared: Arc::new(shared),
            answer_permits: Arc::new(Semaphore::new(MAX_CONCURRENT_HOOKS)),
            guard_permits: Arc::new(Semaphore::new(MAX_CONCURRENT_GUARDS)),
        }
    }

    /// How it stands, for the health page.
    pub(crate) fn state(&self) -> serde_json::Value {
        let counters = &self.shared.counters;
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        serde_json::json!({
            "answered": count(&counters.answered),
            "refused": count(&counters.refused),
            "broken": count(&counters.broken),
            "worked": count(&counters.worked),
            "working": self.shared.open.load(Ordering::Relaxed),
        })
    }
}

#[async_trait]
impl AdminRoute for HookRoute {
    fn body_limit(&self) -> u64 {
        MAX_INPUT_BYTES
    }

    /// Who shows no token takes no permit and is not listened to. The file is a line long, so reading it is no waiting.
    fn authorize(&self, headers: &HeaderMap) -> Result<(), AdminResponse> {
        if self.shared.is_authorized(headers) {
            return Ok(());
        }
        Shared::count(&self.shared.counters.refused);
        Err(error_response(
            StatusCode::FORBIDDEN,
            "the hook shows no token of this home; register it anew: grov init --http",
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
        // Never closed. A client that leaves while it waits for its turn is not answered.
        let received_at = Instant::now();
        let answer_permits = match request.rest.as_str() {
            PRE_TOOL_USE => &self.guard_permits,
            _ => &self.answer_permits,
        };
        let permit = Arc::clone(answer_permits).acquire_owned().await;
        let (sender, receiver) = oneshot::channel();
        let shared = Arc::clone(&self.shared);
        // On its own, so that what was begun is ended also where the client has left.
        self.shared.tasks.spawn("hook", async move {
            let _permit = permit;
            let ended = tokio::task::spawn_blocking({
                let shared = Arc::clone(&shared);
                move || shared.answer(&request, received_at.into_std(), sender)
            });
            if ended.await.is_err() {
                Shared::count(&shared.counters.broken);
            }
        });
        receiver
            .await
            .unwrap_or_else(|_| json_response(EMPTY_RESPONSE.to_owned()))
    }
}

impl Shared {
    fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Answers on this thread, and notes what is to be noted after that.
    fn answer(
        self: &Arc<Self>,
        request: &AdminRequest,
        received_at: std::time::Instant,
        sender: oneshot::Sender<AdminResponse>,
    ) {
        let (body, noting) = self.reply(request, received_at).over_http();
        Self::count(&self.counters.answered);
        // Nobody may be left to hear it.
        let _ = sender.send(json_response(body));
        if let Some(Err(fault)) = noting.map(PendingRecord::finish) {
            log_error(Some(&self.home), fault);
        }
    }

    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let Some(shown) = headers.get(TOKEN_HEADER) else {
            return false;
        };
        // Read each time: `grov init --http` may have made it just now.
        token::read(&self.home).is_some_and(|known| token::is_equal(&known, shown.as_bytes()))
    }

    fn reply(self: &Arc<Self>, request: &AdminRequest, received_at: std::time::Instant) -> HookResponse {
        if request.body.is_none() {
            log_error(Some(&self.home), "the hook event is too long");
        }
        (self.answer_fn)(&Hook {
            event: Some(&request.rest),
            // As if nothing had been sent, where it is too long: a guard that fails closed denies it then.
            input: request.body.as_deref().unwrap_or_default(),
            home: &self.home,
            environment: &client(&self.environment, &request.headers),
            // Whoever asks has found the daemon.
            daemon_port: None,
            programs: &InProcess(self),
            services: &self.services,
            since: received_at,
        })
    }

    /// Does the work of a turn on a thread of its own, in its turn; what has not begun when the daemon stops is left.
    fn work(self: &Arc<Self>, work: Work) -> Result<(), HookError> {
        if self.open.fetch_add(1, Ordering::AcqRel) >= MAX_PENDING_WORK {
            self.open.fetch_sub(1, Ordering::AcqRel);
            return Err(HookError::TooMuchWork);
        }
        let (shared, stopping) = (Arc::clone(self), self.tasks.shutdown());
        self.tasks.spawn("hook work", async move {
            shared.in_turn(work, stopping).await;
            shared.open.fetch_sub(1, Ordering::AcqRel);
        });
        Ok(())
    }

    async fn in_turn(self: &Arc<Self>, work: Work, mut stopping: Shutdown) {
        let Some(worked) = self.in_lane(work, &mut stopping).await else {
            return;
        };
        match worked {
            Ok(()) => Self::count(&self.counters.worked),
            Err(fault) => log_error(Some(&self.home), fault),
        }
    }

    /// Does work when what is before it in its lane is done. It takes a permit only while it is worked on. `None`: the daemon
    /// stops before.
    async fn in_lane(
        self: &Arc<Self>,
        mut work: Work,
        stopping: &mut Shutdown,
    ) -> Option<Result<(), HookError>> {
        let until = Instant::now() + work.patience();
        // There is one for each that a work can name.
        let lane = Arc::clone(self.lanes.get(work.lane())?);
        let Ok(_lane) = until_shutdown(stopping, timeout_at(until, lane.acquire_owned())).await? else {
            return Some(work.abandon());
        };
        loop {
            let permit = until_shutdown(stopping, Arc::clone(&self.work_permits).acquire_owned()).await?;
            let shared = Arc::clone(self);
            let worked = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                work.try_run(&shared.home, &shared.environment, &shared.services)
            });
            work = match worked.await {
                Ok(Ok(Some(work))) => work,
                Ok(done) => return Some(done.map(drop)),
                Err(_) => {
                    Self::count(&self.counters.broken);
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

/// The result, or `None` if the daemon stops first.
async fn until_shutdown<T>(stopping: &mut Shutdown, waiting: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        () = stopping.requested() => None,
        output = waiting => Some(output),
    }
}

/// What an answer needs of other programs is in this one.
struct InProcess<'a>(&'a Arc<Shared>);

impl Programs for InProcess<'_> {
    /// This is the proxy.
    fn start_proxy(&self, _: u16) -> Result<(), HookError> {
        Ok(())
    }

    fn ends(&self) -> bool {
        false
    }

    fn hand_over(&self, work: Work, _: &Settings) -> Result<(), HookError> {
        self.0.work(work)
    }
}

/// The environment of an answer: the daemon's own, and what the client says of its own in headers. A variable that it does
/// not have comes as an empty header.
fn client(own: &Environment, headers: &HeaderMap) -> Environment {
    let passed = [
        (BASE_URL_HEADER, "ANTHROPIC_BASE_URL"),
        (PROJECT_HEADER, "CLAUDE_PROJECT_DIR"),
    ];
    let sender = passed.into_iter().filter_map(|(header, variable)| {
        let value = headers.get(header)?.to_str().ok()?;
        (!value.is_empty()).then(|| (variable.to_owned(), OsString::from(value)))
    });
    let own = own
        .iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    own.chain(sender).collect()
}

fn json_response(text: String) -> AdminResponse {
    AdminResponse {
        status: StatusCode::OK,
        content_type: "application/json",
        body: text.into(),
    }
}

fn error_response(status: StatusCode, message: &str) -> AdminResponse {
    let shape = serde_json::json!({
        "type": "error",
        "error": { "type": "hook_error", "message": format!("grov-proxyd: {message}") },
    });
    AdminResponse {
        status,
        ..json_response(shape.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_runtime::write_private;
    use std::sync::Barrier;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    struct Scene {
        folder: tempfile::TempDir,
        home: Home,
        tasks: Tasks,
        route: HookRoute,
    }

    fn scene(answer_fn: AnswerFn) -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        write_private(&home.hook_token(), TOKEN.as_bytes()).unwrap();
        let tasks = Tasks::new(tokio::runtime::Handle::current());
        let services = crate::assembly::hook_services(&home);
        let route = HookRoute::with_answer_fn(&home, Environment::default(), services, &tasks, answer_fn);
        Scene {
            folder,
            home,
            tasks,
            route,
        }
    }

    fn asked(method: Method, rest: &str, token: &str, body: Option<&str>) -> AdminRequest {
        let mut headers = HeaderMap::new();
        headers.insert(TOKEN_HEADER, token.parse().unwrap());
        AdminRequest {
            method,
            rest: rest.to_owned(),
            headers,
            body: body.map(|body| body.to_owned().into()),
        }
    }

    impl Scene {
        async fn post(&self, event: &str, body: Option<&str>) -> (u16, String) {
            self.ask(asked(Method::POST, event, TOKEN, body)).await
        }

        async fn ask(&self, request: AdminRequest) -> (u16, String) {
            let answer = match self.route.authorize(&request.headers) {
                Ok(()) => self.route.handle(request).await,
                Err(refused) => refused,
            };
            assert_eq!(answer.content_type, "application/json");
            let body = String::from_utf8(answer.body.to_vec()).unwrap();
            (answer.status.as_u16(), body)
        }

        fn noted(&self) -> String {
            std::fs::read_to_string(self.folder.path().join("logs/hooks.log")).unwrap_or_default()
        }
    }

    fn echo(hook: &Hook<'_>) -> HookResponse {
        let base = hook.environment.get("ANTHROPIC_BASE_URL");
        let event = hook.event.unwrap_or_default();
        HookResponse::Json(format!(
            "{event} {} {base:?}",
            String::from_utf8_lossy(hook.input)
        ))
    }

    #[tokio::test]
    async fn who_shows_the_token_is_answered_and_nobody_else() {
        let scene = scene(echo);
        assert_eq!(
            scene.post("Stop", Some("{1}")).await,
            (200, "Stop {1} None".to_owned())
        );
        for token in ["", "0123", &TOKEN.replace('0', "f"), &TOKEN.to_uppercase()] {
            let (status, body) = scene.ask(asked(Method::POST, "Stop", token, Some("{}"))).await;
            assert_eq!(status, 403, "{token}");
            assert!(body.contains("grov init --http"), "{body}");
        }
        let mut without = asked(Method::POST, "Stop", TOKEN, Some("{}"));
        without.headers.clear();
        assert_eq!(scene.ask(without).await.0, 403);
        std::fs::remove_file(scene.home.hook_token()).unwrap();
        assert_eq!(
            scene.post("Stop", Some("{}")).await.0,
            403,
            "a token that is gone is none"
        );
        assert_eq!(scene.route.state()["refused"], 6);
    }

    #[tokio::test]
    async fn hooks_are_posted_to_an_event() {
        let scene = scene(echo);
        for (method, event, status) in [
            (Method::GET, "Stop", 405),
            (Method::PUT, "Stop", 405),
            (Method::POST, "", 404),
            (Method::POST, "Stop/more", 404),
            (Method::POST, "NoSuchEvent", 200),
        ] {
            let asked = asked(method, event, TOKEN, Some("{}"));
            assert_eq!(scene.ask(asked).await.0, status, "{event}");
        }
    }

    #[tokio::test]
    async fn a_variable_that_the_client_does_not_have_is_not_set() {
        let scene = scene(echo);
        for (value, seen) in [
            ("", "None"),
            ("http://u:p@127.0.0.1:1", "Some(\"http://u:p@127.0.0.1:1\")"),
        ] {
            let mut request = asked(Method::POST, "Stop", TOKEN, Some(""));
            request.headers.insert(BASE_URL_HEADER, value.parse().unwrap());
            assert_eq!(scene.ask(request).await.1, format!("Stop  {seen}"));
        }
        assert_eq!(scene.noted(), "");
    }

    #[tokio::test]
    async fn what_breaks_off_says_nothing() {
        let scene = scene(|_| panic!("on purpose"));
        assert_eq!(scene.post("Stop", Some("{}")).await, (200, "{}".to_owned()));
        assert_eq!(scene.tasks.drain(Duration::from_secs(20)).await, 0);
        assert_eq!(scene.route.state()["broken"], 1);
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_noted_and_says_nothing() {
        let scene = scene(grov_drift::handle);
        for (event, body) in [
            ("Stop", Some("no json")),
            ("UserPromptSubmit", Some("[1]")),
            ("Unheard", Some("{}")),
            ("PostToolUse", None),
            ("PreToolUse", None),
        ] {
            assert_eq!(scene.post(event, body).await, (200, "{}".to_owned()), "{event}");
        }
        let noted = scene.noted();
        assert!(
            noted.contains("could not be parsed") && noted.contains("too long"),
            "{noted}"
        );
    }

    #[tokio::test]
    async fn a_guard_that_fails_closed_denies_what_is_too_long_to_be_read() {
        let scene = scene(grov_drift::handle);
        std::fs::write(scene.home.config_file(), "[guard]\nfail = \"closed\"\n").unwrap();
        let (status, body) = scene.post("PreToolUse", None).await;
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(
            (status, &body["hookSpecificOutput"]["permissionDecision"]),
            (200, &"deny".into())
        );
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn so_many_are_answered_at_once_and_no_more() {
        static AT_ONCE: AtomicUsize = AtomicUsize::new(0);
        static MOST: AtomicUsize = AtomicUsize::new(0);
        static TOGETHER: Barrier = Barrier::new(MAX_CONCURRENT_HOOKS);
        fn together(_: &Hook<'_>) -> HookResponse {
            MOST.fetch_max(AT_ONCE.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            TOGETHER.wait();
            AT_ONCE.fetch_sub(1, Ordering::SeqCst);
            HookResponse::Empty
        }
        let scene = Arc::new(scene(together));
        let tasks = Tasks::new(tokio::runtime::Handle::current());
        for _ in 0..3 * MAX_CONCURRENT_HOOKS {
            let scene = Arc::clone(&scene);
            tasks.spawn("client", async move { scene.post("Stop", Some("{}")).await });
        }
        assert_eq!(tasks.drain(Duration::from_secs(20)).await, 0);
        assert_eq!(MOST.load(Ordering::SeqCst), MAX_CONCURRENT_HOOKS);
        assert_eq!(scene.route.state()["answered"], 3 * MAX_CONCURRENT_HOOKS);
    }

    #[tokio::test]
    async fn the_work_after_a_turn_is_done_here_until_the_daemon_stops() {
        let scene = scene(grov_drift::handle);
        let input = serde_json::json!({"session_id": "s", "cwd": scene.folder.path()}).to_string();
        let ends = || scene.post("Stop", Some(&input));
        assert_eq!(ends().await, (200, "{}".to_owned()));
        assert_eq!(scene.tasks.drain(Duration::from_secs(20)).await, 0);
        assert_eq!(
            (&scene.route.state()["worked"], scene.noted()),
            (&1.into(), String::new())
        );
        scene.tasks.shut_down();
        assert_eq!(ends().await, (200, "{}".to_owned()));
        assert_eq!(scene.tasks.drain(Duration::from_secs(20)).await, 0);
        let state = scene.route.state();
        assert_eq!(
            (&state["worked"], &state["working"]),
            (&1.into(), &0.into()),
            "{state}"
        );
    }

    #[tokio::test]
    async fn what_waits_for_others_who_work_on_its_session_holds_nobody_else_up() {
        let scene = scene(grov_drift::handle);
        let ends = async |session: &str| {
            let input = serde_json::json!({"session_id": session, "cwd": scene.folder.path()});
            let answer = scene.post("Stop", Some(&input.to_string())).await;
            assert_eq!(answer, (200, "{}".to_owned()));
        };
        let worked = async |times: u64| {
            let all = async {
                while scene.route.state()["worked"] != times {
                    tokio::task::yield_now().await;
                }
            };
            let all = tokio::time::timeout(Duration::from_secs(20), all).await;
            assert!(all.is_ok(), "{}", scene.route.state());
        };
        ends("a").await;
        worked(1).await;
        // Another process works on it.
        let mut locks = std::fs::read_dir(scene.home.root().join("hooks/working")).unwrap();
        let lock = std::fs::File::open(locks.next().unwrap().unwrap().path()).unwrap();
        lock.lock().unwrap();
        for _ in 0..2 * MAX_CONCURRENT_WORK {
            ends("a").await;
        }
        ends("b").await;
        worked(2).await;
        assert_eq!(scene.route.state()["working"], 2 * MAX_CONCURRENT_WORK);
        drop(lock);
        worked(2 + 2 * MAX_CONCURRENT_WORK as u64).await;
        assert_eq!(scene.noted(), "");
    }

    #[tokio::test]
    async fn what_waits_for_others_does_not_hold_up_the_end_of_the_daemon() {
        let scene = scene(grov_drift::handle);
        let input = serde_json::json!({"session_id": "s", "cwd": scene.folder.path()}).to_string();
        scene.post("Stop", Some(&input)).await;
        assert_eq!(scene.tasks.drain(Duration::from_secs(20)).await, 0);
        let mut locks = std::fs::read_dir(scene.home.root().join("hooks/working")).unwrap();
        let lock = std::fs::File::open(locks.next().unwrap().unwrap().path()).unwrap();
        lock.lock().unwrap();
        for _ in 0..2 {
            scene.post("Stop", Some(&input)).await;
        }
        scene.tasks.shut_down();
        assert_eq!(scene.tasks.drain(Duration::from_secs(20)).await, 0);
        assert_eq!(scene.route.state()["worked"], 1);
    }
}
