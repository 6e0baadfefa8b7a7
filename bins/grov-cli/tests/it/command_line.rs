//! Arguments, exit codes and configuration of the real binary.

use crate::scene::{Ended, Scene, json};
use serde_json::Value;

#[test]
fn version_and_help_go_to_standard_output() {
    let scene = Scene::new();
    for words in [&["--version"][..], &["-V"], &["--version", "--json"]] {
        let ended = scene.run(words);
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (0, concat!("grov ", env!("CARGO_PKG_VERSION"), "\n"))
        );
    }
    let help = scene.run(&["--help"]);
    assert_eq!(help.code, 0);
    for command in [
        "init",
        "unregister",
        "doctor",
        "uninstall",
        "proxy",
        "proxy-status",
        "status",
        "usage",
        "sessions",
        "steps",
        "injected",
        "cost",
        "watch",
        "memory",
        "off",
        "on",
        "store",
        "config",
        "completions",
    ] {
        assert!(
            help.stdout.contains(&format!("\n  {command} ")),
            "{command} is not in the help"
        );
        assert_eq!(scene.run(&[command, "--help"]).code, 0);
    }
    assert!(!help.stdout.contains("own-session"));
    assert!(scene.is_untouched(), "nothing is made by asking");
}

#[test]
fn bad_usage_exits_with_64() {
    let scene = Scene::new();
    for words in [
        &[][..],
        &["dance"],
        &["status", "--dance"],
        &["steps", "a", "b"],
        &["cost", "--by", "weather"],
        &["cost", "--since", "yesterday"],
        &["watch", "--since", "yesterday"],
        &["store"],
        &["memory"],
        &["memory", "search"],
        &["memory", "search", "a", "--batch", "b"],
        &["memory", "forget"],
        &["memory", "edit"],
        &["memory", "supersede", "a"],
        &["memory", "import", "a", "--from-line", "0"],
        &["completions", "csh"],
        &["status", "--color", "sometimes"],
        &["proxy-status", "--limit", "-1"],
        &["init", "--scope", "world"],
        &["unregister", "here"],
        &["usage", "--by", "weather"],
        &["usage", "--since", "yesterday"],
        &["proxy", "--detach", "--own-session"],
        &["config", "explain", "proxy.pot"],
    ] {
        let ended = scene.run(words);
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (64, ""),
            "{words:?}: {}",
            ended.stderr
        );
        assert!(!ended.stderr.is_empty(), "{words:?}");
        let ended = scene.run(&[words, &["--json"]].concat());
        let error = json(&ended)["error"].clone();
        assert_eq!(
            (ended.code, error["kind"].as_str()),
            (64, Some("usage")),
            "{words:?}"
        );
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|message| !message.is_empty())
        );
        assert!(error.get("hint").is_some());
    }
}

#[test]
fn an_unknown_setting_has_a_hint() {
    let ended = Scene::new().run(&["config", "explain", "proxy.pot", "--json"]);
    assert_eq!(json(&ended)["error"]["hint"], "did you mean proxy.port?");
}

#[test]
fn a_home_that_cannot_be_written_is_an_error_and_not_zeros() {
    let scene = Scene::new();
    scene.write("home/.grov", "a file in the way");
    for words in [
        &["status"][..],
        &["sessions"],
        &["memory", "list"],
        &["proxy-status"],
    ] {
        let ended = scene.run(words);
        assert_eq!(ended.code, 2, "{words:?}: {ended:?}");
        assert!(
            ended.stderr.contains("not a directory") && ended.stdout.is_empty(),
            "{words:?}: {ended:?}"
        );
    }
}

