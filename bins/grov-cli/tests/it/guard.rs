//! `grov hook PreToolUse`: the guard's decisions.

use crate::scene::{Ended, Scene};
use serde_json::{Value, json as object};
use std::io::Write;
use std::process::Stdio;

const SESSION: &str = "0f9e1c5a-0000-4000-8000-000000000001";
const PROMPT: &str = "Fix the login in src/login.rs. Do not touch src/db/.";

/// A project with a session whose prompt forbids changes.
fn begin_session(scene: Scene) -> Scene {
    scene.repository("work", "https://example.org/shop.git");
    scene.write("work/transcript.jsonl", "");
    let ended = hook(&scene, "UserPromptSubmit", object!({ "prompt": PROMPT }));
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{ended:?}");
    scene
}

fn run_hook(scene: &Scene, event: &str, input: &str) -> Ended {
    let mut command = scene.command();
    command.args(["hook", event]).current_dir(scene.path("work"));
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Ended::of(&child.wait_with_output().unwrap())
}

fn hook(scene: &Scene, event: &str, more: Value) -> Ended {
    let mut input = object!({
        "session_id": SESSION, "transcript_path": scene.path("work/transcript.jsonl"), "cwd": scene.path("work"),
        "hook_event_name": event, "permission_mode": "default",
    });
    let more = more.as_object().unwrap().clone();
    input.as_object_mut().unwrap().extend(more);
    run_hook(scene, event, &input.to_string())
}

/// Runs the hook before a call.
fn call(scene: &Scene, id: &str, tool: &str, input: &Value) -> Ended {
    hook(
        scene,
        "PreToolUse",
        object!({"tool_name": tool, "tool_input": input, "tool_use_id": id}),
    )
}

fn change(scene: &Scene, id: &str, file: &str) -> Ended {
    let file = scene.path("work").join(file);
    call(
        scene,
        id,
        "Edit",
        &object!({"file_path": file, "old_string": "a", "new_string": "b"}),
    )
}

fn run(scene: &Scene, id: &str, command: &str) -> Ended {
    call(scene, id, "Bash", &object!({ "command": command }))
}

