//! `grov route`: the provider file, routes and agents.

use crate::scene::{self, Scene};
use serde_json::{Value, json};

const FILE: &str = "providers:
  - name: local
    endpoint: http://127.0.0.1:9/v1
    models:
      fast: {model: small-model, fallback: [deep]}
      deep: large-model
rules:
  background: fast
";

fn with_file(text: &str) -> Scene {
    let scene = Scene::new();
    scene.write("home/.grov/providers.yaml", text);
    scene
}

/// The exit code and the JSON answer.
fn answer(scene: &Scene, words: &[&str]) -> (i32, Value) {
    let ended = scene.run(words);
    (ended.code, scene::json(&ended))
}

/// The body of a request with a marker.
fn marked(label: &str) -> String {
    let system = format!("Agent. <!-- @proxy-local-route:af83e9 model={label} -->");
    json!({"model": "claude-opus-5", "system": system, "messages": [{"role": "user", "content": "hi"}]})
        .to_string()
}

#[test]
fn a_valid_file_passes_the_check() {
    let scene = with_file(FILE);
    let (ended, answer) = answer(&scene, &["route", "check", "--json"]);
    assert_eq!(
        (ended, answer["ok"].as_bool(), answer["models"].as_u64()),
        (0, Some(true), Some(2))
    );
    assert_eq!(answer["errors"], json!([]));
}

#[test]
fn every_problem_is_shown_with_file_line_and_hint() {
    let scene = with_file(
        &FILE
            .replace("name: local", "nam: local")
            .replace("[deep]", "[dep]"),
    );
    let (code, answer) = answer(&scene, &["route", "check", "--json"]);
    assert_eq!((code, answer["ok"].as_bool()), (1, Some(false)));
    let first = &answer["errors"][0];
    assert_eq!(first["line"], 2);
    assert!(
        first["file"]
            .as_str()
            .unwrap()
            .ends_with("home/.grov/providers.yaml")
    );
    assert_eq!(first["hint"], "did you mean `name`?");
    let text = scene.run(&["route", "check"]);
    assert!(
        text.stdout.contains("providers.yaml:2: unknown key `nam`"),
        "{text:?}"
    );
}

#[test]
fn without_a_file_the_check_fails_and_says_how_to_create_one() {
    let (code, answer) = answer(&Scene::new(), &["route", "check", "--json"]);
    assert_eq!(code, 1);
    assert_eq!(answer["errors"][0]["hint"], "create one with grov route add");
}

#[test]
fn variables_come_from_the_env_file_of_the_home_and_the_old_file_is_read() {
    let scene = Scene::new();
    let file = FILE.replace("    models:", "    api_key: ${ROUTE_TEST_KEY}\n    models:");
    scene.write("home/.claude-hybrid/config.yaml", &file);
    let (code, answer) = answer(&scene, &["route", "check", "--json"]);
    assert_eq!((code, &answer["errors"]), (0, &json!([])));
    let warning = answer["warnings"][0]["message"].as_str().unwrap();
    assert!(warning.contains("ROUTE_TEST_KEY"), "{warning}");
    let tested = scene.run(&["route", "test", "fast"]);
    assert!(
        tested.code == 2 && tested.stderr.contains("ROUTE_TEST_KEY"),
        "{tested:?}"
    );
    scene.write("home/.grov/.env", "ROUTE_TEST_KEY=hunter2-hunter2\n");
    let list = scene.run(&["route", "list", "--json"]);
    assert_eq!(list.code, 0, "{list:?}");
    assert!(!list.stdout.contains("hunter2"), "{list:?}");
}

#[test]
fn the_list_shows_what_a_request_needs() {
    let (code, answer) = answer(&with_file(FILE), &["route", "list", "--json"]);
    assert_eq!(code, 0);
    let route = &answer["routes"][0];
    assert_eq!(
        (&route["label"], &route["provider"], &route["model"]),
        (&json!("fast"), &json!("local"), &json!("small-model"))
    );
    assert_eq!(route["transforms"], json!(["schema:generic"]));
    assert_eq!(route["healthy"], json!(null));
    let invalid = with_file("providers: [").run(&["route", "list", "--json"]);
    assert_eq!(invalid.code, 64, "{invalid:?}");
}

