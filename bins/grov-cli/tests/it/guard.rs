//! `grov hook PreToolUse`: what the agent is about to do, and whether it may.

use crate::scene::{Ended, Scene};
use serde_json::{Value, json as object};
use std::io::Write;
use std::process::Stdio;

const SESSION: &str = "0f9e1c5a-0000-4000-8000-000000000001";
const PROMPT: &str = "Fix the login in src/login.rs. Do not touch src/db/.";

/// Where everything happens: a project with a session that was told what not to do.
fn begun(scene: Scene) -> Scene {
    scene.repository("work", "https://example.org/shop.git");
    scene.write("work/transcript.jsonl", "");
    let ended = hook(&scene, "UserPromptSubmit", object!({ "prompt": PROMPT }));
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{ended:?}");
    scene
}

fn fed(scene: &Scene, event: &str, input: &str) -> Ended {
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
    fed(scene, event, &input.to_string())
}

/// A call that is about to be made.
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

/// What the client is told: `ask`, `deny`, or nothing.
#[track_caller]
fn said(ended: &Ended) -> Option<String> {
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    if ended.stdout.is_empty() {
        return None;
    }
    assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
    let answer = &answer["hookSpecificOutput"];
    assert_eq!(answer["hookEventName"], "PreToolUse");
    let reason = answer["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.starts_with("Grov: "), "{reason}");
    Some(answer["permissionDecision"].as_str().unwrap().to_owned())
}

/// That a hook refused, and how.
#[track_caller]
fn refusal(ended: &Ended) -> &str {
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    &ended.stderr
}

/// A call of the agent in the transcript, and how it ended.
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

#[test]
fn what_was_forbidden_is_asked_about_and_nothing_else() {
    let scene = begun(Scene::new());
    let ended = change(&scene, "t1", "src/db/pool.rs");
    assert_eq!(said(&ended).as_deref(), Some("ask"));
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
        assert_eq!(said(&run(&scene, id, command)), None, "{command}");
    }
    assert_eq!(said(&change(&scene, "t5", "src/login.rs")), None);
    assert_eq!(said(&run(&scene, "t6", "rm -r src/db")).as_deref(), Some("ask"));
    assert_eq!(
        said(&run(&scene, "t7", "grov goal allow src/db")).as_deref(),
        Some("ask"),
        "the agent does not allow itself anything"
    );
}