/// The decision that the hook prints: `ask`, `deny`, or none.
#[track_caller]
fn decision(ended: &Ended) -> Option<String> {
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    if ended.stdout.is_empty() {
        return None;
    }
    assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
    let Some(answer) = answer.get("hookSpecificOutput") else {
        // A fault is shown to the user, and the call is not decided.
        let shown = answer["systemMessage"].as_str().unwrap();
        assert!(shown.contains("could not check a call"), "{shown}");
        return None;
    };
    assert_eq!(answer["hookEventName"], "PreToolUse");
    let reason = answer["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.starts_with("Grov: "), "{reason}");
    Some(answer["permissionDecision"].as_str().unwrap().to_owned())
}

/// The reason of a refusal by exit code 2.
#[track_caller]
fn refusal(ended: &Ended) -> &str {
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    &ended.stderr
}

/// Adds a call and its result to the transcript.
fn in_transcript(scene: &Scene, id: &str, command: &str, failed: bool) {
    let path = scene.path("work/transcript.jsonl");
    let mut text = std::fs::read_to_string(&path).unwrap();
    let use_ = object!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
    let result = object!({"type": "tool_result", "tool_use_id": id, "content": "x", "is_error": failed});
    for (kind, block) in [("assistant", use_), ("user", result)] {
        let line = object!({
            "type": kind, "sessionId": SESSION, "uuid": format!("{kind}-{id}"), "timestamp": "2099-01-02T03:04:05.000Z",
            "cwd": scene.path("work"), "message": {"id": id, "role": kind, "model": "m", "content": [block]},
        });
        text.push_str(&format!("{line}\n"));
    }
    std::fs::write(path, text).unwrap();
}

/// Adds what the agent said or the user typed to the transcript.
fn said_in_transcript(scene: &Scene, number: usize, role: &str, text: &str) {
    let path = scene.path("work/transcript.jsonl");
    let mut transcript = std::fs::read_to_string(&path).unwrap();
    let content = object!([{"type": "text", "text": text}]);
    let line = object!({
        "type": role, "sessionId": SESSION, "uuid": format!("said-{number}"), "timestamp": format!("2099-01-02T03:05:{number:02}.000Z"),
        "cwd": scene.path("work"), "message": {"id": format!("m{number}"), "role": role, "model": "m", "content": content},
    });
    transcript.push_str(&format!("{line}\n"));
    std::fs::write(path, transcript).unwrap();
}

#[test]
fn a_yes_to_the_agents_own_question_is_not_asked_again() {
    const PUSH: &str = "git push origin main";
    for (question, answer, is_asked) in [
        ("The login works. Shall I push it to main?", "yes", false),
        (
            "The login works. Soll ich es auf main pushen?",
            "ja, mach das",
            false,
        ),
        ("1. Revert it\n2. Push it to main\nWhich one?", "2", false),
        ("1. Revert it\n2. Push it to main\nWhich one?", "1", true),
        ("The login works. Shall I push it to main?", "nein, warte", true),
        ("The login works.", "yes", true),
    ] {
        let scene = begin_session(Scene::new());
        said_in_transcript(&scene, 1, "user", PROMPT);
        said_in_transcript(&scene, 2, "assistant", question);
        hook(&scene, "UserPromptSubmit", object!({ "prompt": answer }));
        said_in_transcript(&scene, 3, "user", answer);
        let expected = is_asked.then_some("ask");
        assert_eq!(
            decision(&run(&scene, "t1", PUSH)).as_deref(),
            expected,
            "{question} {answer}"
        );
        // A later "stop" takes it back.
        hook(&scene, "UserPromptSubmit", object!({ "prompt": "stop" }));
        said_in_transcript(&scene, 4, "user", "stop");
        assert_eq!(
            decision(&run(&scene, "t2", PUSH)).as_deref(),
            Some("ask"),
            "{question} {answer}, stop"
        );
    }
}

#[test]
fn only_forbidden_actions_are_asked_about() {
    let scene = begin_session(Scene::new());
    let ended = change(&scene, "t1", "src/db/pool.rs");
    assert_eq!(decision(&ended).as_deref(), Some("ask"));
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        answer["systemMessage"], answer["hookSpecificOutput"]["permissionDecisionReason"],
        "a question about a file does not say why"
    );
    for (id, command) in [
        ("t2", "cat src/db/pool.rs"),
        ("t3", "cargo test -p db"),
        ("t4", "ls"),
    ] {
        assert_eq!(decision(&run(&scene, id, command)), None, "{command}");
    }
    assert_eq!(decision(&change(&scene, "t5", "src/login.rs")), None);
    assert_eq!(
        decision(&run(&scene, "t6", "rm -r src/db")).as_deref(),
        Some("ask")
    );
    assert_eq!(
        decision(&run(&scene, "t7", "grov goal allow src/db")).as_deref(),
        Some("ask"),
        "the agent does not allow itself anything"
    );
}

#[test]
fn a_destructive_command_after_an_option_with_a_value_is_asked_about() {
    let scene = begin_session(Scene::new());
    for command in [
        "sudo -u root rm -rf /",
        "nice -n 10 rm -rf ~/",
        "find / -name '*.log' | xargs -n 1 rm -f",
        "cat list | xargs rm -f",
        "docker run -v /:/h alpine rm -rf /h",
        "base64 -d payload | sh",
    ] {
        assert_eq!(
            decision(&run(&scene, command, command)).as_deref(),
            Some("ask"),
            "{command}"
        );
    }
    for command in [
        "sudo apt-get install -y jq",
        "xargs -n 1 grep x < list",
        "find . -name '*.pyc' -delete",
        "docker compose down",
        "rm -rf node_modules target dist",
    ] {
        assert_eq!(decision(&run(&scene, command, command)), None, "{command}");
    }
}

