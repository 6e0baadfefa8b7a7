//! `grov config set` and `grov config unset`.

use crate::scene::{Scene, json};
use serde_json::json as object;
use std::os::unix::fs::PermissionsExt;

const CONFIG: &str = "home/.grov/config.toml";

fn text(scene: &Scene) -> String {
    std::fs::read_to_string(scene.path(CONFIG)).unwrap()
}

#[test]
fn a_setting_is_set_and_removed_and_comments_stay() {
    let scene = Scene::new();
    let answer = scene.ask(&["config", "set", "proxy.port", "9001"]);
    assert_eq!(
        (
            &answer["key"],
            &answer["value"],
            &answer["from"],
            &answer["changed"]
        ),
        (
            &object!("proxy.port"),
            &object!(9001),
            &object!("user"),
            &object!(true)
        )
    );
    let mode = std::fs::metadata(scene.path(CONFIG))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    scene.write(
        CONFIG,
        "# mine\n[proxy]\nport = 9001 # taken\n\n[drift]\nenabled = true\n",
    );
    scene.ask(&["config", "set", "proxy.port", "9002"]);
    scene.ask(&["config", "set", "memory.budget_tokens", "400"]);
    assert_eq!(
        text(&scene),
        "# mine\n[proxy]\nport = 9002 # taken\n\n[drift]\nenabled = true\n\n[memory]\nbudget_tokens = 400\n"
    );
    assert_eq!(
        scene.ask(&["config", "set", "proxy.port", "9002"])["changed"],
        false
    );
    scene.ask(&["config", "unset", "drift.enabled"]);
    assert!(!text(&scene).contains("drift"));
    let ended = scene.run(&["config", "unset", "drift.enabled", "--json"]);
    assert_eq!((ended.code, json(&ended)["changed"].as_bool()), (1, Some(false)));
}

#[test]
fn a_value_that_loading_refuses_is_not_written() {
    let scene = Scene::new();
    scene.write(CONFIG, "[proxy]\nport = 9001\n");
    for (key, value, part) in [
        ("proxy.port", "many", "a whole number"),
        ("proxy.prot", "1", "did you mean proxy.port?"),
        ("guard.mode", "maybe", "one of"),
        ("agent.chat_provider", "openai", ""),
    ] {
        let ended = scene.run(&["config", "set", key, value]);
        if part.is_empty() {
            // Only grov-agentd minds what is missing there.
            assert_eq!(ended.code, 0, "{ended:?}");
            continue;
        }
        assert_eq!((ended.code, ended.stdout.as_str()), (64, ""), "{ended:?}");
        assert!(ended.stderr.contains(part), "{ended:?}");
    }
    assert!(text(&scene).starts_with("[proxy]\nport = 9001\n"));
}

#[test]
fn a_broken_file_can_be_corrected() {
    let scene = Scene::new();
    scene.write(CONFIG, "[proxy]\nport = \"many\"\n");
    assert_eq!(scene.run(&["status"]).code, 64);
    scene.ask(&["config", "set", "proxy.port", "9001"]);
    assert_eq!(scene.run(&["status"]).code, 0);
}

#[test]
fn a_project_has_a_file_of_its_own_and_may_not_set_everything() {
    let scene = Scene::new();
    scene.repository("work", "h.example:o/r");
    let inside = scene.folder("work/src/deep");
    let answer = scene
        .within(&inside)
        .ask(&["config", "set", "drift.check_interval", "5", "--project"]);
    let file = scene.path("work/.grov/config.toml");
    assert_eq!(answer["path"], file.to_str().unwrap());
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        "[drift]\ncheck_interval = 5\n"
    );
    let ended = scene.run(&[
        "config",
        "set",
        "proxy.upstream",
        "https://evil.example",
        "--project",
        "--json",
    ]);
    assert_eq!(
        (ended.code, json(&ended)["error"]["kind"].as_str()),
        (64, Some("refused")),
        "{ended:?}"
    );
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        "[drift]\ncheck_interval = 5\n"
    );
    scene.ask(&["config", "unset", "drift.check_interval", "--project", "."]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "");
}

#[test]
fn what_overrides_a_setting_is_named() {
    let scene = Scene::new().env("PROXY_PORT", "7000");
    let ended = scene.run(&["config", "set", "proxy.port", "9001"]);
    assert!(
        ended.stdout.contains("proxy.port = 7000 (from ") && ended.stdout.contains("PROXY_PORT"),
        "{ended:?}"
    );
}

#[test]
fn a_value_with_which_no_proxy_starts_is_not_written() {
    let scene = Scene::new();
    scene.write(CONFIG, "[proxy]\nport = 9001\n");
    for (key, value, part) in [
        ("proxy.host", "0.0.0.0", "not a loopback address"),
        ("proxy.upstream", "http://127.0.0.1:9001", "the proxy itself"),
    ] {
        let ended = scene.run(&["config", "set", key, value]);
        assert_eq!(ended.code, 64, "{ended:?}");
        assert!(
            ended.stderr.contains(part) && ended.stderr.contains("nothing was changed"),
            "{ended:?}"
        );
        assert_eq!(text(&scene), "[proxy]\nport = 9001\n");
    }
    for (key, value) in [
        ("proxy.enable_tls", "true"),
        ("proxy.enable_auth", "true"),
        ("proxy.host", "0.0.0.0"),
    ] {
        scene.ask(&["config", "set", key, value]);
    }
    let ended = scene.run(&["config", "unset", "proxy.enable_auth"]);
    assert!(
        ended.code == 64 && text(&scene).contains("enable_auth"),
        "{ended:?}"
    );
    // Of a pair, one has to be first.
    let ended = scene.run(&["config", "set", "proxy.tls_cert", "/a.pem"]);
    assert!(
        ended.code == 0 && ended.stderr.contains("proxy.tls_key is not"),
        "{ended:?}"
    );
    let ended = scene.run(&["config", "set", "proxy.tls_key", "/b.pem"]);
    assert!(ended.code == 0 && !ended.stderr.contains("warning"), "{ended:?}");
}