#[test]
fn without_a_database_answers_are_empty_without_an_error() {
    let scene = Scene::new();
    let project = scene.folder("work");
    let status = scene.ask(&["status"]);
    assert_eq!(status["project_path"], project.to_str().unwrap());
    for name in ["tasks", "memory_items", "sessions", "steps"] {
        assert_eq!(status[name], 0, "{name}");
    }
    assert_eq!(status["last_task"], Value::Null);
    let proxy_status = scene.ask(&["proxy-status"]);
    assert_eq!(
        proxy_status["proxy"],
        serde_json::json!({"running": false, "state": "not_running", "url": null, "pid": null, "version": null})
    );
    assert_eq!(proxy_status["sessions"], serde_json::json!([]));
    let stats = scene.ask(&["store", "stats"]);
    assert_eq!(
        (&stats["exists"], &stats["spooled"], &stats["bytes"]),
        (&false.into(), &0.into(), &0.into())
    );
    let prune = scene.ask(&["store", "prune"]);
    assert_eq!(
        (&prune["dry_run"], &prune["removed"]["steps"]),
        (&false.into(), &0.into())
    );
    for words in [
        &["status"][..],
        &["proxy-status"],
        &["usage"],
        &["usage", "--by", "day"],
        &["store", "stats"],
        &["store", "prune", "--dry-run"],
    ] {
        let ended = scene.run(words);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(
            !ended.stdout.is_empty() && ended.stderr.is_empty(),
            "{words:?}: {}",
            ended.stderr
        );
    }
    assert!(scene.is_untouched(), "reading makes nothing");
}

