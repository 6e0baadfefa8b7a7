//! `grov hook`: what the client hears, and that it never hears anything else.

use crate::scene::{Ended, Scene};
use serde_json::{Value, json as object};
use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

/// The events that the client has, and words that are none.
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

fn fed(mut command: Command, input: &[u8]) -> Ended {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let written = child.stdin.take().unwrap().write_all(input);
    // A hook may have seen enough.
    assert!(written.is_ok() || written.is_err_and(|error| error.kind() == ErrorKind::BrokenPipe));
    Ended::of(&child.wait_with_output().unwrap())
}

fn hook(scene: &Scene, words: &[&str], input: &[u8]) -> Ended {
    let mut command = scene.command();
    command.args(words);
    let ended = fed(command, input);
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (0, ""),
        "{words:?}: {ended:?}"
    );
    ended
}

fn prompt(scene: &Scene, session: &str, text: &str) -> String {
    let input = object!({
        "session_id": session, "transcript_path": "/nowhere.jsonl", "cwd": scene.path("work"),
        "hook_event_name": "UserPromptSubmit", "permission_mode": "default", "prompt": text, "prompt_id": "p",
    });
    hook(scene, &["hook", "UserPromptSubmit"], input.to_string().as_bytes()).stdout
}

fn start(scene: &Scene, session: &str, source: &str) -> String {
    let input = object!({
        "session_id": session, "cwd": scene.path("work"), "hook_event_name": "SessionStart", "source": source,
    });
    hook(scene, &["hook", "SessionStart"], input.to_string().as_bytes()).stdout
}

/// A scene in which something is remembered.
fn remembering() -> Scene {
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
fn a_prompt_gets_what_is_remembered_once_for_each_history() {
    let scene = remembering();
    let text = context(&prompt(&scene, "s1", PROMPT));
    assert!(
        text.starts_with("<grov-context source=\"team-memory\">\n"),
        "{text}"
    );
    assert!(
        text.contains("backoff of 250 ms") && text.ends_with("</grov-context>"),
        "{text}"
    );
    assert_eq!(prompt(&scene, "s1", PROMPT), "", "it stands in the history");
    assert_eq!(start(&scene, "s1", "resume"), "");
    assert_eq!(
        prompt(&scene, "s1", PROMPT),
        "",
        "a session that is resumed has its history"
    );
    assert_eq!(context(&prompt(&scene, "s2", PROMPT)), text);
    assert_eq!(start(&scene, "s1", "compact"), "");
    assert_eq!(
        context(&prompt(&scene, "s1", PROMPT)),
        text,
        "a compacted history lost it"
    );
}

#[test]
fn where_nothing_fits_nothing_is_said() {
    let scene = remembering();
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
fn a_scene_without_memory_is_left_untouched() {
    let scene = Scene::new();
    prompt(&scene, "s1", PROMPT);
    start(&scene, "s1", "startup");
    assert!(scene.is_untouched());
}

#[test]
fn what_is_turned_off_says_nothing() {
    let scene = remembering();
    scene.ask(&["off", "--session", "s1"]);
    assert_eq!(prompt(&scene, "s1", PROMPT), "");
    assert_ne!(prompt(&scene, "s2", PROMPT), "");
    scene.ask(&["off"]);
    assert_eq!(prompt(&scene, "s3", PROMPT), "");
    scene.ask(&["on"]);
    assert_ne!(prompt(&scene, "s3", PROMPT), "");
    let scene = remembering().env("GROV_MEMORY_ENABLED", "false");
    assert_eq!(prompt(&scene, "s1", PROMPT), "");
}

#[test]
fn a_session_that_goes_through_the_proxy_hears_it_from_there() {
    let through = |url: &str| remembering().env("ANTHROPIC_BASE_URL", url);
    assert_eq!(prompt(&through("http://localhost:8080"), "s1", PROMPT), "");
    assert_ne!(prompt(&through("https://gateway.example"), "s1", PROMPT), "");
    let scene = through("http://127.0.0.1:4321");
    assert_ne!(prompt(&scene, "s1", PROMPT), "", "somebody else's port");
    scene.write(
        "home/.grov/daemon.json",
        r#"{"schema":1,"pid":1,"url":"http://127.0.0.1:4321","version":"9","started_at":"2026-01-02T03:04:05Z"}"#,
    );
    assert_eq!(prompt(&scene, "s2", PROMPT), "");
}

#[test]
fn bad_input_is_answered_with_nothing() {
    let scene = remembering();
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
    for event in EVENTS {
        for input in inputs {
            assert_eq!(
                hook(&scene, &["hook", event], input).stdout,
                "",
                "{event} {input:?}"
            );
        }
    }
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
    let scene = remembering();
    let input = object!({"session_id": "s1", "cwd": scene.path("work"), "prompt": PROMPT});
    let ended = hook(&scene, &["prompt-inject"], input.to_string().as_bytes());
    assert!(context(&ended.stdout).contains("250 ms"));
}

#[test]
fn fifty_megabytes_are_read_and_more_is_passed_over() {
    let scene = remembering();
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
fn a_prompt_of_megabytes_is_answered_by_its_beginning() {
    let scene = remembering();
    let pasted = format!(
        "{PROMPT}\n{}",
        "error: token sk-12345 at line é\n".repeat(200_000)
    );
    assert!(context(&prompt(&scene, "s1", &pasted)).contains("250 ms"));
}

#[test]
fn a_damaged_database_or_configuration_is_noted_and_not_told() {
    let scene = remembering();
    scene.write("home/.grov/grov.db", &"no database at all ".repeat(1000));
    for beside in ["grov.db-wal", "grov.db-shm"] {
        let _ = std::fs::remove_file(scene.path("home/.grov").join(beside));
    }
    assert_eq!(prompt(&scene, "s1", PROMPT), "");
    let scene = remembering();
    scene.write("home/.grov/config.toml", "[memory\n");
    assert_eq!(prompt(&scene, "s1", PROMPT), "");
    let log = std::fs::read_to_string(scene.path("home/.grov/logs/hooks.log")).unwrap();
    assert!(log.contains("config.toml") && log.lines().count() == 1, "{log}");
}

#[test]
fn ten_sessions_at_one_instant_all_hear_it() {
    let scene = remembering();
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
