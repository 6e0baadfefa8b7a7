//! `grov hook`: its replies, and that it never prints anything else.

use crate::scene::{Ended, Scene};
use grov_domain::{ClientSessionId, HookSession, HookStore};
use grov_store::{OpenOptions, SqliteStore};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde_json::{Value, json as object};
use std::io::{ErrorKind, Write};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Events of the client, and words that are not events.
const EVENTS: [&str; 16] = [
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "StopFailure",
    "PreCompact",
    "PostCompact",
    "Tomorrow",
    "",
];
const RECORD: &str =
    "Retry the upload of a chunk with exponential backoff when the storage gateway answers 503";
const PROMPT: &str =
    "the upload of a chunk fails when the storage gateway answers 503, what backoff do we use for the retry?";

fn run_with_input(mut command: Command, input: &[u8]) -> Ended {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let written = child.stdin.take().unwrap().write_all(input);
    // A hook may exit without reading all input.
    assert!(written.is_ok() || written.is_err_and(|error| error.kind() == ErrorKind::BrokenPipe));
    Ended::of(&child.wait_with_output().unwrap())
}

fn hook(scene: &Scene, words: &[&str], input: &[u8]) -> Ended {
    let mut command = scene.command();
    command.args(words);
    let ended = run_with_input(command, input);
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (0, ""),
        "{words:?}: {ended:?}"
    );
    ended
}

fn prompt(scene: &Scene, session: &str, text: &str) -> String {
    static PROMPTS: AtomicU64 = AtomicU64::new(0);
    let number = PROMPTS.fetch_add(1, Ordering::Relaxed);
    prompt_named(scene, session, text, &format!("prompt-{number}"))
}

fn prompt_named(scene: &Scene, session: &str, text: &str, id: &str) -> String {
    let input = object!({
        "session_id": session, "transcript_path": "/nowhere.jsonl", "cwd": scene.path("work"),
        "hook_event_name": "UserPromptSubmit", "permission_mode": "default", "prompt": text, "prompt_id": id,
    });
    hook(scene, &["hook", "UserPromptSubmit"], input.to_string().as_bytes()).stdout
}

fn start(scene: &Scene, session: &str, source: &str) -> String {
    let input = object!({
        "session_id": session, "cwd": scene.path("work"), "hook_event_name": "SessionStart", "source": source,
    });
    hook(scene, &["hook", "SessionStart"], input.to_string().as_bytes()).stdout
}

/// A scene with a memory.
fn scene_with_memory() -> Scene {
    let scene = Scene::new();
    let record = object!({
        "id": "task-upload", "user": "dev", "original_query": RECORD, "goal": RECORD, "created_at": "2026-01-02T03:04:05Z",
        "decisions": [{"choice": "backoff of 250 ms, doubled", "reason": "the gateway asks for it"}],
    });
    let path = scene.write("records.jsonl", &format!("{record}\n"));
    let ended = scene.run(&["memory", "import", path.to_str().unwrap()]);
    assert_eq!(ended.code, 0, "{ended:?}");
    scene
}

/// The text that a hook gives the agent.
fn context(stdout: &str) -> String {
    let answer: Value = serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{error}: {stdout:?}"));
    let specific = &answer["hookSpecificOutput"];
    assert_eq!(specific["hookEventName"], "UserPromptSubmit", "{answer}");
    specific["additionalContext"].as_str().unwrap().to_owned()
}

#[test]
fn a_prompt_gets_a_memory_once_per_history() {
    let scene = scene_with_memory();
    let text = context(&prompt(&scene, "s1", PROMPT));
    assert!(
        text.starts_with("<grov-context source=\"team-memory\">\n"),
        "{text}"
    );
    assert!(
        text.contains("backoff of 250 ms") && text.ends_with("</grov-context>"),
        "{text}"
    );
    assert_eq!(prompt(&scene, "s1", PROMPT), "", "the history contains it");
    assert_eq!(start(&scene, "s1", "resume"), "");
    assert_eq!(
        prompt(&scene, "s1", PROMPT),
        "",
        "a session that is resumed has its history"
    );
    assert_eq!(context(&prompt(&scene, "s2", PROMPT)), text);
    let recap = start(&scene, "s1", "compact");
    assert!(!recap.contains("250 ms"), "that is said where it fits: {recap}");
    assert_eq!(
        context(&prompt(&scene, "s1", PROMPT)),
        text,
        "a compacted history lost it"
    );
}

