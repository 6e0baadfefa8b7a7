//! `grov doctor`: passed checks, and problems with their consequence and fix.

use crate::scene::{Scene, json};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const USER: &str = "home/.claude/settings.json";

/// The check of that name. Each failed check must have a consequence and a fix.
fn check(answer: &Value, name: &str) -> Value {
    let checks = answer["checks"].as_array().unwrap();
    for check in checks {
        let is_complete = check["consequence"].is_string() && check["fix"].is_string();
        assert!(check["ok"] == true || is_complete, "{check}");
    }
    let found = checks.iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {answer}")).clone()
}

fn doctor(scene: &Scene, words: &[&str]) -> (i32, Value) {
    let ended = scene.run(&[&["doctor", "--json"], words].concat());
    (ended.code, json(&ended))
}

/// Whether a check passes in a scene, and its evidence.
fn result(scene: &Scene, name: &str) -> (bool, String) {
    let check = check(&doctor(scene, &[]).1, name);
    (
        check["ok"] == true,
        check["evidence"].as_str().unwrap().to_owned(),
    )
}

#[test]
fn a_new_registration_passes() {
    let scene = Scene::new();
    let (code, answer) = doctor(&scene, &[]);
    assert_eq!(
        (code, &answer["ok"]),
        (1, &Value::Bool(false)),
        "no hooks yet: {answer}"
    );
    let hooks = check(&answer, "hooks");
    assert_eq!(
        (&hooks["status"], &hooks["fix"]),
        (&"fail".into(), &"grov init".into())
    );
    scene.ask(&["init"]);
    let (code, answer) = doctor(&scene, &[]);
    assert_eq!((code, &answer["ok"]), (0, &Value::Bool(true)), "{answer}");
    let ended = scene.run(&["doctor"]);
    assert!(
        !ended.stdout.contains("FAIL") && ended.stdout.contains("OK    hooks: registered"),
        "{ended:?}"
    );
}

#[test]
fn a_proxy_that_the_next_session_starts_is_a_warning() {
    let scene = Scene::new().env("GROV_PROXY_PORT", "1");
    scene.ask(&["init", "--proxy"]);
    let (code, answer) = doctor(&scene, &[]);
    assert_eq!((code, &answer["ok"]), (0, &Value::Bool(true)), "{answer}");
    let proxy = check(&answer, "proxy");
    assert_eq!(proxy["status"], "warn", "{proxy}");
    assert!(
        proxy["consequence"].as_str().unwrap().contains("next session"),
        "{proxy}"
    );
}

#[test]
fn settings_with_which_no_proxy_starts_are_a_failure() {
    let scene = Scene::new().env("GROV_PROXY_PORT", "1");
    scene.ask(&["init", "--proxy"]);
    scene.write("home/.grov/config.toml", "[proxy]\nhost = \"0.0.0.0\"\n");
    let (code, answer) = doctor(&scene, &[]);
    assert_eq!(code, 1, "{answer}");
    let proxy = check(&answer, "proxy");
    let evidence = proxy["evidence"].as_str().unwrap();
    assert!(
        proxy["status"] == "fail" && evidence.contains("0.0.0.0 is not a loopback address"),
        "{proxy}"
    );
}

#[test]
fn an_mcp_server_without_its_program_is_a_failure() {
    for scope in ["user", "local", "project"] {
        let scene = Scene::new();
        let without = |answer: &Value| {
            let checks = answer["checks"].as_array().unwrap();
            checks.iter().all(|check| check["name"] != "mcp server")
        };
        scene.ask(&["init"]);
        assert!(without(&doctor(&scene, &[]).1));
        let ended = scene.run_alone(&["init", "--mcp", "--scope", scope]);
        assert!(
            ended.code == 0 && ended.stderr.contains("envoy is neither next to grov"),
            "{ended:?}"
        );
        let ended = scene.run_alone(&["doctor", "--json"]);
        let answer = json(&ended);
        assert_eq!(ended.code, 1, "{answer}");
        let server = check(&answer, "mcp server");
        assert_eq!(server["status"], "fail", "{server}");
        // The tests' grov has envoy next to it.
        assert!(result(&scene, "mcp server").0);
        let ended = scene.run(&["init", "--mcp", "--scope", scope]);
        assert!(!ended.stderr.contains("envoy"), "{ended:?}");
        scene.run(&["unregister"]);
        assert!(without(&doctor(&scene, &[]).1));
    }
}

