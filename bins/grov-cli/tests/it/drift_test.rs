//! `grov drift-test`: one action under a goal, judged by rules.

use crate::scene::Scene;
use serde_json::{Value, json as object};

const GOAL: &str = "Fix the login in src/auth.rs. Do not touch the docs.";

fn asked(scene: &Scene, words: &[&str]) -> Value {
    scene.ask(&[&["drift-test"], words].concat())
}

#[test]
fn actions_that_serve_the_goal_are_on_goal() {
    let scene = Scene::new();
    let answer = asked(
        &scene,
        &["edit src/auth.rs to check the password", "--goal", GOAL],
    );
    assert!(answer["score"].as_u64().unwrap() >= 8, "{answer}");
    assert_eq!(
        (&answer["level"], &answer["judged_by"]),
        (&object!("none"), &object!("rules"))
    );
    assert!(!answer["reason"].as_str().unwrap().is_empty());
    assert_eq!(answer["action"]["files"], object!(["src/auth.rs"]));
    assert!(scene.is_untouched(), "nothing is recorded");
}

#[test]
fn commands_that_the_guard_refuses_are_read_as_commands() {
    let scene = Scene::new();
    for command in [
        "terraform destroy -auto-approve",
        "kubectl delete namespace prod",
        "dropdb production",
        "aws s3 rb s3://backups --force",
    ] {
        let answer = asked(&scene, &[command, "--goal", "Fix the login"]);
        assert_eq!(answer["action"]["action_type"], "bash", "{command}: {answer}");
        assert_eq!(answer["findings"][0]["rule"], "danger", "{command}: {answer}");
        assert!(answer["score"].as_u64().unwrap() < 5, "{command}: {answer}");
    }
    let answer = asked(
        &scene,
        &["delete the old theme in src/theme.css", "--goal", "Fix the login"],
    );
    assert_eq!(answer["action"]["action_type"], "edit", "{answer}");
}

#[test]
fn a_constraint_applies_to_changes_and_commands() {
    let scene = Scene::new();
    for words in [
        &["rewrite docs/index.md", "--goal", GOAL][..],
        &["rm -rf docs", "--goal", GOAL],
        &[
            "edit src/theme.css",
            "--goal",
            "Fix the login",
            "--constraint",
            "Do not change src/theme.css",
        ],
    ] {
        let answer = asked(&scene, words);
        assert!(answer["score"].as_u64().unwrap() < 5, "{words:?}: {answer}");
        assert!(
            ["intervene", "halt"].contains(&answer["level"].as_str().unwrap()),
            "{answer}"
        );
        assert_eq!(answer["findings"][0]["rule"], "constraint", "{answer}");
        assert_eq!(answer["reason"], answer["findings"][0]["reason"]);
    }
    let answer = asked(&scene, &["rm -rf docs", "--goal", GOAL]);
    assert_eq!(
        answer["action"],
        object!({
            "action_type": "bash", "files": ["docs"], "command": "rm -rf docs", "effects": ["delete"],
        })
    );
    let text = scene.run(&["drift-test", "rm -rf docs", "--goal", GOAL]).stdout;
    for part in [
        "of 10",
        "correction: ",
        "read as the command rm -rf docs; judged by rules",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn reading_is_never_drift() {
    let scene = Scene::new();
    for command in ["cat docs/index.md", "grep -rn login docs", "ls /etc"] {
        let answer = asked(&scene, &[command, "--goal", GOAL]);
        assert_eq!(answer["score"], 10, "{command}: {answer}");
    }
}

#[test]
fn an_empty_goal_or_action_is_bad_usage() {
    let scene = Scene::new();
    for words in [
        &["drift-test", "edit a.rs"][..],
        &["drift-test", "edit a.rs", "--goal", " "],
        &["drift-test", "", "--goal", "x"],
        &["drift-test"],
    ] {
        assert_eq!(scene.run(words).code, 64, "{words:?}");
    }
}

#[test]
fn without_an_answer_of_the_model_rules_judge() {
    let scene = Scene::new().env("GROV_LLM_PROVIDER", "anthropic");
    let ended = scene.run(&["drift-test", "rm -rf docs", "--goal", GOAL]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("rules judge alone"), "{ended:?}");
}