#[test]
fn without_a_matching_memory_the_hook_prints_nothing() {
    let scene = scene_with_memory();
    for text in [
        "yes",
        "ok, go on",
        "/compact",
        "<task-notification>\nupload</task-notification>",
        "",
        "draw a cat in the garden",
    ] {
        assert_eq!(prompt(&scene, "s1", text), "", "{text}");
    }
    assert_eq!(
        prompt(&scene, "../../etc", PROMPT),
        "",
        "a session without a proper name"
    );
    assert_eq!(prompt(&Scene::new(), "s1", PROMPT), "");
}

#[test]
fn a_session_without_memories_gets_nothing() {
    let scene = Scene::new();
    assert_eq!(start(&scene, "s1", "startup"), "");
    assert_eq!(prompt(&scene, "s1", PROMPT), "");
    assert_eq!(log(&scene), "");
}

#[test]
fn when_turned_off_hooks_print_nothing() {
    let scene = scene_with_memory();
    start(&scene, "s1", "resume");
    prompt(&scene, "s1", "hello");
    scene.ask(&["off", "--session", "s1"]);
    assert_eq!(prompt(&scene, "s1", PROMPT), "");
    assert_ne!(prompt(&scene, "s2", PROMPT), "");
    scene.ask(&["off"]);
    assert_eq!(prompt(&scene, "s3", PROMPT), "");
    scene.ask(&["on"]);
    assert_ne!(prompt(&scene, "s3", PROMPT), "");
    let scene = scene_with_memory().env("GROV_MEMORY_ENABLED", "false");
    assert_eq!(prompt(&scene, "s1", PROMPT), "");
}

#[test]
fn a_session_through_the_proxy_gets_memories_from_the_proxy() {
    let through = |url: &str| scene_with_memory().env("ANTHROPIC_BASE_URL", url);
    let on_default_port = through("http://localhost:8080");
    assert_eq!(prompt(&on_default_port, "s1", PROMPT), "");
    // The prompt starts the proxy that its client uses.
    on_default_port.ask(&["proxy", "stop"]);
    assert_ne!(prompt(&through("https://gateway.example"), "s1", PROMPT), "");
    let scene = through("http://127.0.0.1:4321");
    assert_ne!(prompt(&scene, "s1", PROMPT), "", "somebody else's port");
    scene.write(
        "home/.grov/daemon.json",
        r#"{"schema":1,"pid":1,"url":"http://127.0.0.1:4321","version":"9","started_at":"2026-01-02T03:04:05Z"}"#,
    );
    assert_eq!(prompt(&scene, "s2", PROMPT), "");
    scene.ask(&["proxy", "stop"]);
}