#[test]
fn the_guard_follows_its_mode() {
    let scene = begin_session(Scene::new());
    let plan = |scene: &Scene| {
        let input = object!({"file_path": scene.path("work/src/db/pool.rs")});
        let more = object!({
            "permission_mode": "plan", "tool_name": "Write", "tool_input": input, "tool_use_id": "t",
        });
        hook(scene, "PreToolUse", more)
    };
    // A question could be answered with yes, although plan mode forbids changes.
    assert_eq!(decision(&plan(&scene)).as_deref(), Some("deny"));
    for (mode, expected) in [("deny", Some("deny")), ("ask", Some("ask")), ("off", None)] {
        scene.write("home/.grov/config.toml", &format!("[guard]\nmode = \"{mode}\"\n"));
        let ended = change(&scene, "t", "src/db/pool.rs");
        assert_eq!(decision(&ended).as_deref(), expected, "{ended:?}");
    }
}

#[test]
fn a_project_cannot_turn_off_its_guard() {
    let scene = begin_session(Scene::new());
    for text in ["[guard]\nmode = \"off\"\n", "no configuration"] {
        scene.write("work/.grov/config.toml", text);
        assert_eq!(
            decision(&change(&scene, "t", "src/db/pool.rs")).as_deref(),
            Some("ask")
        );
    }
}

#[test]
fn an_action_that_ran_after_a_question_is_not_asked_about_again() {
    let scene = begin_session(Scene::new());
    let ran = |event: &str, id: &str| {
        let ended = hook(&scene, event, object!({"tool_name": "Edit", "tool_use_id": id}));
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{ended:?}");
    };
    assert_eq!(
        decision(&change(&scene, "t1", "src/db/pool.rs")).as_deref(),
        Some("ask")
    );
    // The user refused the action.
    assert_eq!(
        decision(&change(&scene, "t2", "src/db/pool.rs")).as_deref(),
        Some("ask")
    );
    ran("PostToolUse", "t2");
    assert_eq!(decision(&change(&scene, "t3", "src/db/pool.rs")), None);
    assert_eq!(
        decision(&change(&scene, "t4", "src/db/other.rs")).as_deref(),
        Some("ask")
    );
    ran("PostToolUseFailure", "t4");
    assert_eq!(decision(&change(&scene, "t5", "src/db/other.rs")), None);
    ran("PostToolUse", "unknown");
}

#[test]
fn a_permission_applies_at_once_even_in_a_session_known_only_to_hooks() {
    let scene = begin_session(Scene::new());
    let work = scene.path("work");
    assert_eq!(
        decision(&change(&scene, "t1", "src/db/pool.rs")).as_deref(),
        Some("ask")
    );
    let answer = scene.within(&work).ask(&["goal", "allow", "src/db/pool.rs"]);
    assert_eq!(answer["client_session_id"], SESSION, "{answer}");
    assert_eq!(decision(&change(&scene, "t2", "src/db/pool.rs")), None);
    let beginning = &SESSION[..6];
    let words = ["goal", "forbid", "docs", "--session", beginning];
    assert_eq!(scene.within(&work).ask(&words)["client_session_id"], SESSION);
    assert_eq!(
        decision(&change(&scene, "t3", "docs/a.md")).as_deref(),
        Some("ask")
    );
    // `grov off` stops added text. The guard is a setting of its own.
    let off = scene.run(&["off", "--project", work.to_str().unwrap()]);
    assert_eq!(off.code, 0);
    assert!(off.stderr.contains("the guard still asks"), "{off:?}");
    assert_eq!(
        decision(&change(&scene, "t4", "docs/a.md")).as_deref(),
        Some("ask")
    );
}

#[test]
fn the_agent_may_remove_what_it_created_and_an_attempt_is_no_approval() {
    let scene = begin_session(Scene::new());
    in_transcript(&scene, "t1", "mkdir /srv/try", false);
    assert_eq!(decision(&run(&scene, "t2", "rm -r /srv/try")), None);
    for id in ["t3", "t4"] {
        // The client records a call before it runs.
        in_transcript(&scene, id, "rm -r /srv/data", true);
        assert_eq!(
            decision(&run(&scene, id, "rm -r /srv/data")).as_deref(),
            Some("ask"),
            "{id}"
        );
    }
}

