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
    let services = crate::assembly::hook_services(&home, &Environment::default());
    let route = HookRoute::with_answer_fn(&home, Environment::default(), services, &tasks, answer_fn);
    Scene {
        folder,
        home,
        tasks,
        route,
    }
}

fn request(method: Method, rest: &str, token: &str, body: Option<&str>) -> AdminRequest {
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
        self.send(request(Method::POST, event, TOKEN, body)).await
    }

    async fn send(&self, request: AdminRequest) -> (u16, String) {
        let answer = match self.route.authorize(&request.headers) {
            Ok(()) => self.route.handle(request).await,
            Err(refusal) => refusal,
        };
        assert_eq!(answer.content_type, "application/json");
        let body = String::from_utf8(answer.body.to_vec()).unwrap();
        (answer.status.as_u16(), body)
    }

    fn log(&self) -> String {
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
async fn only_requests_with_the_token_are_answered() {
    let scene = scene(echo);
    assert_eq!(
        scene.post("Stop", Some("{1}")).await,
        (200, "Stop {1} None".to_owned())
    );
    for token in ["", "0123", &TOKEN.replace('0', "f"), &TOKEN.to_uppercase()] {
        let (status, body) = scene.send(request(Method::POST, "Stop", token, Some("{}"))).await;
        assert_eq!(status, 403, "{token}");
        assert!(body.contains("grov init --http"), "{body}");
    }
    let mut without = request(Method::POST, "Stop", TOKEN, Some("{}"));
    without.headers.clear();
    assert_eq!(scene.send(without).await.0, 403);
    std::fs::remove_file(scene.home.hook_token()).unwrap();
    assert_eq!(
        scene.post("Stop", Some("{}")).await.0,
        403,
        "without a token file, no token is valid"
    );
    assert_eq!(scene.route.state()["refused"], 6);
}

#[tokio::test]
async fn a_hook_needs_the_post_method_and_an_event_name() {
    let scene = scene(echo);
    for (method, event, status) in [
        (Method::GET, "Stop", 405),
        (Method::PUT, "Stop", 405),
        (Method::POST, "", 404),
        (Method::POST, "Stop/more", 404),
        (Method::POST, "NoSuchEvent", 200),
    ] {
        let request = request(method, event, TOKEN, Some("{}"));
        assert_eq!(scene.send(request).await.0, status, "{event}");
    }
}

#[tokio::test]
async fn an_empty_header_does_not_set_a_variable() {
    let scene = scene(echo);
    for (value, seen) in [
        ("", "None"),
        ("http://u:p@127.0.0.1:1", "Some(\"http://u:p@127.0.0.1:1\")"),
    ] {
        let mut request = request(Method::POST, "Stop", TOKEN, Some(""));
        request.headers.insert(BASE_URL_HEADER, value.parse().unwrap());
        assert_eq!(scene.send(request).await.1, format!("Stop  {seen}"));
    }
    assert_eq!(scene.log(), "");
}

#[tokio::test]
async fn a_panicking_hook_gets_an_empty_response() {
    let scene = scene(|_| panic!("on purpose"));
    assert_eq!(scene.post("Stop", Some("{}")).await, (200, "{}".to_owned()));
    assert_eq!(scene.tasks.drain(Duration::from_secs(20)).await, 0);
    assert_eq!(scene.route.state()["broken"], 1);
}

#[tokio::test]
async fn an_unreadable_event_is_logged_and_gets_an_empty_response() {
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
    let log = scene.log();
    assert!(
        log.contains("could not be parsed") && log.contains("too long"),
        "{log}"
    );
}

#[tokio::test]
async fn a_guard_that_fails_closed_denies_an_event_that_is_too_long() {
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
async fn the_number_of_concurrent_hooks_is_limited() {
    static RUNNING: AtomicUsize = AtomicUsize::new(0);
    static MAX: AtomicUsize = AtomicUsize::new(0);
    static BARRIER: Barrier = Barrier::new(MAX_CONCURRENT_HOOKS);
    fn wait_for_all(_: &Hook<'_>) -> HookResponse {
        MAX.fetch_max(RUNNING.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        BARRIER.wait();
        RUNNING.fetch_sub(1, Ordering::SeqCst);
        HookResponse::Empty
    }
    let scene = Arc::new(scene(wait_for_all));
    let tasks = Tasks::new(tokio::runtime::Handle::current());
    for _ in 0..3 * MAX_CONCURRENT_HOOKS {
        let scene = Arc::clone(&scene);
        tasks.spawn("client", async move { scene.post("Stop", Some("{}")).await });
    }
    assert_eq!(tasks.drain(Duration::from_secs(20)).await, 0);
    assert_eq!(MAX.load(Ordering::SeqCst), MAX_CONCURRENT_HOOKS);
    assert_eq!(scene.route.state()["answered"], 3 * MAX_CONCURRENT_HOOKS);
}

#[tokio::test]
async fn work_after_a_turn_runs_until_the_daemon_stops() {
    let scene = scene(grov_drift::handle);
    let input = serde_json::json!({"session_id": "s", "cwd": scene.folder.path()}).to_string();
    let end_turn = || scene.post("Stop", Some(&input));
    assert_eq!(end_turn().await, (200, "{}".to_owned()));
    assert_eq!(scene.tasks.drain(Duration::from_secs(20)).await, 0);
    assert_eq!(
        (&scene.route.state()["worked"], scene.log()),
        (&1.into(), String::new())
    );
    scene.tasks.shut_down();
    assert_eq!(end_turn().await, (200, "{}".to_owned()));
    assert_eq!(scene.tasks.drain(Duration::from_secs(20)).await, 0);
    let state = scene.route.state();
    assert_eq!(
        (&state["worked"], &state["working"]),
        (&1.into(), &0.into()),
        "{state}"
    );
}

#[tokio::test]
async fn work_on_a_locked_session_does_not_block_other_sessions() {
    let scene = scene(grov_drift::handle);
    let end_turn = async |session: &str| {
        let input = serde_json::json!({"session_id": session, "cwd": scene.folder.path()});
        let answer = scene.post("Stop", Some(&input.to_string())).await;
        assert_eq!(answer, (200, "{}".to_owned()));
    };
    let until_worked = async |times: u64| {
        let all = async {
            while scene.route.state()["worked"] != times {
                tokio::task::yield_now().await;
            }
        };
        let all = tokio::time::timeout(Duration::from_secs(20), all).await;
        assert!(all.is_ok(), "{}", scene.route.state());
    };
    end_turn("a").await;
    until_worked(1).await;
    // Another process holds the lock of session a.
    let mut locks = std::fs::read_dir(scene.home.root().join("hooks/working")).unwrap();
    let lock = std::fs::File::open(locks.next().unwrap().unwrap().path()).unwrap();
    lock.lock().unwrap();
    for _ in 0..2 * MAX_CONCURRENT_WORK {
        end_turn("a").await;
    }
    end_turn("b").await;
    until_worked(2).await;
    assert_eq!(scene.route.state()["working"], 2 * MAX_CONCURRENT_WORK);
    drop(lock);
    until_worked(2 + 2 * MAX_CONCURRENT_WORK as u64).await;
    assert_eq!(scene.log(), "");
}

#[tokio::test]
async fn work_on_a_locked_session_does_not_delay_shutdown() {
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