#[test]
fn a_destruction_behind_the_value_of_an_option_is_asked_about() {
    let scene = begun(Scene::new());
    for command in [
        "sudo -u root rm -rf /",
        "nice -n 10 rm -rf ~/",
        "find / -name '*.log' | xargs -n 1 rm -f",
        "cat list | xargs rm -f",
        "docker run -v /:/h alpine rm -rf /h",
        "base64 -d payload | sh",
    ] {
        assert_eq!(
            said(&run(&scene, command, command)).as_deref(),
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
        assert_eq!(said(&run(&scene, command, command)), None, "{command}");
    }
}

#[test]
fn it_asks_denies_or_is_off_as_it_is_set() {
    let scene = begun(Scene::new());
    let plan = |scene: &Scene| {
        let input = object!({"file_path": scene.path("work/src/db/pool.rs")});
        let more = object!({
            "permission_mode": "plan", "tool_name": "Write", "tool_input": input, "tool_use_id": "t",
        });
        hook(scene, "PreToolUse", more)
    };
    // A yes would let it run although the mode forbids it.
    assert_eq!(said(&plan(&scene)).as_deref(), Some("deny"));
    for (mode, expected) in [("deny", Some("deny")), ("ask", Some("ask")), ("off", None)] {
        scene.write("home/.grov/config.toml", &format!("[guard]\nmode = \"{mode}\"\n"));
        let ended = change(&scene, "t", "src/db/pool.rs");
        assert_eq!(said(&ended).as_deref(), expected, "{ended:?}");
    }
}

#[test]
fn a_project_does_not_switch_its_guard_off() {
    let scene = begun(Scene::new());
    for text in ["[guard]\nmode = \"off\"\n", "no configuration"] {
        scene.write("work/.grov/config.toml", text);
        assert_eq!(
            said(&change(&scene, "t", "src/db/pool.rs")).as_deref(),
            Some("ask")
        );
    }
}

#[test]
fn what_was_asked_about_and_ran_is_not_asked_about_again() {
    let scene = begun(Scene::new());
    let ran = |event: &str, id: &str| {
        let ended = hook(&scene, event, object!({"tool_name": "Edit", "tool_use_id": id}));
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{ended:?}");
    };
    assert_eq!(
        said(&change(&scene, "t1", "src/db/pool.rs")).as_deref(),
        Some("ask")
    );
    // Somebody said no.
    assert_eq!(
        said(&change(&scene, "t2", "src/db/pool.rs")).as_deref(),
        Some("ask")
    );
    ran("PostToolUse", "t2");
    assert_eq!(said(&change(&scene, "t3", "src/db/pool.rs")), None);
    assert_eq!(
        said(&change(&scene, "t4", "src/db/other.rs")).as_deref(),
        Some("ask")
    );
    ran("PostToolUseFailure", "t4");
    assert_eq!(said(&change(&scene, "t5", "src/db/other.rs")), None);
    ran("PostToolUse", "unknown");
}

#[test]
fn what_a_person_allows_holds_at_once_also_where_hooks_alone_know_the_session() {
    let scene = begun(Scene::new());
    let work = scene.path("work");
    assert_eq!(
        said(&change(&scene, "t1", "src/db/pool.rs")).as_deref(),
        Some("ask")
    );
    let answer = scene.within(&work).ask(&["goal", "allow", "src/db/pool.rs"]);
    assert_eq!(answer["client_session_id"], SESSION, "{answer}");
    assert_eq!(said(&change(&scene, "t2", "src/db/pool.rs")), None);
    let beginning = &SESSION[..6];
    let words = ["goal", "forbid", "docs", "--session", beginning];
    assert_eq!(scene.within(&work).ask(&words)["client_session_id"], SESSION);
    assert_eq!(said(&change(&scene, "t3", "docs/a.md")).as_deref(), Some("ask"));
    assert_eq!(
        scene.run(&["off", "--project", work.to_str().unwrap()]).code,
        0,
        "Grov is silent in this project"
    );
    assert_eq!(said(&change(&scene, "t4", "docs/a.md")), None);
}

#[test]
fn what_the_agent_made_it_may_remove_and_trying_is_not_making() {
    let scene = begun(Scene::new());
    in_transcript(&scene, "t1", "mkdir /srv/try", false);
    assert_eq!(said(&run(&scene, "t2", "rm -r /srv/try")), None);
    for id in ["t3", "t4"] {
        // The client writes the call down before it is made.
        in_transcript(&scene, id, "rm -r /srv/data", true);
        assert_eq!(
            said(&run(&scene, id, "rm -r /srv/data")).as_deref(),
            Some("ask"),
            "{id}"
        );
    }
}

#[test]
fn a_session_that_nobody_knows_is_guarded_against_destruction() {
    let scene = Scene::new();
    scene.repository("work", "https://example.org/shop.git");
    assert_eq!(said(&change(&scene, "t", "src/db/pool.rs")), None);
    assert_eq!(said(&run(&scene, "t", "rm -rf target")), None);
    for command in [
        "rm -rf ~",
        "rm -r /srv/data",
        "git push --force",
        "sudo -u root rm -rf /",
    ] {
        assert_eq!(
            said(&run(&scene, "t", command)).as_deref(),
            Some("ask"),
            "{command}"
        );
    }
    for input in ["", "null", "{\"tool_name\": 1}", "not json"] {
        assert_eq!(said(&fed(&scene, "PreToolUse", input)), None, "{input}");
    }
}

#[test]
fn a_session_that_nobody_knows_may_remove_what_it_made_and_is_held_to_its_newest_prompt() {
    let scene = Scene::new();
    scene.repository("work", "https://example.org/shop.git");
    scene.write("work/transcript.jsonl", "");
    in_transcript(&scene, "t1", "mkdir /srv/try", false);
    assert_eq!(said(&run(&scene, "t2", "rm -r /srv/try")), None);
    let path = scene.path("work/transcript.jsonl");
    let typed = object!({
        "type": "user", "sessionId": SESSION, "uuid": "p", "timestamp": "2099-01-02T03:04:06.000Z", "cwd": scene.path("work"),
        "message": {"role": "user", "content": PROMPT},
    });
    let before = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{before}{typed}\n")).unwrap();
    assert_eq!(
        said(&change(&scene, "t3", "src/db/pool.rs")).as_deref(),
        Some("ask")
    );
    assert_eq!(said(&change(&scene, "t4", "src/login.rs")), None);
}

#[test]
fn where_the_folder_is_gone_a_destruction_is_one_all_the_same() {
    let scene = begun(Scene::new());
    let gone = |command: &str| {
        let more = object!({
            "cwd": "/no/such/folder", "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t",
        });
        said(&hook(&scene, "PreToolUse", more))
    };
    assert_eq!(gone("rm -rf ~/").as_deref(), Some("ask"));
    assert_eq!(gone("ls"), None);
}

#[test]
fn a_store_that_cannot_be_opened_lets_no_destruction_pass() {
    let scene = begun(Scene::new());
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
    assert_eq!(said(&ended).as_deref(), Some("ask"));
    assert!(ended.stdout.contains("could not be read"), "{ended:?}");
    assert_eq!(said(&run(&scene, "t2", "rm -rf target")), None);
    assert!(log(&scene).contains("the guard"), "{}", log(&scene));
}

#[test]
fn closed_it_lets_nothing_pass_that_it_cannot_look_at() {
    let closed = || Scene::new().env("GROV_GUARD_FAIL", "closed");
    let scene = closed();
    scene.repository("work", "https://example.org/shop.git");
    assert!(refusal(&change(&scene, "t", "src/login.rs")).contains("the session is unknown"));
    refusal(&fed(&scene, "PreToolUse", "not json"));
    let scene = begun(closed());
    assert_eq!(said(&change(&scene, "t", "src/login.rs")), None);
    assert_eq!(
        said(&change(&scene, "t", "src/db/pool.rs")).as_deref(),
        Some("ask")
    );
    // No other event is ever refused.
    for event in ["PostToolUse", "Stop", "UserPromptSubmit", "SessionStart"] {
        assert_eq!(fed(&scene, event, "not json").code, 0, "{event}");
    }
}

#[test]
fn a_broken_home_stops_nothing_unless_the_guard_fails_closed() {
    let broken = |scene: Scene| {
        scene.write("home/.grov/grov.db/within", "");
        change(&scene, "t", "src/db/pool.rs")
    };
    let scene = Scene::new();
    assert_eq!(said(&broken(scene)), None);
    let scene = Scene::new().env("GROV_GUARD_FAIL", "closed");
    refusal(&broken(scene));
    // Whoever wrote "closed" means it, though the rest cannot be read.
    for (text, code) in [
        ("[guard]\nfail = \"closed\"\nmode = [\n", 2),
        ("[guard]\n# fail = \"closed\"\nmode = [\n", 0),
    ] {
        let scene = begun(Scene::new());
        scene.write("home/.grov/config.toml", text);
        let ended = change(&scene, "t", "src/db/pool.rs");
        assert_eq!((ended.code, ended.stdout.as_str()), (code, ""), "{ended:?}");
    }
}

/// What was noted of faults.
fn log(scene: &Scene) -> String {
    std::fs::read_to_string(scene.path("home/.grov/logs/hooks.log")).unwrap_or_default()
}

/// A session whose transcript cannot be read any more: a file stands where its folder was.
fn with_unreadable_past(scene: Scene) -> Scene {
    scene.repository("work", "https://example.org/shop.git");
    let more = object!({"prompt": PROMPT, "transcript_path": scene.path("work/gone/s.jsonl")});
    assert_eq!(hook(&scene, "UserPromptSubmit", more).code, 0);
    scene.write("work/gone", "");
    scene
}

#[test]
fn a_past_that_cannot_be_read_excuses_nothing() {
    let scene = with_unreadable_past(Scene::new());
    for command in ["git push --force origin main && rm -rf ~/", "npm publish"] {
        assert_eq!(
            said(&run(&scene, command, command)).as_deref(),
            Some("ask"),
            "{command}"
        );
    }
    assert_eq!(
        said(&change(&scene, "t1", "src/db/pool.rs")).as_deref(),
        Some("ask")
    );
    assert_eq!(said(&change(&scene, "t2", "src/login.rs")), None);
    assert_eq!(log(&scene), "");
    // Nobody knows whether the agent made that itself.
    assert_eq!(said(&run(&scene, "t3", "rm -r /srv/try")).as_deref(), Some("ask"));
    assert!(
        log(&scene).contains("earlier actions could not be read"),
        "{}",
        log(&scene)
    );
    let closed = with_unreadable_past(Scene::new().env("GROV_GUARD_FAIL", "closed"));
    let ended = run(&closed, "t3", "rm -r /srv/try");
    assert!(refusal(&ended).contains("earlier actions could not be read"));
    assert_eq!(said(&run(&closed, "t4", "rm -r /tmp/try")), None);
    assert_eq!(
        said(&run(&closed, "t5", "git push --force")).as_deref(),
        Some("ask")
    );
}

#[test]
fn half_a_letter_in_a_call_does_not_hide_it() {
    let scene = begun(Scene::new());
    let sent = |more: &str| {
        let (work, transcript) = (scene.path("work"), scene.path("work/transcript.jsonl"));
        let input = format!(
            r#"{{"session_id":"{SESSION}","transcript_path":{transcript:?},"cwd":{work:?},"hook_event_name":"PreToolUse","tool_use_id":"t",{more}}}"#
        );
        said(&fed(&scene, "PreToolUse", &input))
    };
    for call in [
        r#""tool_name":"Bash","tool_input":{"command":"git push --force origin main; echo \ud83d"}"#,
        r#""tool_name":"Write","tool_input":{"file_path":"src/db/pool.rs","content":"\udc00"}"#,
        r#""tool_name":"Write","tool_input":{"file_path":"src/db/pool.rs","content":""},"agent_id":5"#,
    ] {
        assert_eq!(sent(call).as_deref(), Some("ask"), "{call}");
    }
    assert_eq!(log(&scene), "");
    fed(&scene, "PreToolUse", "not json");
    assert!(log(&scene).contains("could not be parsed"), "{}", log(&scene));
}

#[test]
fn a_command_with_a_secret_that_ran_is_not_asked_about_again() {
    let scene = begun(Scene::new());
    let token = format!("ghp_{}", &"a1B2c3D4e5".repeat(4)[..36]);
    let push = format!("git push --force https://user:{token}@example.org/x/y main");
    assert_eq!(said(&run(&scene, "t1", &push)).as_deref(), Some("ask"));
    let ran = hook(
        &scene,
        "PostToolUse",
        object!({"tool_name": "Bash", "tool_use_id": "t1"}),
    );
    assert_eq!(ran.code, 0);
    assert_eq!(said(&run(&scene, "t2", &push)), None);
}

#[test]
fn closed_it_refuses_what_it_has_no_thread_for() {
    // No machine has so much memory for the stack of one.
    let scene = || Scene::new().env("RUST_MIN_STACK", "1125899906842624");
    let open = scene();
    open.repository("work", "https://example.org/shop.git");
    assert_eq!(said(&run(&open, "t", "git push --force")).as_deref(), Some("ask"));
    assert_eq!(said(&run(&open, "t", "touch a")), None);
    assert!(log(&open).contains("no thread"), "{}", log(&open));
    let closed = scene().env("GROV_GUARD_FAIL", "closed");
    closed.repository("work", "https://example.org/shop.git");
    assert!(refusal(&run(&closed, "t", "git push --force")).contains("no thread"));
    // What is never stopped needs none.
    assert_eq!(said(&run(&closed, "t", "ls")), None);
}

#[test]
fn what_is_said_of_a_wrong_setting_holds_no_secret_and_is_one_line() {
    let scene = begun(Scene::new());
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
fn a_home_that_is_named_behind_the_event_is_the_home() {
    let scene = begun(Scene::new());
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
        said(&Ended::of(&child.wait_with_output().unwrap()))
    };
    assert_eq!(asked(&["hook", "PreToolUse"]).as_deref(), Some("ask"));
    let other = other.to_str().unwrap();
    assert_eq!(asked(&["hook", "PreToolUse", "--home", other]), None);
}

/// A session that was told something else.
fn told(prompt: &str) -> Scene {
    let scene = Scene::new();
    scene.repository("work", "https://example.org/shop.git");
    scene.write("work/transcript.jsonl", "");
    prompted(&scene, prompt);
    scene
}

fn prompted(scene: &Scene, prompt: &str) -> Ended {
    let ended = hook(scene, "UserPromptSubmit", object!({ "prompt": prompt }));
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    ended
}

#[test]
fn where_nothing_is_to_be_changed_every_change_is_asked_about_until_one_is_asked_for() {
    let scene = told("Explain how the login works. Don't change anything.");
    assert_eq!(
        said(&change(&scene, "t1", "src/login.rs")).as_deref(),
        Some("ask")
    );
    for (id, command) in [
        ("t2", "rm src/login.rs"),
        ("t3", "git commit -am x"),
        ("t4", "sed -i s/a/b/ src/login.rs"),
    ] {
        assert_eq!(
            said(&run(&scene, id, command)).as_deref(),
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
        assert_eq!(said(&run(&scene, id, command)), None, "{command}");
    }
    prompted(&scene, "And how does the logout work?");
    assert_eq!(
        said(&change(&scene, "t9", "src/login.rs")).as_deref(),
        Some("ask")
    );
    prompted(&scene, "Now fix the timeout of the login");
    assert_eq!(said(&change(&scene, "t10", "src/login.rs")), None);
}

#[test]
fn the_dialog_quotes_the_instruction_in_force() {
    let scene = begun(Scene::new());
    prompted(&scene, "Also make the login page faster");
    let ended = change(&scene, "t1", "src/db/pool.rs");
    assert_eq!(said(&ended).as_deref(), Some("ask"));
    assert!(
        ended.stdout.contains("Also make the login page faster"),
        "{ended:?}"
    );
    assert!(!ended.stdout.contains("Fix the login in"), "{ended:?}");
}

#[test]
fn to_undo_what_was_forbidden_is_not_asked_about() {
    let scene = begun(Scene::new());
    in_transcript(&scene, "w1", "echo x > src/db/new.rs", false);
    assert_eq!(said(&run(&scene, "t1", "rm src/db/new.rs")), None);
    assert_eq!(said(&run(&scene, "t2", "git checkout -- src/db/new.rs")), None);
    assert_eq!(said(&run(&scene, "t3", "rm -rf src/db")).as_deref(), Some("ask"));
    assert_eq!(
        said(&run(&scene, "t4", "rm src/db/pool.rs")).as_deref(),
        Some("ask")
    );
}

#[test]
fn after_a_yes_in_the_dialog_nothing_is_said_and_the_action_is_no_drift() {
    for is_asked in [true, false] {
        let scene = begun(Scene::new());
        let command = "echo x >> src/db/pool.rs";
        if is_asked {
            assert_eq!(said(&run(&scene, "t1", command)).as_deref(), Some("ask"));
        }
        in_transcript(&scene, "t1", command, false);
        let done = object!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t1", "tool_response": {}});
        hook(&scene, "PostToolUse", done);
        let told = prompted(&scene, "go on").stdout;
        assert_eq!(told.is_empty(), is_asked, "{told}");
        let log = scene.run(&["drift", "log", "--session", SESSION]);
        assert_eq!(log.stdout.contains("src/db/pool.rs"), !is_asked, "{log:?}");
    }
}

#[test]
fn work_that_was_wanted_before_it_was_forbidden_is_not_thrown_away_unasked() {
    let scene = told("Improve the pool in src/db/pool.rs.");
    in_transcript(&scene, "w1", "echo x >> src/db/pool.rs", false);
    prompted(&scene, "Now fix the login. Do not touch src/db/.");
    for (id, command) in [
        ("t1", "git checkout -- src/db/pool.rs"),
        ("t2", "git restore src/db/pool.rs"),
    ] {
        assert_eq!(
            said(&run(&scene, id, command)).as_deref(),
            Some("ask"),
            "{command}"
        );
    }
    assert_eq!(
        said(&change(&scene, "t3", "src/db/pool.rs")).as_deref(),
        Some("ask")
    );
}

#[test]
fn a_destruction_behind_a_long_text_is_asked_about() {
    let scene = begun(Scene::new());
    let text = "a line of text\n".repeat(600);
    let command = format!("cat > notes.md <<'EOF'\n{text}EOF\ngit push --force");
    assert_eq!(said(&run(&scene, "t1", &command)).as_deref(), Some("ask"));
    let command = format!("cat > notes.md <<'EOF'\n{text}EOF\n");
    assert_eq!(said(&run(&scene, "t2", &command)), None);
}

/// Adds a line to the client's record of the session.
fn recorded(scene: &Scene, line: Value) {
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
fn a_prompt_that_no_hook_told_of_holds_at_once() {
    let queued = object!({
        "type": "attachment",
        "attachment": {"type": "queued_command", "prompt": "Do not touch src/db/.", "commandMode": "prompt"},
    });
    let typed = object!({"type": "user", "message": {"role": "user", "content": "Do not touch src/db/."}});
    for prompt in [queued, typed] {
        let scene = told("Fix the login in src/login.rs.");
        in_transcript(&scene, "w1", "ls", false);
        assert_eq!(said(&change(&scene, "t1", "src/db/pool.rs")), None);
        recorded(&scene, prompt.clone());
        assert_eq!(
            said(&change(&scene, "t2", "src/db/pool.rs")).as_deref(),
            Some("ask"),
            "{prompt}"
        );
        assert_eq!(said(&change(&scene, "t3", "src/login.rs")), None, "{prompt}");
    }
}