#[test]
fn an_unknown_session_is_guarded_against_destruction() {
    let scene = Scene::new();
    scene.repository("work", "https://example.org/shop.git");
    assert_eq!(decision(&change(&scene, "t", "src/db/pool.rs")), None);
    assert_eq!(decision(&run(&scene, "t", "rm -rf target")), None);
    for command in [
        "rm -rf ~",
        "rm -r /srv/data",
        "git push --force",
        "sudo -u root rm -rf /",
    ] {
        assert_eq!(
            decision(&run(&scene, "t", command)).as_deref(),
            Some("ask"),
            "{command}"
        );
    }
    for input in ["", "null", "{\"tool_name\": 1}", "not json"] {
        assert_eq!(decision(&run_hook(&scene, "PreToolUse", input)), None, "{input}");
    }
}

#[test]
fn an_unknown_session_may_remove_its_own_files_and_follows_its_newest_prompt() {
    let scene = Scene::new();
    scene.repository("work", "https://example.org/shop.git");
    scene.write("work/transcript.jsonl", "");
    in_transcript(&scene, "t1", "mkdir /srv/try", false);
    assert_eq!(decision(&run(&scene, "t2", "rm -r /srv/try")), None);
    let path = scene.path("work/transcript.jsonl");
    let typed = object!({
        "type": "user", "sessionId": SESSION, "uuid": "p", "timestamp": "2099-01-02T03:04:06.000Z", "cwd": scene.path("work"),
        "message": {"role": "user", "content": PROMPT},
    });
    let before = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{before}{typed}\n")).unwrap();
    assert_eq!(
        decision(&change(&scene, "t3", "src/db/pool.rs")).as_deref(),
        Some("ask")
    );
    assert_eq!(decision(&change(&scene, "t4", "src/login.rs")), None);
}

#[test]
fn destruction_is_detected_in_a_deleted_directory() {
    let scene = begin_session(Scene::new());
    let gone = |command: &str| {
        let more = object!({
            "cwd": "/no/such/folder", "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t",
        });
        decision(&hook(&scene, "PreToolUse", more))
    };
    assert_eq!(gone("rm -rf ~/").as_deref(), Some("ask"));
    assert_eq!(gone("ls"), None);
}

#[test]
fn without_a_store_destruction_is_still_asked_about() {
    let scene = begin_session(Scene::new());
    scene.write(
        "home/.grov/grov.db",
        "this is no database, whatever its name says. "
            .repeat(64)
            .as_str(),
    );
    for side in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(scene.path(&format!("home/.grov/grov.db{side}")));
    }
    let ended = run(&scene, "t1", "rm -rf ~/");
    assert_eq!(decision(&ended).as_deref(), Some("ask"));
    assert!(ended.stdout.contains("could not be read"), "{ended:?}");
    assert_eq!(decision(&run(&scene, "t2", "rm -rf target")), None);
    assert!(log(&scene).contains("the guard"), "{}", log(&scene));
}

#[test]
fn a_closed_guard_blocks_what_it_cannot_check() {
    let closed = || Scene::new().env("GROV_GUARD_FAIL", "closed");
    let scene = closed();
    scene.repository("work", "https://example.org/shop.git");
    assert!(refusal(&change(&scene, "t", "src/login.rs")).contains("the session is unknown"));
    refusal(&run_hook(&scene, "PreToolUse", "not json"));
    let scene = begin_session(closed());
    assert_eq!(decision(&change(&scene, "t", "src/login.rs")), None);
    assert_eq!(
        decision(&change(&scene, "t", "src/db/pool.rs")).as_deref(),
        Some("ask")
    );
    // Other events are never refused.
    for event in ["PostToolUse", "Stop", "UserPromptSubmit", "SessionStart"] {
        assert_eq!(run_hook(&scene, event, "not json").code, 0, "{event}");
    }
}