#[test]
fn a_request_is_explained() {
    let scene = with_file(FILE);
    let explain = |body: &str, more: &[&str]| {
        let path = scene.write("request.json", body);
        let mut arguments = vec!["route", "explain", path.to_str().unwrap(), "--json"];
        arguments.extend(more);
        answer(&scene, &arguments)
    };
    let (code, answer) = explain(&marked("deep"), &[]);
    assert_eq!(code, 0);
    let route = &answer["route"];
    assert_eq!(
        (&route["label"], &route["provider"], &route["model"]),
        (&json!("deep"), &json!("local"), &json!("large-model"))
    );
    assert_eq!(route["reason"], "marker in the system prompt");

    let (_, answer) = explain(r#"{"model":"claude-haiku-4-5","messages":[]}"#, &[]);
    assert_eq!(answer["route"]["reason"], "rule background: claude-haiku-4-5");
    assert_eq!(answer["route"]["fallback"], json!(["deep"]));

    let (code, answer) = explain(
        r#"{"model":"claude-opus-5","messages":[]}"#,
        &["--agent-id", "a1"],
    );
    assert_eq!(
        (code, &answer["route"], &answer["instead"]),
        (0, &json!(null), &json!("anthropic"))
    );

    let misspelled = marked("deep").replace("model=", "model = ");
    let (_, answer) = explain(&misspelled, &[]);
    assert_eq!(answer["instead"], "anthropic");
    assert_eq!(
        answer["misspelled_marker"],
        "<!-- @proxy-local-route:af83e9 model = deep -->"
    );

    let (code, answer) = explain(&marked("dep"), &[]);
    assert_eq!(
        (code, &answer["route"], &answer["instead"]),
        (1, &json!(null), &json!("refused"))
    );

    let (code, answer) = explain("[]", &[]);
    assert_eq!((code, &answer["error"]["kind"]), (2, &json!("input")));
}

#[test]
fn an_agent_file_has_front_matter_and_the_marker() {
    let scene = with_file(FILE);
    let made = scene.run(&[
        "route",
        "agent",
        "helper",
        "--model",
        "fast",
        "--description",
        "Says: \"hi\"\nand more",
    ]);
    assert_eq!(made.code, 0, "{made:?}");
    let path = "work/.claude/agents/helper.md";
    let text = std::fs::read_to_string(scene.path(path)).unwrap();
    let expected = "---\nname: helper\ndescription: \"Says: \\\"hi\\\" and more\"\n---\n<!-- @proxy-local-route:af83e9 model=fast -->\n\n";
    assert!(text.starts_with(expected), "{text}");

    let again = scene.run(&["route", "agent", "helper", "--model", "deep"]);
    assert_eq!(again.code, 2, "{again:?}");
    assert_eq!(std::fs::read_to_string(scene.path(path)).unwrap(), text);
    let forced = scene.run(&["route", "agent", "helper", "--model", "deep", "--force"]);
    assert_eq!(forced.code, 0, "{forced:?}");
    assert!(
        std::fs::read_to_string(scene.path(path))
            .unwrap()
            .contains("model=deep -->")
    );
}

#[test]
fn an_agent_needs_a_known_label_and_a_valid_name() {
    let scene = with_file(FILE);
    let unknown = scene.run(&["route", "agent", "helper", "--model", "fsat"]);
    assert_eq!(unknown.code, 1, "{unknown:?}");
    assert!(unknown.stderr.contains("did you mean `fast`?"), "{unknown:?}");
    for name in ["../evil", "Big", "", "-x"] {
        let refused = scene.run(&["route", "agent", "--model", "fast", "--", name]);
        assert_eq!(refused.code, 64, "{name}: {refused:?}");
    }
    assert!(!scene.path("work/.claude").exists());
}

#[test]
fn a_key_given_instead_of_a_variable_is_not_shown() {
    let scene = Scene::new();
    let ended = scene.run(&[
        "route",
        "add",
        "x",
        "--endpoint",
        "http://127.0.0.1:9/v1",
        "--model",
        "m",
        "--key-env",
        "sk-live-0123456789",
    ]);
    assert_eq!(ended.code, 64);
    assert!(!ended.stderr.contains("0123456789"), "{}", ended.stderr);
    assert!(ended.stderr.contains("name of a variable"), "{}", ended.stderr);
}

#[test]
fn doctor_reports_a_broken_provider_file() {
    let scene = with_file("providers:\n  - nmae: x\n");
    let answer = answer(&scene, &["doctor", "--json"]).1;
    let checks = answer["checks"].as_array().unwrap();
    let check = checks
        .iter()
        .find(|check| check["name"] == "other models")
        .unwrap();
    assert_eq!(check["status"], "fail", "{check}");
}

#[test]
fn doctor_names_an_agent_with_a_misspelled_marker_and_a_key_that_others_can_read() {
    let scene = with_file(&FILE.replace("    models:", "    api_key: hunter2-hunter2\n    models:"));
    let agent = "---\nname: helper\n---\n<!-- @Proxy-Local-Route:af83e9 model=fast -->\n";
    scene.write("home/.claude/agents/helper.md", agent);
    let answer = answer(&scene, &["doctor", "--json"]).1;
    let checks = answer["checks"].as_array().unwrap();
    let evidence = |name: &str| {
        let check = checks.iter().find(|check| check["name"] == name).unwrap();
        assert_eq!(check["status"], "warn", "{check}");
        check["evidence"].as_str().unwrap().to_owned()
    };
    assert!(evidence("marked agents").contains("helper.md"));
    let file = evidence("other models");
    assert!(
        file.contains("other users") && !file.contains("hunter2"),
        "{file}"
    );
}
