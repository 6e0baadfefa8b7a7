//! `grov init`, `grov unregister` and `grov uninstall`.

use crate::scene::{Scene, json};
use serde_json::{Value, json as object};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

const USER: &str = "home/.claude/settings.json";
/// A file with everything that makes editing hard.
const ODD: &str = "\u{feff}{\r\n\t// mine\r\n\t\"env\": {\"A\": \"1\"}, /* why not */\r\n\t\"hooks\": {\"Stop\": [{\"hooks\": \
    [{\"type\": \"command\", \"command\": \"mine\"}]},]},\r\n\t\"model\" : \"opus\",\r\n}\r\n";

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn settings(path: &Path) -> Value {
    serde_json::from_str(&text(path)).unwrap()
}

fn command(settings: &Value, event: &str) -> String {
    let command = &settings["hooks"][event][0]["hooks"][0]["command"];
    command
        .as_str()
        .unwrap_or_else(|| panic!("{settings}"))
        .to_owned()
}

#[test]
fn unregister_reverses_init() {
    let scene = Scene::new();
    let path = scene.write(USER, ODD);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let ended = scene.run(&["init", "--proxy"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let edited = text(&path);
    assert!(edited.contains(" hook UserPromptSubmit") && edited.contains("\"ENABLE_TOOL_SEARCH\": \"true\""));
    for part in [
        "\u{feff}{\r\n\t// mine\r\n",
        "/* why not */",
        "\"command\": \"mine\"",
        "\"model\" : \"opus\"",
    ] {
        assert!(edited.contains(part), "{part}: {edited}");
    }
    assert_eq!(text(&path.with_file_name("settings.json.grov-backup")), ODD);

    let again = scene.ask(&["init", "--proxy"]);
    assert_eq!(again["files"][0]["changed"], false);
    assert_eq!(text(&path), edited, "a second time changes nothing");

    let ended = scene.run(&["unregister"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(text(&path), ODD);
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o640
    );
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    assert_eq!(scene.ask(&["unregister"])["files"], object!([]));
}

#[test]
fn a_status_line_is_set_on_request_and_removed_by_unregister() {
    let scene = Scene::new();
    let path = scene.write(USER, ODD);
    scene.ask(&["init"]);
    assert!(!text(&path).contains("statusLine"), "it was not requested");
    scene.ask(&["init", "--statusline"]);
    let edited = text(&path);
    assert!(edited.contains(" statusline\""), "{edited}");
    // The user may change its appearance.
    let padded = edited.replace(" statusline\"", " statusline\", \"padding\": 0");
    std::fs::write(&path, &padded).unwrap();
    assert_eq!(scene.ask(&["init", "--statusline"])["files"][0]["changed"], false);
    std::fs::write(&path, &edited).unwrap();
    scene.ask(&["unregister"]);
    assert_eq!(text(&path), ODD);
}

#[test]
fn another_status_line_is_kept() {
    let scene = Scene::new();
    let before = "{\"statusLine\": {\"type\": \"command\", \"command\": \"~/line.sh\"}}";
    let path = scene.write(USER, before);
    let ended = scene.run(&["init", "--statusline"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.stderr.contains("~/line.sh") && ended.stderr.contains("kept"),
        "{ended:?}"
    );
    let settings = settings(&path);
    assert_eq!(settings["statusLine"]["command"], "~/line.sh");
    assert!(settings["hooks"]["SessionStart"].is_array());
    scene.ask(&["unregister"]);
    assert_eq!(text(&path), before);
}

#[test]
fn a_dry_run_shows_and_changes_nothing() {
    let scene = Scene::new();
    let path = scene.write(USER, "{\n  \"model\": \"opus\"\n}\n");
    let ended = scene.run(&["init", "--dry-run"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    for line in [
        "would be changed",
        &format!("\n--- {0}\n+++ {0}\n@@ -1,3 +1,", path.display()),
        "-  \"model\": \"opus\"\n",
        "+  \"model\": \"opus\",\n",
        "+  \"hooks\": {\n",
    ] {
        assert!(ended.stdout.contains(line), "{line}: {}", ended.stdout);
    }
    assert_eq!(text(&path), "{\n  \"model\": \"opus\"\n}\n");
    assert!(!scene.path("home/.grov").exists());

    scene.run(&["init"]);
    let edited = text(&path);
    let shown = scene.ask(&["unregister", "--dry-run"]);
    assert_eq!(shown["files"][0]["changed"], true);
    assert!(
        shown["files"][0]["diff"]
            .as_str()
            .unwrap()
            .contains("-  \"hooks\": {")
    );
    assert_eq!(text(&path), edited);
}

#[test]
fn a_file_that_init_created_is_removed_by_unregister() {
    let scene = Scene::new();
    let answer = scene.ask(&["init"]);
    let path = scene.path(USER);
    assert_eq!(answer["files"][0]["path"], path.to_str().unwrap());
    assert_eq!(answer["files"][0]["backup"], Value::Null);
    let hook = command(&settings(&path), "SessionStart");
    assert_eq!(
        hook.strip_suffix(" hook SessionStart").map(Path::new),
        Some(Path::new(env!("CARGO_BIN_EXE_grov")))
    );
    assert_eq!(scene.ask(&["unregister"])["files"][0]["removed"], true);
    assert!(!path.parent().unwrap().exists());
}

#[test]
fn hooks_call_grov_by_its_path_even_if_it_is_in_path() {
    let scene = Scene::new();
    let folder = scene.folder("my bin");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_grov"), folder.join("grov")).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let scene = scene.without("PATH").env("PATH", &path);
    scene.ask(&["init", "--statusline"]);
    let settings = settings(&scene.path(USER));
    // The link, which remains valid if an upgrade moves the program.
    let program = format!("'{}'", folder.join("grov").display());
    assert_eq!(
        command(&settings, "SessionStart"),
        format!("{program} hook SessionStart")
    );
    assert_eq!(settings["statusLine"]["command"], format!("{program} statusline"));
    let ended = scene.run(&["init", "--scope", "project"]);
    assert!(
        ended.stderr.contains("by name") && ended.stderr.contains("PATH"),
        "{ended:?}"
    );
}

#[test]
fn the_clients_directory_is_found_like_the_client_does() {
    let scene = Scene::new();
    let folder = scene.folder("elsewhere");
    let scene = scene.env("CLAUDE_CONFIG_DIR", folder.to_str().unwrap());
    scene.ask(&["init"]);
    assert!(folder.join("settings.json").exists() && !scene.path(USER).exists());
    let homeless = Scene::new().without("HOME").env("GROV_HOME", "/nonexistent");
    let ended = homeless.run(&["init"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("CLAUDE_CONFIG_DIR"), "{ended:?}");
}

#[test]
fn a_shared_file_contains_nothing_specific_to_one_machine() {
    let scene = Scene::new();
    let answer = scene.ask(&["init", "--scope", "project", "--proxy"]);
    let shared = settings(&scene.path("work/.claude/settings.json"));
    assert_eq!(command(&shared, "UserPromptSubmit"), "grov hook UserPromptSubmit");
    assert_eq!(shared["env"], Value::Null);
    let local = settings(&scene.path("work/.claude/settings.local.json"));
    assert_eq!(local["hooks"], Value::Null);
    assert_eq!(local["env"]["ANTHROPIC_BASE_URL"], "http://127.0.0.1:8080");
    assert_eq!(answer["proxy"], "http://127.0.0.1:8080");
    let project = scene.path("work");
    assert_eq!(
        local["env"]["ANTHROPIC_CUSTOM_HEADERS"],
        format!("x-grov-project: {}", project.to_str().unwrap())
    );
    assert_eq!(scene.ask(&["unregister"])["files"].as_array().unwrap().len(), 2);
    assert!(!scene.path("work/.claude").exists());

    scene.ask(&["init", "--scope", "local"]);
    let local = settings(&scene.path("work/.claude/settings.local.json"));
    assert!(command(&local, "SessionStart").starts_with('/'));
}

#[test]
fn a_gateway_becomes_the_upstream_and_is_restored() {
    let scene = Scene::new();
    let before = r#"{"env": {"ANTHROPIC_BASE_URL": "https://gateway.example/v9"}}"#;
    let path = scene.write(USER, before);
    let answer = scene.ask(&["init", "--proxy"]);
    assert_eq!(answer["gateway"], "https://gateway.example/v9");
    assert_eq!(
        settings(&path)["env"]["ANTHROPIC_BASE_URL"],
        "http://127.0.0.1:8080"
    );
    let upstream = scene.ask(&["config", "explain", "proxy.upstream"]);
    assert_eq!(upstream["value"], "https://gateway.example/v9", "{upstream}");
    assert_eq!(scene.ask(&["init", "--proxy"])["files"][0]["changed"], false);
    scene.ask(&["unregister"]);
    assert_eq!(text(&path), before);
    assert_eq!(
        scene.ask(&["config", "explain", "proxy.upstream"])["value"],
        "https://api.anthropic.com"
    );

    let scene = scene.env("ANTHROPIC_TARGET", "https://other.example");
    let ended = scene.run(&["init", "--proxy"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(
        ended.stderr.contains("other.example") && ended.stderr.contains("hint:"),
        "{ended:?}"
    );
    assert_eq!(text(&path), before);
}

#[test]
fn init_excludes_this_machine_from_an_http_proxy() {
    let scene = Scene::new().env("HTTPS_PROXY", "http://proxy.example:3128");
    scene.ask(&["init", "--proxy"]);
    assert_eq!(
        settings(&scene.path(USER))["env"]["NO_PROXY"],
        "127.0.0.1,localhost"
    );
}

#[test]
fn a_malformed_file_is_unchanged_and_the_error_names_its_place() {
    let scene = Scene::new();
    let broken = "{\n  \"model\": \"opus\"\n  \"env\": {}\n}\n";
    let path = scene.write(USER, broken);
    for words in [&["init"][..], &["init", "--dry-run"], &["unregister"]] {
        let ended = scene.run(words);
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.stderr.contains("line 3, column 3"), "{ended:?}");
    }
    let ended = scene.run(&["init", "--json"]);
    assert_eq!(json(&ended)["error"]["kind"], "settings");
    assert_eq!(text(&path), broken);
}

#[test]
fn symbolic_links_are_followed_and_kept() {
    let scene = Scene::new();
    let real = scene.write("dotfiles/claude.json", "{}\n");
    std::fs::create_dir_all(scene.path("home/.claude")).unwrap();
    symlink(&real, scene.path(USER)).unwrap();
    scene.ask(&["init"]);
    assert!(text(&real).contains("hook SessionStart"));
    scene.ask(&["unregister"]);
    assert_eq!(text(&real), "{}\n");
    assert!(std::fs::symlink_metadata(scene.path(USER)).unwrap().is_symlink());
}

#[test]
fn a_file_that_cannot_be_written_is_named_in_the_error() {
    let scene = Scene::new();
    let path = scene.write(USER, "{}");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    let ended = scene.run(&["init"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(
        ended.stderr.contains("settings.json cannot be written"),
        "{ended:?}"
    );
    assert_eq!(text(&path), "{}");

    let scene = Scene::new();
    scene.write("file", "");
    let home = scene.path("file/home");
    let ended = scene.run(&["init", "--home", home.to_str().unwrap()]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(!scene.path(USER).exists());
}

#[test]
fn hooks_get_the_home_of_init() {
    let scene = Scene::new();
    let home = scene.path("own");
    scene.ask(&["init", "--home", home.to_str().unwrap()]);
    assert_eq!(
        settings(&scene.path(USER))["env"],
        object!({"GROV_HOME": home.to_str().unwrap()})
    );
    let ended = scene.run(&["uninstall", "--home", home.to_str().unwrap()]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.stderr.contains(home.to_str().unwrap()),
        "what stays is named: {ended:?}"
    );
    assert!(!scene.path("home/.claude").exists());
}

/// The token of the scene's home.
fn token(scene: &Scene) -> String {
    text(&scene.path("home/.grov/hook-token")).trim().to_owned()
}

/// The type of a hook, and its command or URL.
fn called(settings: &Value, event: &str) -> (String, String) {
    let handlers = settings["hooks"][event].as_array().unwrap().iter();
    let mut handlers = handlers.flat_map(|group| group["hooks"].as_array().unwrap());
    let own = handlers.find(|handler| handler["command"] != "mine").unwrap();
    let target = ["command", "url"].iter().find_map(|name| own[name].as_str());
    (
        own["type"].as_str().unwrap().to_owned(),
        target.unwrap().to_owned(),
    )
}

#[test]
fn hooks_go_over_http_where_supported_and_back() {
    let scene = Scene::new();
    let before =
        "{\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]}\n}\n";
    let path = scene.write(USER, before);
    scene.ask(&["init"]);
    let commands = text(&path);
    let answer = scene.ask(&["init", "--http"]);
    assert_eq!(answer["hooks"], "http://127.0.0.1:8080");
    let over_http = settings(&path);
    for event in [
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "SessionEnd",
        "PreCompact",
    ] {
        let url = format!("http://127.0.0.1:8080/_grov/hook/{event}");
        assert_eq!(called(&over_http, event), ("http".to_owned(), url));
    }
    let (kind, command) = called(&over_http, "SessionStart");
    assert!(
        kind == "command" && command.ends_with(" hook SessionStart --daemon-port 8080"),
        "{command}"
    );
    let handler = &over_http["hooks"]["UserPromptSubmit"][0]["hooks"][0];
    assert_eq!(handler["headers"]["X-Grov-Hook-Token"], token(&scene).as_str());
    assert_eq!(handler["headers"]["X-Grov-Base-Url"], "$ANTHROPIC_BASE_URL");
    assert_eq!(
        handler["allowedEnvVars"],
        object!(["ANTHROPIC_BASE_URL", "CLAUDE_PROJECT_DIR"])
    );
    assert_eq!(
        over_http["hooks"]["PreToolUse"][0]["matcher"],
        "Edit|Write|MultiEdit|NotebookEdit|Bash|mcp__.*"
    );
    let mode = std::fs::metadata(scene.path("home/.grov/hook-token"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);

    let known = token(&scene);
    assert_eq!(scene.ask(&["init", "--http"])["files"][0]["changed"], false);
    assert_eq!(token(&scene), known);
    assert_eq!(scene.ask(&["init"])["hooks"], Value::Null);
    assert_eq!(settings(&path), serde_json::from_str::<Value>(&commands).unwrap());
    scene.ask(&["init", "--http"]);
    scene.ask(&["unregister"]);
    assert_eq!(text(&path), before);
}

#[test]
fn the_token_is_not_printed() {
    let scene = Scene::new();
    for round in 0..2 {
        for words in [
            &["init", "--http", "--dry-run"][..],
            &["init", "--http", "--dry-run", "--json"],
        ] {
            let ended = scene.run(words);
            assert_eq!(ended.code, 0, "{ended:?}");
            let masked = ended.stdout.contains("…") || round == 1;
            assert!(masked, "{ended:?}");
            assert!(!ended.stdout.contains("hook-token"), "{ended:?}");
        }
        assert_eq!(scene.path("home/.grov/hook-token").exists(), round == 1);
        let ended = scene.run(&["init", "--http"]);
        assert!(!(ended.stdout + &ended.stderr).contains(&token(&scene)));
    }
    let ended = scene.run(&["unregister", "--dry-run"]);
    assert!(
        ended.stdout.contains("…") && !ended.stdout.contains(&token(&scene)),
        "{ended:?}"
    );
    let ended = scene.run(&["init", "--dry-run"]);
    assert!(
        ended.stdout.contains("…") && !ended.stdout.contains(&token(&scene)),
        "{ended:?}"
    );
}

#[test]
fn the_token_is_removed_with_the_last_file_that_contains_it() {
    let scene = Scene::new();
    let file = scene.path("home/.grov/hook-token");
    let work = scene.repository("work", "https://example.com/a.git");
    for command in ["unregister", "uninstall"] {
        scene.ask(&["init", "--http"]);
        scene.ask(&["init", "--http", "--scope", "local"]);
        let would = scene.ask(&[command, "--dry-run"]);
        assert_eq!(would["token"], file.to_str().unwrap());
        assert!(file.exists());
        let ended = scene.run(&[command]);
        assert!(ended.code == 0 && !file.exists(), "{ended:?}");
        assert!(ended.stdout.contains("hook-token removed"), "{ended:?}");
        assert_eq!(scene.ask(&[command])["token"], Value::Null);
    }
    // A hook that the user added stays, and so does its token.
    scene.ask(&["init", "--http"]);
    let path = scene.path(USER);
    let mut added = settings(&path);
    added["hooks"]["Notification"] = added["hooks"]["Stop"].clone();
    std::fs::write(&path, added.to_string()).unwrap();
    assert_eq!(scene.ask(&["unregister"])["token"], Value::Null);
    assert!(text(&path).contains(&token(&scene)));
    // It is no longer registered, so every hook that calls Grov is removed.
    scene.ask(&["unregister"]);
    assert!(!text(&path).contains("X-Grov-Hook-Token") && !file.exists());
    assert!(!work.join(".claude").exists());
}

#[test]
fn a_shared_file_contains_no_token() {
    let scene = Scene::new();
    let work = scene.repository("work", "https://example.com/a.git");
    scene.ask(&["init", "--scope", "project"]);
    let shared = work.join(".claude/settings.json");
    let (own, before) = (work.join(".claude/settings.local.json"), text(&shared));
    let ended = scene.run(&["init", "--scope", "project", "--http"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("registers Grov for everyone"), "{ended:?}");
    assert!(ended.stderr.contains("keep it out of commits"), "{ended:?}");
    assert_eq!(text(&shared), before);
    assert_eq!(called(&settings(&own), "Stop").0, "http");
    // Without --http they are the same commands as in the shared file, which the client runs once.
    scene.ask(&["init", "--scope", "project"]);
    assert_eq!(called(&settings(&own), "Stop").1, "grov hook Stop");
    assert!(!text(&own).contains(&token(&scene)));
    scene.ask(&["unregister"]);
    assert!(!own.exists() && !shared.exists());
}

#[test]
fn a_guard_that_fails_closed_stays_a_process() {
    let scene = Scene::new();
    scene.write("home/.grov/config.toml", "[guard]\nfail = \"closed\"\n");
    let ended = scene.run(&["init", "--http"]);
    assert!(
        ended.code == 0 && ended.stderr.contains("PreToolUse stays a command"),
        "{ended:?}"
    );
    let settings = settings(&scene.path(USER));
    assert_eq!(called(&settings, "PreToolUse").0, "command");
    assert_eq!(called(&settings, "PostToolUse").0, "http");
}

#[test]
fn hooks_over_http_bypass_the_users_http_proxy() {
    let scene = Scene::new().env("HTTPS_PROXY", "http://p:3128");
    scene.ask(&["init", "--http"]);
    let settings = settings(&scene.path(USER));
    assert_eq!(settings["env"], object!({"NO_PROXY": "127.0.0.1,localhost"}));
}

#[test]
fn the_mcp_server_is_registered_and_removed_byte_for_byte() {
    for (scope, file, before) in [
        (
            "user",
            "home/.claude.json",
            "{\r\n\t\"numStartups\" : 3,\r\n\t\"mcpServers\": {\"a\":{\"command\":\"b\"}}\r\n}",
        ),
        ("local", "home/.claude.json", "{\"projects\": {}}\n"),
        (
            "project",
            "work/.mcp.json",
            "{\n  // ours\n  \"mcpServers\": {\n  }\n}\n",
        ),
        ("project", "work/.mcp.json", ""),
    ] {
        let scene = Scene::new();
        if !before.is_empty() {
            scene.write(file, before);
        }
        let ended = scene.run(&["init", "--mcp", "--scope", scope]);
        assert_eq!(ended.code, 0, "{ended:?}");
        let registered = std::fs::read_to_string(scene.path(file)).unwrap();
        assert!(
            registered.contains("\"grov\"") && registered.contains("\"mcp\""),
            "{registered}"
        );
        assert_eq!(scene.run(&["init", "--mcp", "--scope", scope]).code, 0);
        assert_eq!(
            std::fs::read_to_string(scene.path(file)).unwrap(),
            registered,
            "{scope}"
        );
        let ended = scene.run(&["unregister"]);
        assert_eq!(ended.code, 0, "{ended:?}");
        let after = std::fs::read_to_string(scene.path(file)).unwrap_or_default();
        assert_eq!(after, before, "{scope}");
    }
}

const CONFIG: &str = "home/.grov/config.toml";

/// An installed client that says whether it is logged in.
fn install_client(scene: &Scene, logged_in: bool) {
    let script =
        format!("#!/bin/sh\n[ \"$1 $2\" = 'auth status' ] && echo '{{\"loggedIn\": {logged_in}}}'\n");
    let program = scene.write("home/.local/bin/claude", &script);
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_clients_model_judges_on_request() {
    let scene = Scene::new();
    install_client(&scene, true);
    let before = "# mine\n[log]\nlevel = \"info\"\n";
    let path = scene.write(CONFIG, before);
    let ended = scene.run(&["init", "--proxy", "--judge", "claude"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    for part in [
        "claude-haiku-4-5",
        "per prompt",
        "plan's limits",
        "$0.50 a day",
        "grov usage",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
    assert!(!ended.stderr.contains("warning"), "{}", ended.stderr);
    assert!(text(&path).starts_with(before) && text(&path).contains("provider = \"claude_cli\""));
    assert_eq!(scene.ask(&["status"])["judge"]["provider"], "claude_cli");

    let again = scene.ask(&["init", "--proxy", "--judge", "claude"]);
    assert_eq!(again["judge"]["file"]["changed"], false);
    assert_eq!(again["judge"]["model"], "claude-haiku-4-5-20251001");
    // Uninstalling leaves the user's configuration, and says so.
    let ended = scene.run(&["uninstall"]);
    assert!(
        ended.stderr.contains("grov config unset llm.provider"),
        "{ended:?}"
    );
    assert!(text(&path).contains("claude_cli"));

    let off = scene.ask(&["init", "--judge", "off"]);
    assert_eq!(off["judge"]["provider"], "offline");
    assert_eq!(off["judge"]["model"], Value::Null);
    assert!(text(&path).contains("provider = \"offline\""));
    let ended = scene.run(&["uninstall"]);
    assert!(!ended.stderr.contains("llm.provider"), "{ended:?}");
}

#[test]
fn without_the_client_nothing_is_registered_for_it_to_judge() {
    let scene = Scene::new();
    let ended = scene.run(&["init", "--judge", "claude"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("not installed"), "{ended:?}");
    assert!(scene.is_untouched(), "something was changed");
    install_client(&scene, false);
    let ended = scene.run(&["init", "--judge", "claude"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("not logged in"), "{ended:?}");
    // Limits are read for the proxy only.
    assert!(ended.stderr.contains("without `--proxy`"), "{ended:?}");
    assert!(text(&scene.path(CONFIG)).contains("claude_cli"));
}

#[test]
fn a_dry_run_shows_the_judge_and_no_key_and_changes_nothing() {
    let scene = Scene::new();
    install_client(&scene, true);
    let ended = scene.run(&["init", "--judge", "claude", "--dry-run"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.stdout.contains("+provider = \"claude_cli\""),
        "{}",
        ended.stdout
    );
    assert!(!scene.path("home/.grov").exists());
    let before = "[llm]\napi_key = \"hunter2-hunter2-4711\"\n";
    let path = scene.write(CONFIG, before);
    let shown = scene.ask(&["init", "--judge", "claude", "--dry-run"]);
    let diff = shown["judge"]["file"]["diff"].as_str().unwrap();
    assert!(diff.contains("+provider") && !diff.contains("hunter2"), "{diff}");
    assert_eq!(text(&path), before);
}

#[test]
fn a_variable_that_names_another_judge_is_reported() {
    let scene = Scene::new().env("GROV_LLM_PROVIDER", "offline");
    install_client(&scene, true);
    let ended = scene.run(&["init", "--proxy", "--judge", "claude"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.stderr.contains("llm.provider is offline") && ended.stderr.contains("GROV_LLM_PROVIDER"),
        "{}",
        ended.stderr
    );
}

#[test]
fn init_names_the_judge_until_one_is_chosen() {
    let scene = Scene::new();
    install_client(&scene, true);
    let hint = |words: &[&str]| scene.run(words).stdout.contains("--judge claude");
    assert!(hint(&["init"]) && hint(&["init", "--dry-run"]));
    assert!(!hint(&["init", "--judge", "off"]), "it was chosen");
    assert!(!hint(&["init"]), "rules were chosen");
    scene.ask(&["init", "--judge", "claude"]);
    assert!(!hint(&["init"]));
}

const COMMENTED: &str =
    "{\n  // my gateway\n  \"env\": {\"ANTHROPIC_BASE_URL\": \"https://gateway.example\"},\n}\n";
const COPY: &str = "home/.claude/settings.json.with-comments";

#[test]
fn a_refused_init_leaves_the_comments_of_the_settings_alone() {
    let scene = Scene::new();
    scene.write(USER, COMMENTED);
    scene.write(
        "home/.grov/config.toml",
        "[proxy]\nupstream = 'https://other.example'\n",
    );
    let ended = scene.run(&["init", "--proxy", "--plain"]);
    assert!(
        ended.code == 2 && ended.stderr.contains("a proxy has one upstream"),
        "{ended:?}"
    );
    assert_eq!(text(&scene.path(USER)), COMMENTED);
    assert!(!scene.path(COPY).exists());
}

#[test]
fn unregister_restores_the_comments_that_init_plain_took_out() {
    let scene = Scene::new();
    scene.write(USER, COMMENTED);
    scene.ask(&["init", "--proxy", "--plain"]);
    assert!(!text(&scene.path(USER)).contains("my gateway"));
    let planned = scene.run(&["unregister", "--dry-run"]).stderr;
    assert!(planned.contains("would get its comments back"), "{planned}");
    let ended = scene.run(&["unregister"]);
    assert!(
        ended.code == 0 && ended.stderr.contains("has its comments again"),
        "{ended:?}"
    );
    assert_eq!(text(&scene.path(USER)), COMMENTED);
    assert!(!scene.path(COPY).exists());

    // Changed since: the comments stay in the copy.
    scene.ask(&["init", "--plain"]);
    let changed = text(&scene.path(USER)).replacen('{', "{\n  \"model\": \"opus\",", 1);
    scene.write(USER, &changed);
    let ended = scene.run(&["unregister"]);
    assert!(
        ended.code == 0 && ended.stderr.contains("not put back"),
        "{ended:?}"
    );
    assert!(text(&scene.path(USER)).contains("opus") && text(&scene.path(COPY)).contains("my gateway"));
}
