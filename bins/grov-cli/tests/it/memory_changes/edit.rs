//! `grov memory edit` with flags.

use super::*;

#[test]
fn flags_change_a_memory_and_keep_its_origin() {
    let scene = scene_with_memories(&[record(FIRST, "check the limit")]);
    let before = exported(&scene, FIRST);
    let answer = ask(
        &scene,
        &[
            "edit",
            "0000aa",
            "--goal",
            "check every frame",
            "--query",
            "what was asked",
            "--status",
            "partial",
            "--add-constraint",
            "at most 5 ms",
            "--add-constraint",
            "at most 5 ms",
            "--remove-constraint",
            "buffering",
            "--add-decision",
            "stop early: the rest: is not read",
            "--remove-decision",
            "count frames",
            "--add-tag",
            "frames",
            "--remove-tag",
            "relay",
            "--remove-finding",
            "measured",
            "--add-finding",
            "found it",
            "--remove-file",
            "frame.rs",
            "--add-file",
            "src/new.rs",
        ],
    );
    assert_eq!(answer["changed"], true);
    assert_eq!(answer["memory"]["goal"], "check every frame");
    let mut expected = before;
    expected["goal"] = "check every frame".into();
    expected["original_query"] = "what was asked".into();
    expected["status"] = "partial".into();
    expected["constraints"] = object!(["at most 5 ms"]);
    expected["decisions"] = object!([{"choice": "stop early", "reason": "the rest: is not read"}]);
    expected["tags"] = object!(["frames"]);
    expected["reasoning_trace"] = object!(["looked into it", "found it"]);
    expected["files_touched"] = object!(["src/limit.rs", "src/new.rs"]);
    expected["file_pins"] = object!([{"path": "src/limit.rs", "hash": "00"}]);
    assert_eq!(exported(&scene, FIRST), expected);
    // The index is updated.
    assert_eq!(ask(&scene, &["search", "every frame"])["results"][0]["id"], FIRST);
    assert_eq!(run(&scene, &["search", "relay"]).code, 1);

    let again = run(&scene, &["edit", FIRST, "--status", "partial"]);
    assert_eq!(
        (again.code, again.stdout),
        (0, format!("nothing was changed in {FIRST}\n"))
    );
    let ended = run(&scene, &["edit", FIRST, "--goal", ""]);
    assert_eq!(ended.stdout, format!("changed goal of {FIRST}\n"));
    assert_eq!(exported(&scene, FIRST)["goal"], Value::Null);
}

#[test]
fn an_invalid_change_changes_nothing() {
    let scene = scene_with_memories(&[record(FIRST, "check the limit"), record(SECOND, "paint the shed")]);
    let before = run(&scene, &["export"]).stdout;
    for (code, words) in [
        (1, &["edit", "unheard-of", "--goal", "x"][..]),
        (1, &["edit", FIRST, "--goal", "x", "--remove-tag", "unheard-of"]),
        (1, &["edit", FIRST, "--remove-tag", ""]),
        (64, &["edit", "01890000", "--goal", "x"]),
        (64, &["edit", FIRST, "--remove-file", "src/"]),
        (
            64,
            &["edit", FIRST, "--add-decision", "a choice without a reason"],
        ),
        (64, &["edit", FIRST, "--add-tag", " "]),
        (64, &["edit", FIRST, "--query", ""]),
        (64, &["edit", FIRST, "--status", "odd"]),
        (64, &["edit", FIRST, "--goal", "x", "--from", "y"]),
        (2, &["edit", FIRST, "--from", "/nowhere/draft.json"]),
        (2, &["edit", FIRST]),
    ] {
        let ended = run(&scene, words);
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (code, ""),
            "{words:?}: {ended:?}"
        );
        assert!(ended.stderr.starts_with("grov: "), "{words:?}: {ended:?}");
        let ended = run(&scene, &[words, &["--json"]].concat());
        assert_eq!(ended.code, code);
        assert!(
            json(&ended)["error"]["message"].is_string(),
            "{words:?}: {ended:?}"
        );
    }
    assert_eq!(run(&scene, &["export"]).stdout, before);
    let ended = run(&scene, &["show", "01890000"]);
    for part in [FIRST, SECOND, "check the limit", "paint the shed"] {
        assert!(ended.stderr.contains(part), "{part}: {ended:?}");
    }
}

#[test]
fn the_noted_edits_have_the_goal_before_and_no_secret() {
    let scene = scene_with_memories(&[record(FIRST, "check the limit")]);
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    for goal in ["count the frames", &format!("log in with {secret}")] {
        ask(&scene, &["edit", FIRST, "--goal", goal]);
    }
    let database = std::fs::read(scene.path("home/.grov/grov.db")).unwrap_or_default();
    let log = std::fs::read(scene.path("home/.grov/grov.db-wal")).unwrap_or_default();
    let bytes = [database, log].concat();
    let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds("check the limit") && !holds(&secret));
}

#[test]
fn secrets_typed_into_an_edit_are_masked() {
    let scene = scene_with_memories(&[record(FIRST, "check the limit")]);
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let answer = run(
        &scene,
        &[
            "edit",
            FIRST,
            "--add-constraint",
            &format!("log in with {secret}"),
            "--json",
        ],
    );
    assert!(!answer.stdout.contains(&secret), "{answer:?}");
    assert!(!run(&scene, &["export"]).stdout.contains(&secret));
}

#[test]
fn an_edit_reports_sessions_with_the_old_text() {
    let scene = scene_with_memories(&[record(FIRST, "check the limit")]);
    record_injection(&scene, "claude-haiku-4-5");
    let ended = run(&scene, &["edit", FIRST, "--goal", "another"]);
    assert!(
        ended.stderr.contains("1 running session has the old text"),
        "{ended:?}"
    );
}