#[test]
fn a_settings_file_that_the_client_cannot_read_is_made_plain() {
    let scene = Scene::new();
    let text = "{\n  // mine\n  \"model\": \"opus\",\n}\n";
    let path = scene.write(USER, text);
    let ended = scene.run(&["init"]);
    assert!(ended.stderr.contains("ignores the whole file"), "{ended:?}");
    let (ok, evidence) = result(&scene, "client settings");
    assert!(!ok && evidence.contains("comments"), "{evidence}");
    scene.ask(&["unregister"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    scene.ask(&["init", "--plain"]);
    assert!(result(&scene, "client settings").0);
    let copy = std::fs::read_to_string(path.with_extension("json.with-comments"));
    assert_eq!(copy.unwrap(), text);
    scene.ask(&["unregister"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_malformed_file_is_reported_with_its_place() {
    let scene = Scene::new();
    scene.write(USER, "{\n  \"a\" 1\n}");
    let (ok, evidence) = result(&scene, "client settings");
    assert!(!ok && evidence.contains("line 2, column 7"), "{evidence}");
    scene.write("home/.grov/config.toml", "[proxy\n");
    let (ok, evidence) = result(&scene, "configuration");
    assert!(!ok && evidence.contains("config.toml"), "{evidence}");
}

#[test]
fn a_hook_that_calls_a_missing_program_is_registered_again() {
    let scene = Scene::new();
    let gone = r#"{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "/opt/gone/grov hook SessionStart"}]}]}}"#;
    let path = scene.write(USER, gone);
    let (ok, evidence) = result(&scene, "hooks");
    assert!(!ok && evidence.contains("/opt/gone/grov"), "{evidence}");
    let (code, answer) = doctor(&scene, &["--fix"]);
    assert_eq!(
        (code, &answer["fixed"]),
        (0, &serde_json::json!(["hooks"])),
        "{answer}"
    );
    assert!(!std::fs::read_to_string(&path).unwrap().contains("/opt/gone"));
    scene.ask(&["unregister"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), gone);
}

#[test]
fn a_guard_with_a_short_timeout_is_registered_again() {
    let scene = Scene::new();
    scene.ask(&["init"]);
    let path = scene.path(USER);
    let now = std::fs::read_to_string(&path).unwrap();
    assert_eq!(now.matches("\"timeout\": 60").count(), 1, "{now}");
    std::fs::write(&path, now.replace("\"timeout\": 60", "\"timeout\": 5")).unwrap();
    let (ok, evidence) = result(&scene, "hooks");
    assert!(!ok && evidence.contains("5 s for the guard"), "{evidence}");
    let (code, answer) = doctor(&scene, &["--fix"]);
    assert_eq!(
        (code, &answer["fixed"]),
        (0, &serde_json::json!(["hooks"])),
        "{answer}"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), now);
}

#[test]
fn hooks_that_call_grov_by_its_name_are_registered_again() {
    let scene = Scene::new();
    let folder = scene.folder("bin");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_grov"), folder.join("grov")).unwrap();
    let scene = scene
        .without("PATH")
        .env("PATH", &format!("{}:/usr/bin:/bin", folder.display()));
    scene.ask(&["init"]);
    let path = scene.path(USER);
    let now = std::fs::read_to_string(&path).unwrap();
    let program = folder.join("grov");
    std::fs::write(&path, now.replace(program.to_str().unwrap(), "grov")).unwrap();
    let (ok, evidence) = result(&scene, "hooks");
    assert!(!ok && evidence.contains("by its name"), "{evidence}");
    doctor(&scene, &["--fix"]);
    assert!(result(&scene, "hooks").0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), now);
    // A shared file must use the name.
    scene.ask(&["unregister"]);
    scene.ask(&["init", "--scope", "project"]);
    let (ok, evidence) = result(&scene, "hooks");
    assert!(ok, "{evidence}");
}

#[test]
fn a_status_line_that_calls_a_missing_program_is_set_again() {
    let scene = Scene::new();
    scene.ask(&["init", "--statusline"]);
    let path = scene.path(USER);
    let now = std::fs::read_to_string(&path).unwrap();
    let gone = now.replace(
        &format!("{} statusline", env!("CARGO_BIN_EXE_grov")),
        "/opt/gone/grov statusline",
    );
    assert_ne!(gone, now);
    std::fs::write(&path, gone).unwrap();
    let (ok, evidence) = result(&scene, "hooks");
    assert!(!ok && evidence.contains("/opt/gone/grov"), "{evidence}");
    doctor(&scene, &["--fix"]);
    assert!(result(&scene, "hooks").0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), now);
}

#[test]
fn permissions_of_an_open_home_are_fixed() {
    let scene = Scene::new();
    scene.ask(&["init"]);
    let home = scene.path("home/.grov");
    std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o755)).unwrap();
    scene.write("home/.grov/.env", "A=1\n");
    let (ok, evidence) = result(&scene, "home");
    assert!(!ok && evidence.contains(".env"), "{evidence}");
    let (_, answer) = doctor(&scene, &["--fix"]);
    assert_eq!(answer["fixed"], serde_json::json!(["home"]));
    assert!(result(&scene, "home").0);
    assert_eq!(
        std::fs::metadata(&home).unwrap().permissions().mode() & 0o777,
        0o700
    );
}