#[test]
fn bad_input_gets_no_reply_but_one_notice_of_the_guard() {
    let scene = scene_with_memory();
    let inputs: [&[u8]; 8] = [
        b"",
        b"\n",
        b"null",
        b"{\"prompt\": \"the upload of a chunk",
        b"[1, 2",
        b"\xff\xfe\x00",
        b"{\"session_id\": 7, \"prompt\": [], \"cwd\": {}}",
        b"{\"unknown\": {\"fields\": [1]}, \"cwd\": \"/nonexistent\", \"session_id\": \"s\", \"prompt\": \"why does the upload fail\"}",
    ];
    let mut shown = 0;
    for event in EVENTS {
        for input in inputs {
            let reply = hook(&scene, &["hook", event], input).stdout;
            // A guard that cannot read its input tells the user, and decides nothing.
            if event == "PreToolUse" && !reply.is_empty() {
                assert!(reply.starts_with(r#"{"systemMessage":"#), "{reply}");
                shown += 1;
            } else {
                assert_eq!(reply, "", "{event} {input:?}");
            }
        }
    }
    assert_eq!(shown, 2, "once without a session, once in session s");
}

#[test]
fn bad_usage_succeeds_too() {
    let scene = Scene::new();
    for words in [
        &["hook"][..],
        &["hook", "--what"],
        &["hook", "--help"],
        &["--bogus", "hook", "Stop"],
        &["hook", "Stop", "and", "more"],
        &["--home", "relative", "hook", "SessionStart"],
        &["capture"],
        &["inject"],
        &["prompt-inject"],
    ] {
        assert_eq!(hook(&scene, words, b"{}").stdout, "", "{words:?}");
    }
    let homeless = Scene::new().without("HOME");
    assert_eq!(hook(&homeless, &["hook", "UserPromptSubmit"], b"{}").stdout, "");
}

#[test]
fn the_names_of_old_hooks_work() {
    let scene = scene_with_memory();
    let input = object!({"session_id": "s1", "cwd": scene.path("work"), "prompt": PROMPT});
    let ended = hook(&scene, &["prompt-inject"], input.to_string().as_bytes());
    assert!(context(&ended.stdout).contains("250 ms"));
}

#[test]
fn input_up_to_fifty_megabytes_is_read_and_larger_input_ignored() {
    let scene = scene_with_memory();
    let input = |length: usize| {
        let padding = "x".repeat(length);
        let input = object!({
            "session_id": "s1", "cwd": scene.path("work"), "prompt": PROMPT, "padding": padding,
        });
        hook(
            &scene,
            &["hook", "UserPromptSubmit"],
            input.to_string().as_bytes(),
        )
        .stdout
    };
    assert_eq!(input(51 << 20), "");
    assert_ne!(input(49 << 20), "");
}

#[test]
fn a_huge_prompt_is_answered_by_its_beginning() {
    let scene = scene_with_memory();
    let pasted = format!(
        "{PROMPT}\n{}",
        "error: token sk-12345 at line é\n".repeat(200_000)
    );
    assert!(context(&prompt(&scene, "s1", &pasted)).contains("250 ms"));
}

#[test]
fn a_damaged_database_is_told_once_a_session_and_a_damaged_configuration_is_logged() {
    let scene = scene_with_memory();
    scene.write("home/.grov/grov.db", &"no database at all ".repeat(1000));
    for beside in ["grov.db-wal", "grov.db-shm"] {
        let _ = std::fs::remove_file(scene.path("home/.grov").join(beside));
    }
    let told = prompt(&scene, "s1", PROMPT);
    assert!(
        told.contains("systemMessage")
            && told.contains("database is damaged")
            && told.contains("grov doctor"),
        "{told}"
    );
    assert_eq!(prompt(&scene, "s1", PROMPT), "");
    let scene = scene_with_memory();
    scene.write("home/.grov/config.toml", "[memory\n");
    assert_eq!(prompt(&scene, "s1", PROMPT), "");
    let log = std::fs::read_to_string(scene.path("home/.grov/logs/hooks.log")).unwrap();
    assert!(log.contains("config.toml") && log.lines().count() == 1, "{log}");
}

#[test]
fn ten_simultaneous_sessions_all_get_the_memory() {
    let scene = scene_with_memory();
    let heard = std::thread::scope(|threads| {
        let sessions: Vec<_> = (0..10)
            .map(|number| {
                let scene = &scene;
                threads.spawn(move || prompt(scene, &format!("s{number}"), PROMPT))
            })
            .collect();
        sessions
            .into_iter()
            .map(|session| context(&session.join().unwrap()))
            .collect::<Vec<_>>()
    });
    assert!(heard.iter().all(|text| text.contains("250 ms")), "{heard:?}");
}

/// Runs two hooks for one event, as the client does if two settings files name the program differently.
fn twins(one: impl Fn() -> String + Sync) -> Vec<String> {
    let heard = std::thread::scope(|threads| {
        let both = [threads.spawn(&one), threads.spawn(&one)];
        both.map(|one| one.join().unwrap())
    });
    heard.into_iter().filter(|text| !text.is_empty()).collect()
}

#[test]
fn duplicate_hooks_inject_a_memory_once() {
    let scene = scene_with_memory();
    for number in 0..6 {
        let session = format!("s{number}");
        let heard = twins(|| prompt_named(&scene, &session, PROMPT, "one"));
        assert_eq!(heard.len(), 1, "{heard:?}");
        assert_eq!(stored(&scene, &session).unwrap().prompts, 1);
        let session = format!("t{number}");
        let heard = twins(|| start(&scene, &session, "startup"));
        assert_eq!(heard.len(), 1, "{heard:?}");
    }
}

#[test]
fn the_same_text_sent_again_is_another_prompt() {
    let scene = scene_with_memory();
    for id in ["one", "two", "two"] {
        prompt_named(&scene, "s", "go on with it", id);
    }
    assert_eq!(stored(&scene, "s").unwrap().prompts, 2);
}

/// The current state of a session that hooks stored.
fn stored(scene: &Scene, session: &str) -> Option<HookSession> {
    let path = scene.path("home/.grov/grov.db");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open_existing(&path, &OpenOptions::default())
            .await
            .ok()??;
        let session = store.hook_session(&ClientSessionId::new(session)).await.ok()?;
        let _ = store.close().await;
        session
    })
}