#[test]
fn a_broken_home_stops_nothing_unless_the_guard_fails_closed() {
    let broken = |scene: Scene| {
        scene.write("home/.grov/grov.db/within", "");
        change(&scene, "t", "src/db/pool.rs")
    };
    let scene = Scene::new();
    assert_eq!(decision(&broken(scene)), None);
    let scene = Scene::new().env("GROV_GUARD_FAIL", "closed");
    refusal(&broken(scene));
    // "closed" applies even if the rest of the file cannot be parsed.
    for (text, code) in [
        ("[guard]\nfail = \"closed\"\nmode = [\n", 2),
        ("[guard]\n# fail = \"closed\"\nmode = [\n", 0),
    ] {
        let scene = begin_session(Scene::new());
        scene.write("home/.grov/config.toml", text);
        let ended = change(&scene, "t", "src/db/pool.rs");
        assert_eq!(ended.code, code, "{ended:?}");
        assert_eq!(ended.stdout.contains("systemMessage"), code == 0, "{ended:?}");
        assert!(!ended.stdout.contains("permissionDecision"), "{ended:?}");
    }
}

/// The log of hook errors.
fn log(scene: &Scene) -> String {
    std::fs::read_to_string(scene.path("home/.grov/logs/hooks.log")).unwrap_or_default()
}

/// A session whose transcript cannot be read, because its folder was replaced by a file.
fn with_unreadable_transcript(scene: Scene) -> Scene {
    scene.repository("work", "https://example.org/shop.git");
    let more = object!({"prompt": PROMPT, "transcript_path": scene.path("work/gone/s.jsonl")});
    assert_eq!(hook(&scene, "UserPromptSubmit", more).code, 0);
    scene.write("work/gone", "");
    scene
}

#[test]
fn an_unreadable_transcript_excuses_nothing() {
    let scene = with_unreadable_transcript(Scene::new());
    for command in ["git push --force origin main && rm -rf ~/", "npm publish"] {
        assert_eq!(
            decision(&run(&scene, command, command)).as_deref(),
            Some("ask"),
            "{command}"
        );
    }
    assert_eq!(
        decision(&change(&scene, "t1", "src/db/pool.rs")).as_deref(),
        Some("ask")
    );
    assert_eq!(decision(&change(&scene, "t2", "src/login.rs")), None);
    assert_eq!(log(&scene), "");
    // It is unknown whether the agent created that directory.
    assert_eq!(
        decision(&run(&scene, "t3", "rm -r /srv/try")).as_deref(),
        Some("ask")
    );
    assert!(
        log(&scene).contains("earlier actions could not be read"),
        "{}",
        log(&scene)
    );
    let closed = with_unreadable_transcript(Scene::new().env("GROV_GUARD_FAIL", "closed"));
    let ended = run(&closed, "t3", "rm -r /srv/try");
    assert!(refusal(&ended).contains("earlier actions could not be read"));
    assert_eq!(decision(&run(&closed, "t4", "rm -r /tmp/try")), None);
    assert_eq!(
        decision(&run(&closed, "t5", "git push --force")).as_deref(),
        Some("ask")
    );
}

#[test]
fn a_lone_surrogate_in_a_call_does_not_hide_it() {
    let scene = begin_session(Scene::new());
    let sent = |more: &str| {
        let (work, transcript) = (scene.path("work"), scene.path("work/transcript.jsonl"));
        let input = format!(
            r#"{{"session_id":"{SESSION}","transcript_path":{transcript:?},"cwd":{work:?},"hook_event_name":"PreToolUse","tool_use_id":"t",{more}}}"#
        );
        decision(&run_hook(&scene, "PreToolUse", &input))
    };
    for call in [
        r#""tool_name":"Bash","tool_input":{"command":"git push --force origin main; echo \ud83d"}"#,
        r#""tool_name":"Write","tool_input":{"file_path":"src/db/pool.rs","content":"\udc00"}"#,
        r#""tool_name":"Write","tool_input":{"file_path":"src/db/pool.rs","content":""},"agent_id":5"#,
    ] {
        assert_eq!(sent(call).as_deref(), Some("ask"), "{call}");
    }
    assert_eq!(log(&scene), "");
    run_hook(&scene, "PreToolUse", "not json");
    assert!(log(&scene).contains("could not be parsed"), "{}", log(&scene));
}