#[test]
fn a_stopped_proxy_that_the_client_uses_is_reported() {
    let scene = Scene::new();
    assert!(result(&scene, "proxy").0, "the client does not use it");
    // A port that another program uses, and a free one.
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    scene.write("home/.grov/config.toml", &format!("[proxy]\nport = {port}\n"));
    scene.ask(&["init", "--proxy"]);
    let (ok, evidence) = result(&scene, "proxy");
    assert!(!ok && evidence.contains("another program"), "{evidence}");
    drop(taken);
    let (ok, evidence) = result(&scene, "proxy");
    assert!(!ok && evidence.contains("nothing listens"), "{evidence}");
    assert!(result(&scene, "base address").0 && result(&scene, "tool search").0);
}

#[test]
fn missing_variables_of_the_client_are_reported() {
    let scene = Scene::new()
        .env("ANTHROPIC_BASE_URL", "http://localhost:8080")
        .env("HTTPS_PROXY", "http://proxy.example:3128");
    assert!(!result(&scene, "tool search").0);
    let (ok, evidence) = result(&scene, "no_proxy");
    assert!(!ok && evidence.contains("NO_PROXY"), "{evidence}");
    scene.ask(&["init", "--proxy"]);
    assert!(result(&scene, "tool search").0 && result(&scene, "no_proxy").0);
}

#[test]
fn a_damaged_database_and_hook_errors_are_reported() {
    let scene = Scene::new();
    scene.write("home/.grov/grov.db", &"no database at all ".repeat(1000));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let faults = format!(
        "1 panic at x.rs:1\n{} the store is busy\n",
        now.unwrap().as_secs()
    );
    scene.write("home/.grov/logs/hooks.log", &faults);
    assert!(!result(&scene, "database").0);
    let (ok, evidence) = result(&scene, "hook faults");
    assert!(!ok && evidence.contains("the store is busy"), "{evidence}");
    assert!(evidence.starts_with("1 in the last day"), "{evidence}");
}

#[test]
fn an_intact_database_is_reported_with_its_version() {
    let scene = Scene::new();
    scene.ask(&["off"]);
    let (ok, evidence) = result(&scene, "database");
    assert!(ok && evidence.contains("is intact, schema version"), "{evidence}");
    assert!(result(&scene, "clock").0);
    let (ok, evidence) = result(&scene, "disk");
    assert!(ok && evidence.contains("MB are free"), "{evidence}");
}