#[test]
fn an_unknown_session_is_a_negative_result() {
    let scene = Scene::new();
    let ended = scene.run(&["steps", "nobody"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("nobody"));
    let ended = scene.run(&["steps", "nobody", "--json"]);
    assert_eq!(ended.code, 1);
    assert_eq!(
        json(&ended),
        serde_json::json!({"schema": 1, "session_id": "nobody", "steps": []})
    );
}

#[test]
fn the_project_is_selected_by_directory_or_key() {
    let scene = Scene::new();
    let repository = scene.repository("code/repo", "git@h.example:o/r.git");
    std::fs::create_dir_all(repository.join("src")).unwrap();
    let inside = repository.join("src");
    let answer = scene.ask(&["status", "--project", inside.to_str().unwrap()]);
    assert_eq!(
        (answer["project_path"].as_str(), answer["project_remote"].as_str()),
        (repository.to_str(), Some("h.example/o/r"))
    );
    assert_eq!(
        scene.ask(&["--project", "imported/key", "status"])["project_path"],
        "imported/key"
    );
    assert_eq!(
        scene.within(&inside).ask(&["status"])["project_path"],
        repository.to_str().unwrap()
    );
}

#[test]
fn config_explain_shows_value_origin_and_overridden_values() {
    let scene = Scene::new();
    scene.write("home/.grov/config.toml", "# mine\n[proxy]\nport = 9001\n");
    scene.write("home/.grov/.env", "PROXY_PORT=9002\n");
    let scene = scene.env("GROV_PROXY_PORT", "9003");
    let answer = scene.ask(&["config", "explain", "proxy.port"]);
    assert_eq!(
        (&answer["key"], &answer["value"]),
        (&"proxy.port".into(), &9003.into())
    );
    assert_eq!(answer["origin"]["kind"], "environment");
    assert_eq!(answer["origin"]["name"], "GROV_PROXY_PORT");
    let candidates: Vec<String> = answer["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|candidate| {
            format!(
                "{} {} {} {}",
                candidate["origin"]["kind"].as_str().unwrap(),
                candidate["value"].as_str().unwrap(),
                candidate["origin"]["line"],
                candidate["standing"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        candidates,
        [
            "environment 9003 null used",
            "env_file 9002 1 overridden",
            "user 9001 3 overridden",
            "default 8080 null overridden"
        ]
    );
    let text = scene.run(&["config", "explain", "proxy.port"]).stdout;
    for part in [
        "proxy.port = 9003",
        "environment variable GROV_PROXY_PORT",
        "config.toml:3",
        "--port",
        "PROXY_PORT",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn every_setting_is_listed_and_can_be_explained() {
    let scene = Scene::new();
    let list = scene.ask(&["config", "list"]);
    let settings = list["settings"].as_array().unwrap();
    assert!(settings.len() > 15);
    for setting in settings {
        let key = setting["key"].as_str().unwrap();
        assert_eq!(
            scene.ask(&["config", "explain", key])["value"],
            setting["value"],
            "{key}"
        );
        assert!(scene.run(&["config", "list"]).stdout.contains(key));
    }
}

#[test]
fn a_broken_configuration_exits_with_64_and_names_its_place() {
    let scene = Scene::new();
    scene.write("home/.grov/config.toml", "[proxy]\nport = \"many\"\n");
    for words in [&["status"][..], &["config", "explain", "user"], &["proxy"]] {
        let ended = scene.run(words);
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (64, ""),
            "{words:?}: {}",
            ended.stderr
        );
        assert!(
            ended.stderr.contains("config.toml:2: proxy.port must be"),
            "{}",
            ended.stderr
        );
        let ended = scene.run(&[words, &["--json"]].concat());
        assert_eq!(
            (ended.code, json(&ended)["error"]["kind"].as_str()),
            (64, Some("configuration"))
        );
    }
}

#[test]
fn warnings_about_a_configuration_go_to_standard_error() {
    let scene = Scene::new();
    scene.repository("work", "h.example:o/r");
    scene.write(
        "work/.grov/config.toml",
        "[proxy]\nupstream = 'https://evil.example'\nprot = 1\n",
    );
    let ended = scene.run(&["config", "explain", "proxy.upstream", "--json"]);
    assert_eq!(json(&ended)["value"], "https://api.anthropic.com");
    assert_eq!(json(&ended)["candidates"][0]["standing"], "refused");
    let warnings: Vec<_> = ended.stderr.lines().collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings[0].contains("config.toml:2: proxy.upstream is ignored"),
        "{warnings:?}"
    );
    assert!(warnings[1].contains("did you mean proxy.port?"), "{warnings:?}");
}

#[test]
fn no_home_is_a_clear_error() {
    let scene = Scene::new().without("HOME");
    let ended = scene.run(&["status"]);
    assert_eq!(ended.code, 64);
    assert!(
        ended.stderr.contains("GROV_HOME") && ended.stderr.contains("--home"),
        "{}",
        ended.stderr
    );
    let home = scene.path("elsewhere");
    assert_eq!(scene.run(&["status", "--home", home.to_str().unwrap()]).code, 0);
}

#[test]
fn a_file_that_is_not_a_database_is_a_clear_error() {
    let scene = Scene::new();
    scene.write("home/.grov/grov.db", &"this is no database ".repeat(500));
    for words in [
        &["status"][..],
        &["proxy-status"],
        &["steps", "x"],
        &["usage"],
        &["store", "stats"],
        &["store", "prune"],
    ] {
        let ended = scene.run(words);
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (2, ""),
            "{words:?}: {}",
            ended.stderr
        );
        assert!(
            ended.stderr.contains("grov.db") && ended.stderr.contains("hint: "),
            "{}",
            ended.stderr
        );
        let ended = scene.run(&[words, &["--json"]].concat());
        assert_eq!(
            (ended.code, json(&ended)["error"]["kind"].as_str()),
            (2, Some("store_corrupt")),
            "{words:?}"
        );
    }
}

#[test]
fn completions_are_scripts_for_the_shell() {
    let scene = Scene::new();
    for (shell, sign) in [
        ("bash", "_grov()"),
        ("zsh", "#compdef grov"),
        ("fish", "complete -c grov"),
    ] {
        let ended = scene.run(&["completions", shell]);
        assert_eq!(ended.code, 0);
        assert!(
            ended.stdout.contains(sign) && ended.stdout.contains("proxy-status"),
            "{shell}"
        );
        let answer = scene.ask(&["completions", shell]);
        assert_eq!(
            (&answer["shell"], answer["script"].as_str()),
            (&shell.into(), Some(ended.stdout.as_str()))
        );
    }
}

#[test]
fn bash_accepts_its_completions() {
    let scene = Scene::new();
    let script = scene.write("grov.bash", &scene.run(&["completions", "bash"]).stdout);
    let check = format!(
        "source {} && COMP_WORDS=(grov st) COMP_CWORD=1 && _grov grov st && echo \"${{COMPREPLY[@]}}\"",
        script.display()
    );
    if let Ok(output) = std::process::Command::new("bash")
        .args(["--norc", "-c", &check])
        .output()
    {
        let offered = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(
            offered.trim(),
            "statusline status steps store",
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn a_closed_output_is_not_an_error() {
    let scene = Scene::new();
    for words in [
        &["--help"][..],
        &["completions", "bash"],
        &["config", "list"],
        &["status", "--json"],
        &["--version"],
    ] {
        let ended = scene.run_with_closed_output(words);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{words:?}");
    }
}

#[test]
fn colour_follows_the_flag_and_the_environment() {
    let scene = Scene::new();
    let has_colour = |words: &[&str]| scene.run(words).stdout.contains('\u{1b}');
    assert!(!has_colour(&["config", "list"]), "a pipe is no terminal");
    assert!(has_colour(&["config", "list", "--color", "always"]));
    assert!(!has_colour(&["config", "list", "--color", "always", "--json"]));
    assert!(!has_colour(&["config", "list", "--color", "never"]));
}

#[test]
fn arguments_that_are_not_text_are_handled() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    let scene = Scene::new();
    let odd = OsString::from_vec(b"caf\xe9\x1b[2J".to_vec());
    let ended = scene.run_os(&["steps".into(), odd.clone()]);
    assert_eq!(ended.code, 64, "{}", ended.stderr);
    let ended = scene.run_os(&["status".into(), "--json".into(), "--project".into(), odd.clone()]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(json(&ended)["project_path"], "caf\u{fffd}\u{1b}[2J");
    let ended = scene.run_os(&["status".into(), "--project".into(), odd]);
    assert!(!ended.stdout.contains('\u{1b}'), "{:?}", ended.stdout);
    let ended = scene.run(&["steps", "\u{1b}[2J"]);
    assert!(
        ended.code == 1 && !ended.stderr.contains('\u{1b}'),
        "{:?}",
        ended.stderr
    );
    assert_eq!(scene.run(&["steps", ""]).code, 1);
    assert_eq!(scene.run(&["steps", "--", "--json"]).code, 1);
}

#[test]
fn a_directory_name_cannot_control_the_terminal() {
    let scene = Scene::new();
    let name = "work/a\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}gro\u{9b}b";
    scene.repository(name, "https://example.org/a.git");
    scene.write(&format!("{name}/.grov/config.toml"), "this is no = = toml\n");
    let inside = scene.path(name);
    for words in [
        &["status"][..],
        &["proxy-status"],
        &["config", "explain", "guard.mode"],
        &["doctor"],
        &["goal"],
        &["drift", "status"],
        &["store", "stats"],
        &["memory", "list"],
        &["init", "--scope", "project"],
        &["off"],
        &["status", "--color", "always"],
    ] {
        let ended = Ended::of(&scene.command().current_dir(&inside).args(words).output().unwrap());
        for (stream, text) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
            let emphasis = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m"];
            let text = emphasis
                .iter()
                .fold(text.clone(), |text, code| text.replace(code, ""));
            let raw = text.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{9b}']);
            assert!(!raw, "{words:?} on {stream}: {text:?}");
        }
    }
    let ended = Ended::of(
        &scene
            .command()
            .current_dir(&inside)
            .args(["status"])
            .output()
            .unwrap(),
    );
    let output = format!("{}{}", ended.stdout, ended.stderr);
    assert!(
        output.contains(r"\u{202e}"),
        "the name is shown with codes: {output}"
    );
}