/// A later prompt need not read earlier ones again, and is understood with them.
#[test]
fn how_a_prompt_was_read_is_stored_for_the_next_prompt() {
    let scene = Scene::new();
    let texts = [
        "Fix the login in src/auth.rs. Don't touch src/db.rs.",
        "Now write docs/login.md.",
    ];
    for (number, text) in texts.iter().enumerate() {
        prompt(&scene, "s1", text);
        let session = stored(&scene, "s1").unwrap();
        let readings: Value = serde_json::from_str(&session.prompt_readings.unwrap()).unwrap();
        assert_eq!(
            readings["prompts"].as_array().unwrap().len(),
            number + 1,
            "{readings}"
        );
        assert_eq!(session.contract.constraints, ["Don't touch src/db.rs"]);
    }
}

fn log(scene: &Scene) -> String {
    std::fs::read_to_string(scene.path("home/.grov/logs/hooks.log")).unwrap_or_default()
}

/// Waits until `wanted` returns a value.
#[track_caller]
fn eventually<T>(scene: &Scene, what: &str, wanted: impl Fn() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(120);
    loop {
        if let Some(found) = wanted() {
            return found;
        }
        assert!(Instant::now() < until, "{what}; the log: {:?}", log(scene));
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn typed(session: &str, text: &str) -> String {
    let line = object!({
        "type": "user", "sessionId": session, "timestamp": "2099-01-02T03:04:05.000Z",
        "message": {"role": "user", "content": text},
    });
    format!("{line}\n")
}

fn edited(session: &str, id: &str, file: &Path, content: &str) -> String {
    let line = object!({
        "type": "assistant", "sessionId": session, "timestamp": "2099-01-02T03:04:06.000Z",
        "message": {"id": format!("m-{id}"), "model": "m", "content": [
            {"type": "tool_use", "id": id, "name": "Write", "input": {"file_path": file, "content": content}},
        ]},
    });
    format!("{line}\n")
}

/// The input of a hook for an event.
fn event_input(scene: &Scene, event: &str, session: &str, directory: &Path) -> Vec<u8> {
    let input = object!({
        "session_id": session, "transcript_path": scene.path(&format!("{session}.jsonl")), "cwd": directory,
        "hook_event_name": event, "permission_mode": "default", "source": "compact",
    });
    input.to_string().into_bytes()
}

/// Writes a transcript of a turn in which a file was written.
fn turn(scene: &Scene, session: &str) {
    let file = scene.path("work/src/upload.rs");
    let text = typed(session, "Add a retry to the upload of chunks") + &edited(session, "t1", &file, "retry");
    scene.write(&format!("{session}.jsonl"), &text);
}

fn wait_until_recorded(scene: &Scene, session: &str) -> HookSession {
    eventually(scene, "no worker recorded the session", || {
        stored(scene, session).filter(|session| session.actions > 0)
    })
}

#[test]
fn the_first_stop_creates_the_home_and_is_recorded() {
    let scene = Scene::new();
    turn(&scene, "s");
    assert!(scene.is_untouched());
    let input = event_input(&scene, "Stop", "s", &scene.path("work"));
    hook(&scene, &["hook", "Stop"], &input);
    assert_eq!(wait_until_recorded(&scene, "s").prompts, 1);
    assert_eq!(log(&scene), "");
}

#[test]
fn the_newest_turn_of_an_unregistered_session_is_recorded() {
    let scene = Scene::new();
    let file = scene.path("work/src/upload.rs");
    let turns = [
        typed("s", "Add a retry to the upload of chunks") + &edited("s", "t1", &file, "retry"),
        typed("s", "Now wait between the tries") + &edited("s", "t2", &file, "wait"),
    ];
    let text: String = [("2026-01-02", &turns[0]), ("2026-01-03", &turns[1])]
        .map(|(day, turn)| turn.replace("2099-01-02", day))
        .concat();
    scene.write("s.jsonl", &text);
    hook(
        &scene,
        &["hook", "Stop"],
        &event_input(&scene, "Stop", "s", &scene.path("work")),
    );
    assert_eq!(wait_until_recorded(&scene, "s").actions, 1);
    assert_eq!(log(&scene), "");
}

#[test]
fn actions_in_a_deleted_directory_are_recorded() {
    let scene = Scene::new();
    let work = scene.repository("work", "https://example.org/shop.git");
    let tree = scene.folder("work/tree");
    let begun = event_input(&scene, "SessionStart", "s", &tree);
    hook(&scene, &["hook", "SessionStart"], &begun);
    turn(&scene, "s");
    std::fs::remove_dir(&tree).unwrap();
    hook(
        &scene,
        &["hook", "Stop"],
        &event_input(&scene, "Stop", "s", &tree),
    );
    assert_eq!(
        wait_until_recorded(&scene, "s").project_path,
        work.to_str().unwrap()
    );
    assert_eq!(log(&scene), "");

    // No hook has seen this session; the client names its directory.
    turn(&scene, "other");
    let input = event_input(&scene, "SessionEnd", "other", &tree);
    // The worker of the first session may still keep the database busy.
    eventually(&scene, "no hook reported the removed directory", || {
        hook(&scene, &["hook", "SessionEnd"], &input);
        log(&scene).contains("directory was removed").then_some(())
    });
    let scene = scene.env("CLAUDE_PROJECT_DIR", work.to_str().unwrap());
    hook(&scene, &["hook", "SessionEnd"], &input);
    assert!(wait_until_recorded(&scene, "other").ended_at.is_some());
}

#[test]
fn a_worker_outlives_the_process_group_of_the_client() {
    let scene = Scene::new();
    turn(&scene, "s");
    let mut command = scene.command();
    command.args(["hook", "SessionEnd"]).process_group(0);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let input = event_input(&scene, "SessionEnd", "s", &scene.path("work"));
    child.stdin.take().unwrap().write_all(&input).unwrap();
    let group = Pid::from_child(&child);
    // The process id is not used again before the process is waited for.
    waitid(WaitId::Pid(group), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
    kill_process_group(group, Signal::KILL).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(wait_until_recorded(&scene, "s").ended_at.is_some());
}

#[test]
fn a_delivery_log_that_cannot_be_cleared_does_not_stop_the_proxy_start() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let scene = Scene::new().env("ANTHROPIC_BASE_URL", &format!("http://127.0.0.1:{port}"));
    scene.write("home/.grov/config.toml", &format!("[proxy]\nport = {port}\n"));
    scene.write("home/.grov/hooks/told/s/in-the-way", "");
    hook(
        &scene,
        &["hook", "SessionStart"],
        &event_input(&scene, "SessionStart", "s", &scene.path("work")),
    );
    assert!(listener.accept().is_ok(), "no connection to the proxy was tried");
    assert!(log(&scene).contains("delivery log"), "{}", log(&scene));
}

#[test]
fn constraints_are_restored_after_the_compaction_of_a_long_session() {
    let scene = Scene::new();
    scene.repository("work", "https://example.org/shop.git");
    let mut text = typed("s", "Fix the login in src/login.rs. Do not touch src/db/.");
    let file = scene.path("work/src/login.rs");
    let content = "x".repeat(1 << 20);
    for number in 0..4 {
        text += &edited("s", &format!("t{number}"), &file, &content);
    }
    scene.write("s.jsonl", &text);
    hook(
        &scene,
        &["hook", "PreCompact"],
        &event_input(&scene, "PreCompact", "s", &scene.path("work")),
    );
    let before = eventually(&scene, "no worker recorded the session", || {
        stored(&scene, "s").filter(|session| session.actions == 4)
    });
    assert_eq!(before.read_to, text.len() as u64);
    // The text after the summary is long too, and contains no prompt.
    let attachment = object!({"type": "attachment", "sessionId": "s", "text": content});
    scene.write("s.jsonl", &format!("{text}{attachment}\n"));
    let input = event_input(&scene, "SessionStart", "s", &scene.path("work"));
    let reply = hook(&scene, &["hook", "SessionStart"], &input).stdout;
    for kept in ["Fix the login", "src/db", "login.rs"] {
        assert!(reply.contains(kept), "{kept}: {reply}");
    }
}

#[test]
fn long_writers_leave_no_write_ahead_log() {
    let scene = scene_with_memory();
    let is_folded = || {
        let log = std::fs::metadata(scene.path("home/.grov/grov.db-wal"));
        log.map_or(true, |log| log.len() == 0)
    };
    assert!(is_folded(), "after memory import");
    turn(&scene, "s");
    let stop = || {
        let input = event_input(&scene, "Stop", "s", &scene.path("work"));
        hook(&scene, &["hook", "Stop"], &input);
    };
    stop();
    wait_until_recorded(&scene, "s");
    let until = Instant::now() + Duration::from_secs(2);
    eventually(&scene, "the workers left a log", || {
        if !is_folded() && Instant::now() > until {
            // This test was reading the database when the worker closed it, so the next worker removes the log.
            stop();
        }
        is_folded().then_some(())
    });
}

/// The environment of a process with these words on its command line.
#[cfg(target_os = "linux")]
fn environment_of(words: &[&str]) -> Option<String> {
    let text = |path: std::path::PathBuf| {
        let bytes = std::fs::read(path).ok()?;
        Some(String::from_utf8_lossy(&bytes).replace('\0', "\n"))
    };
    std::fs::read_dir("/proc").ok()?.flatten().find_map(|process| {
        let command = text(process.path().join("cmdline"))?;
        words
            .iter()
            .all(|word| command.lines().any(|line| line == *word))
            .then(|| text(process.path().join("environ")))?
    })
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_has_no_keys_of_the_shell_in_its_environment() {
    let scene = Scene::new()
        .env("AWS_SECRET_ACCESS_KEY", "not-for-us-1")
        .env("GITHUB_TOKEN", "not-for-us-2")
        .env("ANTHROPIC_API_KEY", "not-for-us-3")
        .env("DATABASE_URL", "postgres://u:not-for-us-4@h/d")
        .env("GROV_LLM_API_KEY", "own")
        .env("LC_ALL", "C.UTF-8");
    // A worker waits while another one processes the session. This test holds the locks, so the worker waits for it.
    let folder = scene.folder("home/.grov/hooks/working");
    let locks: Vec<std::fs::File> = (0..64)
        .map(|place| {
            let lock = std::fs::File::create(folder.join(format!("{place}.lock"))).unwrap();
            lock.lock().unwrap();
            lock
        })
        .collect();
    let session = format!("env-{}", std::process::id());
    let input = object!({
        "session_id": session, "transcript_path": "/nowhere.jsonl", "cwd": scene.path("work"),
        "hook_event_name": "Stop", "last_assistant_message": "Done.",
    });
    hook(&scene, &["hook", "Stop"], input.to_string().as_bytes());
    let until = Instant::now() + Duration::from_secs(30);
    let environment = loop {
        if let Some(found) = environment_of(&["hook-worker", &session]).filter(|found| !found.is_empty()) {
            break found;
        }
        assert!(Instant::now() < until, "there is no worker");
        std::thread::yield_now();
    };
    drop(locks);
    assert!(!environment.contains("not-for-us"), "{environment}");
    for kept in ["GROV_LLM_API_KEY=own", "LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin"] {
        assert!(
            environment.lines().any(|line| line == kept),
            "{kept}: {environment}"
        );
    }
}