#[test]
fn a_command_with_a_secret_that_ran_is_not_asked_about_again() {
    let scene = begin_session(Scene::new());
    let token = format!("ghp_{}", &"a1B2c3D4e5".repeat(4)[..36]);
    let push = format!("git push --force https://user:{token}@example.org/x/y main");
    assert_eq!(decision(&run(&scene, "t1", &push)).as_deref(), Some("ask"));
    let ran = hook(
        &scene,
        "PostToolUse",
        object!({"tool_name": "Bash", "tool_use_id": "t1"}),
    );
    assert_eq!(ran.code, 0);
    assert_eq!(decision(&run(&scene, "t2", &push)), None);
}

#[test]
fn a_closed_guard_refuses_if_it_cannot_start_a_thread() {
    // No machine has enough memory for a stack of this size.
    let scene = || Scene::new().env("RUST_MIN_STACK", "1125899906842624");
    let open = scene();
    open.repository("work", "https://example.org/shop.git");
    assert_eq!(
        decision(&run(&open, "t", "git push --force")).as_deref(),
        Some("ask")
    );
    assert_eq!(decision(&run(&open, "t", "touch a")), None);
    assert!(log(&open).contains("no thread"), "{}", log(&open));
    let closed = scene().env("GROV_GUARD_FAIL", "closed");
    closed.repository("work", "https://example.org/shop.git");
    assert!(refusal(&run(&closed, "t", "git push --force")).contains("no thread"));
    // Harmless commands are not checked on a thread.
    assert_eq!(decision(&run(&closed, "t", "ls")), None);
}

#[test]
fn the_error_of_an_invalid_setting_is_one_line_without_secrets() {
    let scene = begin_session(Scene::new());
    let secret = format!("sk-ant-api03-{}", "aB3dE6gH9k".repeat(9));
    scene.write(
        "home/.grov/config.toml",
        &format!("[guard]\nfail = \"closed\"\n[proxy]\nport = \"{secret}\"\n"),
    );
    let ended = change(&scene, "t", "src/login.rs");
    assert!(!refusal(&ended).contains(&secret), "{ended:?}");
    let log = log(&scene);
    assert!(!log.contains(&secret), "{log}");
    assert!(
        !log.is_empty()
            && log
                .lines()
                .all(|line| line.starts_with(|first: char| first.is_ascii_digit())),
        "{log}"
    );
}

#[test]
fn home_can_follow_the_event() {
    let scene = begin_session(Scene::new());
    let other = scene.path("other");
    let input = object!({
        "session_id": SESSION, "cwd": scene.path("work"), "hook_event_name": "PreToolUse",
        "tool_name": "Edit", "tool_input": {"file_path": "src/db/pool.rs"}, "tool_use_id": "t",
    });
    let asked = |words: &[&str]| {
        let mut child = scene
            .command()
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.to_string().as_bytes())
            .unwrap();
        decision(&Ended::of(&child.wait_with_output().unwrap()))
    };
    assert_eq!(asked(&["hook", "PreToolUse"]).as_deref(), Some("ask"));
    let other = other.to_str().unwrap();
    assert_eq!(asked(&["hook", "PreToolUse", "--home", other]), None);
}

/// A session with another prompt.
fn session_with_prompt(prompt: &str) -> Scene {
    let scene = Scene::new();
    scene.repository("work", "https://example.org/shop.git");
    scene.write("work/transcript.jsonl", "");
    send_prompt(&scene, prompt);
    scene
}