/// Writes a program that prints a line.
fn program(scene: &Scene, relative: &str, line: &str) -> std::path::PathBuf {
    let path = scene.write(relative, &format!("#!/bin/sh\necho '{line}'\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn hooks_of_another_grov_and_disabled_hooks_are_reported() {
    let scene = Scene::new();
    scene.ask(&["init"]);
    let path = scene.path(USER);
    let registered = std::fs::read_to_string(&path).unwrap();
    let other = program(&scene, "old/grov", "grov 0.0.1");
    let other = other.to_str().unwrap();
    std::fs::write(&path, registered.replace(env!("CARGO_BIN_EXE_grov"), other)).unwrap();
    let (ok, evidence) = result(&scene, "hooks");
    assert!(
        !ok && evidence.contains(other) && evidence.contains("another Grov"),
        "{evidence}"
    );
    let switched_off = registered.replacen('{', "{\"disableAllHooks\": true,", 1);
    std::fs::write(&path, switched_off).unwrap();
    let (ok, evidence) = result(&scene, "hooks");
    assert!(!ok && evidence.contains("disableAllHooks"), "{evidence}");
    std::fs::write(&path, &registered).unwrap();
    let twice = format!(
        r#"{{"hooks": {{"Stop": [{{"hooks": [{{"type": "command", "command": "{other} hook Stop"}}]}}]}}}}"#
    );
    scene.write("work/.claude/settings.json", &twice);
    let (ok, evidence) = result(&scene, "hooks");
    assert!(!ok && evidence.contains("more than once"), "{evidence}");
}

#[test]
fn an_untested_client_is_reported() {
    let scene = Scene::new();
    assert!(result(&scene, "client version").0, "there is none");
    let folder = scene.folder("clients");
    let scene = scene.without("PATH");
    let scene = scene.env("PATH", &format!("{}:/usr/bin:/bin", folder.display()));
    for (line, is_well) in [
        ("2.1.197 (Claude Code)", true),
        ("1.0.98 (Claude Code)", false),
        ("?", true),
    ] {
        program(&scene, "clients/claude", line);
        let (ok, evidence) = result(&scene, "client version");
        assert_eq!(ok, is_well, "{evidence}");
    }
}

#[test]
fn a_judge_without_a_key_is_reported() {
    let scene = Scene::new();
    assert!(result(&scene, "judge").0, "rules need no key");
    let scene = scene.env("GROV_LLM_PROVIDER", "anthropic");
    let (ok, evidence) = result(&scene, "judge");
    assert!(!ok, "{evidence}");
}

#[test]
fn a_client_that_cannot_judge_is_reported() {
    let scene = Scene::new().env("GROV_LLM_PROVIDER", "claude_cli");
    let (ok, evidence) = result(&scene, "judge");
    assert!(!ok && evidence.contains("grov config set"), "{evidence}");
    scene.ask(&["config", "set", "llm.provider", "claude_cli"]);
    let (ok, evidence) = result(&scene, "judge");
    assert!(!ok && evidence.contains("not installed"), "{evidence}");
    for (says, is_well) in [("false", false), ("true", true)] {
        let script = format!("#!/bin/sh\n[ \"$1 $2\" = 'auth status' ] && echo '{{\"loggedIn\": {says}}}'\n");
        let program = scene.write("home/.local/bin/claude", &script);
        std::fs::set_permissions(program, PermissionsExt::from_mode(0o755)).unwrap();
        let (ok, evidence) = result(&scene, "judge");
        assert_eq!(ok, is_well, "{evidence}");
        assert!(is_well || evidence.contains("not logged in"), "{evidence}");
        assert!(evidence.contains("claude_cli"), "{evidence}");
    }
}

#[test]
fn hooks_over_http_without_a_daemon_are_reported() {
    let scene = Scene::new();
    let port = TcpListener::bind(("127.0.0.1", 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let configuration = |port: u16| format!("[proxy]\nport = {port}\n");
    scene.write("home/.grov/config.toml", &configuration(port));
    scene.ask(&["init", "--http"]);
    let over_http = |scene: &Scene| check(&doctor(scene, &[]).1, "hooks over HTTP");
    let down = over_http(&scene);
    assert_eq!(
        (&down["ok"], &down["fix"]),
        (
            &false.into(),
            &format!("grov proxy --detach --port {port}").into()
        ),
        "{down}"
    );
    assert!(result(&scene, "hooks").0 && result(&scene, "base address").0);

    // The configured port was changed, but the next session starts the daemon at the port of the hooks.
    scene.write("home/.grov/config.toml", &configuration(port ^ 1));
    assert_eq!(over_http(&scene)["fix"], down["fix"]);
    let elsewhere = answering(&scene);
    let check = over_http(&scene);
    let evidence = check["evidence"].as_str().unwrap();
    for port in [port, elsewhere] {
        assert!(evidence.contains(&port.to_string()), "{check}");
    }
    assert_eq!(check["fix"], "grov init --scope user --http");

    scene.write("home/.grov/hook-token", &"0".repeat(64));
    let unlike = over_http(&scene);
    assert!(
        unlike["evidence"].as_str().unwrap().contains("another token"),
        "{unlike}"
    );
    assert!(!unlike.to_string().contains(&"0".repeat(64)), "{unlike}");
    std::fs::remove_file(scene.path("home/.grov/hook-token")).unwrap();
    let missing = over_http(&scene);
    assert!(
        missing["evidence"].as_str().unwrap().contains("is missing"),
        "{missing}"
    );
    assert_eq!(missing["fix"], "grov init --scope user --http");
}

/// Starts a server that answers like the daemon of the scene's home. Returns its port.
fn answering(scene: &Scene) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let pid = std::process::id();
    let record = format!(
        r#"{{"schema":1,"pid":{pid},"url":"http://127.0.0.1:{port}","version":"9","started_at":"2026-01-02T03:04:05Z"}}"#
    );
    scene.write("home/.grov/daemon.json", &record);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            // The client may close the connection early.
            let _ = stream.read(&mut request);
            let body = format!(r#"{{"status":"ok","version":"9","pid":{pid}}}"#);
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    port
}

#[test]
fn weaknesses_of_hooks_over_http_are_reported() {
    let scene = Scene::new();
    let port = answering(&scene);
    let answer = scene.ask(&["init", "--http"]);
    assert_eq!(answer["hooks"], format!("http://127.0.0.1:{port}"));
    let (ok, evidence) = result(&scene, "hooks over HTTP");
    assert!(ok && evidence.contains("which answers"), "{evidence}");
    let path = scene.path(USER);
    let set =
        |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    set(&path, 0o644);
    set(&scene.path(""), 0o700);
    assert!(result(&scene, "hooks over HTTP").0, "nobody comes that far");
    let is_open = |folder: &Path| std::fs::metadata(folder).unwrap().permissions().mode() & 0o001 != 0;
    if !scene.path("").ancestors().skip(1).all(is_open) {
        return; // Nobody comes to where temporary files are either.
    }
    for folder in ["", "home", "home/.claude"] {
        set(&scene.path(folder), 0o755);
    }
    let (ok, evidence) = result(&scene, "hooks over HTTP");
    assert!(
        !ok && evidence.contains("other users can read the token"),
        "{evidence}"
    );
    doctor(&scene, &["--fix"]);
    assert!(result(&scene, "hooks over HTTP").0);
    scene.write("home/.grov/config.toml", "[guard]\nfail = \"closed\"\n");
    let (ok, evidence) = result(&scene, "hooks over HTTP");
    assert!(!ok && evidence.contains("guard.fail"), "{evidence}");
}

#[test]
fn a_client_that_grov_run_starts_needs_no_base_address() {
    let scene = Scene::new().env("SHELL", "/bin/bash");
    scene.ask(&["init", "--mitm"]);
    let port = answering(&scene);
    let (ok, evidence) = result(&scene, "base address");
    assert!(ok && evidence.contains("grov run"), "{port}: {evidence}");
}
