//! `grov off` and `grov on`.

use crate::scene::{Scene, json};
use serde_json::{Value, json as object};

#[test]
fn a_project_is_turned_off_and_on() {
    let scene = Scene::new();
    let project = scene.path("work").to_str().unwrap().to_owned();
    assert_eq!(
        scene.ask(&["status"])["switch"],
        object!({"on": true, "off_by": null, "sessions_off": []})
    );
    assert_eq!(scene.ask(&["on"])["changed"], false);
    assert!(scene.is_untouched(), "what is on needs no database");

    let ended = scene.run(&["off"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains(&project), "{ended:?}");
    for part in ["was already added to running sessions", "within a second"] {
        assert!(ended.stderr.contains(part), "{part}: {ended:?}");
    }
    assert_eq!(
        scene.ask(&["off"]),
        object!({"schema": 1, "on": false, "scope": "project", "key": project, "changed": false})
    );
    assert_eq!(
        scene.ask(&["status"])["switch"],
        object!({"on": false, "off_by": "project", "sessions_off": []})
    );
    assert!(
        scene
            .run(&["status"])
            .stdout
            .contains("injection off for this project")
    );
    assert_eq!(
        scene.ask(&["status", "--project", "another"])["switch"]["on"],
        true
    );

    assert_eq!(scene.ask(&["on"])["changed"], true);
    assert_eq!(scene.ask(&["status"])["switch"]["on"], true);
    assert!(scene.run(&["status"]).stdout.contains("injection on\n"));
    assert_eq!(scene.ask(&["off", "--project", "another"])["key"], "another");
    assert_eq!(scene.ask(&["status"])["switch"]["on"], true);
}

#[test]
fn all_working_trees_of_a_repository_share_one_switch() {
    let scene = Scene::new();
    let repository = scene.repository("work", "h.example:o/r");
    let inside = scene.folder("work/src");
    assert_eq!(
        scene.within(&inside).ask(&["off"])["key"],
        repository.to_str().unwrap()
    );
    assert_eq!(scene.ask(&["status"])["switch"]["on"], false);
}

#[test]
fn a_single_session_is_turned_off() {
    let scene = Scene::new();
    for words in [
        ["off", "--session", "unheard-of"],
        ["on", "--session", "unheard-of"],
    ] {
        let ended = scene.run(&words);
        assert_eq!(ended.code, 1, "{words:?}");
        assert!(ended.stderr.contains("grov sessions"), "{ended:?}");
    }
    crate::stored::two_sessions(&scene);
    let session = "11111111-aaaa-7000-8000-000000000001";
    let answer = scene.ask(&["off", "--session", session]);
    assert_eq!(
        (&answer["scope"], &answer["key"], &answer["changed"]),
        (&"session".into(), &session.into(), &true.into())
    );
    let status = scene.ask(&["status"]);
    assert_eq!(
        status["switch"],
        object!({"on": true, "off_by": null, "sessions_off": [session]})
    );
    assert!(
        scene
            .run(&["status"])
            .stdout
            .contains("injection on; off for 1 session\n")
    );
    scene.ask(&["on", "--session", session]);
    assert_eq!(scene.ask(&["status"])["switch"]["sessions_off"], object!([]));
    for words in [
        &["off", "--session", "x", "--project", "y"][..],
        &["off", "--session", ""],
        &["off", "x"],
    ] {
        assert_eq!(scene.run(words).code, 64, "{words:?}");
    }
}

#[test]
fn a_prefix_of_a_recorded_session_is_enough() {
    let scene = Scene::new();
    crate::stored::two_sessions(&scene);
    let key = |session: &str| -> Value { scene.ask(&["off", "--session", session])["key"].clone() };
    assert_eq!(key("11111111-a"), "11111111-aaaa-7000-8000-000000000001");
    let ended = scene.run(&["off", "--session", "1111", "--json"]);
    assert_eq!(ended.code, 64);
    assert!(
        json(&ended)["error"]["message"]
            .as_str()
            .unwrap()
            .contains("matches several sessions"),
        "{ended:?}"
    );
}

#[test]
fn a_setting_turns_everything_off() {
    let scene = Scene::new().env("GROV_MEMORY_ENABLED", "false");
    assert_eq!(
        scene.ask(&["status"])["switch"],
        object!({"on": false, "off_by": "setting", "sessions_off": []})
    );
    assert!(scene.run(&["on"]).stderr.contains("memory.enabled is false"));
    // A project's file cannot set it.
    let scene = Scene::new();
    scene.repository("work", "h.example:o/r");
    scene.write("work/.grov/config.toml", "memory.enabled = false\n");
    assert_eq!(scene.ask(&["status"])["switch"]["on"], true);
}