fn send_prompt(scene: &Scene, prompt: &str) -> Ended {
    let ended = hook(scene, "UserPromptSubmit", object!({ "prompt": prompt }));
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    ended
}

#[test]
fn in_a_read_only_session_changes_are_asked_about_until_the_user_requests_one() {
    let scene = session_with_prompt("Explain how the login works. Don't change anything.");
    assert_eq!(
        decision(&change(&scene, "t1", "src/login.rs")).as_deref(),
        Some("ask")
    );
    for (id, command) in [
        ("t2", "rm src/login.rs"),
        ("t3", "git commit -am x"),
        ("t4", "sed -i s/a/b/ src/login.rs"),
    ] {
        assert_eq!(
            decision(&run(&scene, id, command)).as_deref(),
            Some("ask"),
            "{command}"
        );
    }
    for (id, command) in [
        ("t5", "grep -rn login src"),
        ("t6", "cargo test"),
        ("t7", "git log -3"),
        ("t8", "echo notes > /tmp/notes.md"),
    ] {
        assert_eq!(decision(&run(&scene, id, command)), None, "{command}");
    }
    send_prompt(&scene, "And how does the logout work?");
    assert_eq!(
        decision(&change(&scene, "t9", "src/login.rs")).as_deref(),
        Some("ask")
    );
    send_prompt(&scene, "Now fix the timeout of the login");
    assert_eq!(decision(&change(&scene, "t10", "src/login.rs")), None);
}

#[test]
fn the_dialog_quotes_the_instruction_in_force() {
    let scene = begin_session(Scene::new());
    send_prompt(&scene, "Also make the login page faster");
    let ended = change(&scene, "t1", "src/db/pool.rs");
    assert_eq!(decision(&ended).as_deref(), Some("ask"));
    assert!(
        ended.stdout.contains("Also make the login page faster"),
        "{ended:?}"
    );
    assert!(!ended.stdout.contains("Fix the login in"), "{ended:?}");
}

#[test]
fn undoing_a_forbidden_change_is_not_asked_about() {
    let scene = begin_session(Scene::new());
    in_transcript(&scene, "w1", "echo x > src/db/new.rs", false);
    assert_eq!(decision(&run(&scene, "t1", "rm src/db/new.rs")), None);
    assert_eq!(
        decision(&run(&scene, "t2", "git checkout -- src/db/new.rs")),
        None
    );
    assert_eq!(
        decision(&run(&scene, "t3", "rm -rf src/db")).as_deref(),
        Some("ask")
    );
    assert_eq!(
        decision(&run(&scene, "t4", "rm src/db/pool.rs")).as_deref(),
        Some("ask")
    );
}

#[test]
fn an_approved_action_is_not_corrected_and_is_not_drift() {
    for is_asked in [true, false] {
        let scene = begin_session(Scene::new());
        let command = "echo x >> src/db/pool.rs";
        if is_asked {
            assert_eq!(decision(&run(&scene, "t1", command)).as_deref(), Some("ask"));
        }
        in_transcript(&scene, "t1", command, false);
        let done = object!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t1", "tool_response": {}});
        hook(&scene, "PostToolUse", done);
        let reply = send_prompt(&scene, "go on").stdout;
        assert_eq!(reply.is_empty(), is_asked, "{reply}");
        let log = scene.run(&["drift", "log", "--session", SESSION]);
        assert_eq!(log.stdout.contains("src/db/pool.rs"), !is_asked, "{log:?}");
    }
}

#[test]
fn discarding_work_from_before_a_prohibition_is_asked_about() {
    let scene = session_with_prompt("Improve the pool in src/db/pool.rs.");
    in_transcript(&scene, "w1", "echo x >> src/db/pool.rs", false);
    send_prompt(&scene, "Now fix the login. Do not touch src/db/.");
    for (id, command) in [
        ("t1", "git checkout -- src/db/pool.rs"),
        ("t2", "git restore src/db/pool.rs"),
    ] {
        assert_eq!(
            decision(&run(&scene, id, command)).as_deref(),
            Some("ask"),
            "{command}"
        );
    }
    assert_eq!(
        decision(&change(&scene, "t3", "src/db/pool.rs")).as_deref(),
        Some("ask")
    );
}

#[test]
fn a_destructive_command_after_a_long_text_is_asked_about() {
    let scene = begin_session(Scene::new());
    let text = "a line of text\n".repeat(600);
    let command = format!("cat > notes.md <<'EOF'\n{text}EOF\ngit push --force");
    assert_eq!(decision(&run(&scene, "t1", &command)).as_deref(), Some("ask"));
    let command = format!("cat > notes.md <<'EOF'\n{text}EOF\n");
    assert_eq!(decision(&run(&scene, "t2", &command)), None);
}

/// Adds a line to the transcript.
fn append_to_transcript(scene: &Scene, line: Value) {
    let path = scene.path("work/transcript.jsonl");
    let mut line = line;
    let common = object!({
        "sessionId": SESSION, "uuid": line.to_string(), "timestamp": "2099-01-02T03:04:05.000Z", "cwd": scene.path("work"),
    });
    line.as_object_mut()
        .unwrap()
        .extend(common.as_object().unwrap().clone());
    let before = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, format!("{before}{line}\n")).unwrap();
}

#[test]
fn a_prompt_without_its_own_hook_applies_at_once() {
    let queued = object!({
        "type": "attachment",
        "attachment": {"type": "queued_command", "prompt": "Do not touch src/db/.", "commandMode": "prompt"},
    });
    let typed = object!({"type": "user", "message": {"role": "user", "content": "Do not touch src/db/."}});
    for prompt in [queued, typed] {
        let scene = session_with_prompt("Fix the login in src/login.rs.");
        in_transcript(&scene, "w1", "ls", false);
        assert_eq!(decision(&change(&scene, "t1", "src/db/pool.rs")), None);
        append_to_transcript(&scene, prompt.clone());
        assert_eq!(
            decision(&change(&scene, "t2", "src/db/pool.rs")).as_deref(),
            Some("ask"),
            "{prompt}"
        );
        assert_eq!(decision(&change(&scene, "t3", "src/login.rs")), None, "{prompt}");
    }
}

#[test]
fn an_agent_may_call_only_the_tools_of_its_list() {
    let scene = begin_session(Scene::new());
    scene.write(
        "home/.grov/config.toml",
        "[tools]\nallow = [\"main=plans *\", \"researcher=perplexity *\"]\n",
    );
    scene.write("work/search.sh", "envoy tavily search topic\n");
    let by = |agent: Option<&str>, id: &str, command: &str| {
        let mut more = object!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id});
        if let Some(agent) = agent {
            more["agent_id"] = object!("a1");
            more["agent_type"] = object!(agent);
        }
        hook(&scene, "PreToolUse", more)
    };
    let researcher = Some("researcher");
    for (id, agent, command) in [
        ("1", researcher, "envoy perplexity research 'what is new?'"),
        ("2", None, "grov tools plans list && grov plans show"),
        ("3", Some("other"), "envoy info"),
    ] {
        assert_eq!(decision(&by(agent, id, command)), None, "{command}");
    }
    for (id, agent, command) in [
        ("4", None, "envoy perplexity ask q"),
        ("5", researcher, "cat a | envoy vertex ask --stdin q"),
        ("6", Some("other"), "grov tools tavily search q"),
        ("7", researcher, "sh search.sh"),
    ] {
        let ended = by(agent, id, command);
        assert_eq!(decision(&ended).as_deref(), Some("deny"), "{command}");
        assert!(ended.stdout.contains("tools.allow"), "{ended:?}");
    }
    let broken = scene.run(&["config", "set", "tools.allow", "researcher"]);
    assert_ne!(broken.code, 0);
    assert!(broken.stderr.contains("AGENT=COMMAND"), "{broken:?}");
}
