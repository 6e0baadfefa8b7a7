//! `grov memory`: import, list, search, export and forget.

use crate::scene::{Ended, Scene, json};
use serde_json::{Value, json as object};

fn run(scene: &Scene, words: &[&str]) -> Ended {
    scene.run(&[&["memory"], words, &["--project", "literal-key"]].concat())
}

fn import(scene: &Scene, text: &[u8]) -> Ended {
    let path = scene.path("records.jsonl");
    std::fs::write(&path, text).unwrap();
    run(scene, &["import", path.to_str().unwrap(), "--json"])
}

fn record(id: &str, text: &str) -> String {
    let record = object!({
        "id": id, "project_path": "elsewhere", "user": "dev", "original_query": text, "goal": text,
        "reasoning_trace": ["looked into it"], "files_touched": ["src/limit.rs"],
        "decisions": [{"choice": "count frames", "reason": "cheap"}], "constraints": ["no buffering"], "tags": ["relay"],
        "created_at": "2026-01-02T03:04:05Z",
    });
    format!("{record}\n")
}

fn results(ended: &Ended) -> Vec<String> {
    let results = json(ended)["results"].clone();
    results
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn imported_memories_are_listed_shown_found_and_exported() {
    let scene = Scene::new();
    let text = record("a", "check the limit on every frame") + &record("b", "paint the shed");
    let ended = import(&scene, text.as_bytes());
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(json(&ended)["added"], 2);
    let again = import(&scene, text.as_bytes());
    assert_eq!(
        (json(&again)["added"].clone(), json(&again)["unchanged"].clone()),
        (0.into(), 2.into())
    );

    let list = json(&run(&scene, &["list", "--json"]));
    assert_eq!(list["schema"], 1);
    let memories = list["memories"].as_array().unwrap();
    assert_eq!(memories.len(), 2);
    for key in [
        "id",
        "project_path",
        "goal",
        "original_query",
        "status",
        "files_touched",
        "decisions",
        "constraints",
        "created_at",
    ] {
        assert!(memories[0].get(key).is_some(), "{key}");
    }
    assert_eq!(memories[0]["project_path"], "literal-key");
    assert_eq!(memories[0]["status"], "complete");

    let shown = run(&scene, &["show", "a"]);
    for part in [
        "check the limit",
        "count frames (cheap)",
        "no buffering",
        "src/limit.rs",
    ] {
        assert!(shown.stdout.contains(part), "{part}: {shown:?}");
    }
    assert_eq!(run(&scene, &["show", "zz"]).code, 1);

    let found = run(&scene, &["search", "--json", "--why", "limits per frame"]);
    assert_eq!(results(&found)[0], "a");
    let first = json(&found)["results"][0].clone();
    let sum: f64 = first["why"]
        .as_object()
        .unwrap()
        .values()
        .map(|share| share.as_f64().unwrap())
        .sum();
    assert!((sum - first["score"].as_f64().unwrap()).abs() < 1e-4, "{first}");
    assert_eq!(run(&scene, &["search", "unheard-of"]).code, 1);
    let by_file = run(
        &scene,
        &["search", "--json", "--files", "limit.rs,other.rs", "unheard-of"],
    );
    assert_eq!(results(&by_file).len(), 2);
    assert_eq!(
        results(&run(&scene, &["search", "--json", "--limit", "1", "limit shed"])).len(),
        1
    );

    let stats = json(&run(&scene, &["stats", "--json"]));
    assert_eq!(
        (stats["memories"].clone(), stats["files"].clone()),
        (2.into(), 1.into())
    );

    let exported = run(&scene, &["export"]).stdout;
    let other = Scene::new();
    assert_eq!(json(&import(&other, exported.as_bytes()))["added"], 2);
    assert_eq!(run(&other, &["export"]).stdout, exported);
    assert_eq!(exported.lines().count(), 2);
}

#[test]
fn bad_lines_are_reported_and_skipped() {
    let scene = Scene::new();
    let mut text = record("good", "good words").into_bytes();
    text.extend_from_slice(b"\n{\"id\": \"x\"\nnot json\n{\"id\":\"y\",\"original_query\":\"\xff\"}\n[]\n");
    text.extend_from_slice(b"{\"original_query\":\"nameless\"}\n{\"id\":\"z\"}\n{\"id\":\"s\",\"goal\":\"g\",\"status\":\"odd\"}\n");
    text.extend_from_slice(b"{\"id\":\"u\",\"goal\":\"only a goal\",\"colour\":\"red\",\"tags\":null}");
    let ended = import(&scene, &text);
    assert_eq!(ended.code, 0, "{ended:?}");
    let answer = json(&ended);
    assert_eq!(
        (answer["added"].clone(), answer["skipped"].clone()),
        (2.into(), 7.into()),
        "{answer}"
    );
    assert_eq!(answer["unknown_keys"], object!({"colour": 1}));
    for number in [3, 4, 5, 6, 7, 8, 9] {
        assert!(
            ended.stderr.contains(&format!("line {number} ")),
            "{number}: {}",
            ended.stderr
        );
    }
    assert!(ended.stderr.contains("\"colour\""), "{}", ended.stderr);

    let all_bad = import(&Scene::new(), b"nothing\nof use\n");
    assert_eq!(all_bad.code, 1);
    let missing = run(&scene, &["import", "/nowhere/file.jsonl", "--json"]);
    assert_eq!(
        (missing.code, json(&missing)["error"]["kind"].clone()),
        (2, "input".into())
    );
}

#[test]
fn a_batch_is_answered_line_by_line_in_order() {
    let scene = Scene::new();
    import(
        &scene,
        (record("a", "check the limit") + &record("b", "paint the shed")).as_bytes(),
    );
    let questions = scene.write(
        "questions.jsonl",
        &[
            object!({"id": "q1", "text": "shed \" * NEAR( -x"}),
            object!({"id": 2, "text": ""}),
            object!({"id": "q3", "text": "limit", "files": ["src/limit.rs"], "before": "2026-02-01T00:00:00Z"}),
            object!({"id": "q4", "text": "limit", "before": "2025-01-01T00:00:00Z", "files": null}),
        ]
        .map(|question| question.to_string())
        .join("\n"),
    );
    let words = [
        "search",
        "--json",
        "--limit",
        "5",
        "--batch",
        questions.to_str().unwrap(),
    ];
    let ended = run(&scene, &words);
    assert_eq!(ended.code, 0, "{ended:?}");
    let lines: Vec<Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let ids: Vec<&Value> = lines.iter().map(|line| &line["id"]).collect();
    assert_eq!(ids, [&object!("q1"), &object!(2), &object!("q3"), &object!("q4")]);
    assert_eq!(lines[0]["results"][0]["id"], "b");
    assert_eq!(lines[1]["results"], object!([]));
    assert_eq!(lines[2]["results"][0]["id"], "a");
    assert_eq!(lines[3]["results"], object!([]));
    assert_eq!(run(&scene, &words).stdout, ended.stdout, "the same again");

    let broken = scene.write("broken.jsonl", "{\"id\":1}\n");
    let ended = run(&scene, &["search", "--batch", broken.to_str().unwrap()]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("line 1"), "{ended:?}");
}

#[test]
fn forgotten_memories_are_removed_from_all_files() {
    let scene = Scene::new();
    import(
        &scene,
        (record("a", "zyxwvutsr") + &record("b", "kept")).as_bytes(),
    );
    std::fs::remove_file(scene.path("records.jsonl")).unwrap();
    let ended = run(&scene, &["forget", "a", "unknown", "--json", "--yes"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(json(&ended)["forgotten"], object!(["a"]));
    assert_eq!(json(&ended)["unknown"], object!(["unknown"]));
    for entry in std::fs::read_dir(scene.path("home/.grov")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            assert!(
                !bytes.windows(9).any(|window| window == b"zyxwvutsr"),
                "{}",
                path.display()
            );
        }
    }
    assert_eq!(run(&scene, &["forget", "a"]).code, 1);
    assert_eq!(json(&run(&scene, &["stats", "--json"]))["memories"], 1);
}

#[test]
fn without_a_database_answers_are_empty_and_none_is_created() {
    let scene = Scene::new();
    assert_eq!(json(&run(&scene, &["list", "--json"]))["memories"], object!([]));
    assert_eq!(run(&scene, &["search", "words"]).code, 1);
    assert_eq!(run(&scene, &["export"]).stdout, "");
    assert_eq!(run(&scene, &["forget", "a"]).code, 1);
    assert!(scene.is_untouched());
}

fn at(scene: &Scene, directory: &std::path::Path, words: &[&str]) -> Ended {
    Ended::of(
        &scene
            .command()
            .current_dir(directory)
            .args(words)
            .output()
            .unwrap(),
    )
}

/// Imports one record for a directory, and returns its project key.
fn remember_at(scene: &Scene, directory: &std::path::Path, id: &str) {
    let path = scene.path("record.jsonl");
    std::fs::write(&path, record(id, "check the limit on every frame")).unwrap();
    let words = ["memory", "import", path.to_str().unwrap(), "--json"];
    let ended = at(scene, directory, &words);
    assert_eq!(json(&ended)["added"], 1, "{ended:?}");
}

fn ids_at(scene: &Scene, project: &str) -> Vec<String> {
    let list = json(&scene.run(&[
        "memory",
        "search",
        "limit of the frame",
        "--json",
        "--project",
        project,
    ]));
    let found = list["results"].as_array().unwrap().clone();
    found
        .iter()
        .map(|one| one["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_moved_repository_adopts_its_memories() {
    let scene = Scene::new();
    let old = scene.repository("old/relay", "https://git.example.com/team/relay.git");
    remember_at(&scene, &old, "m-1");
    let new = scene.repository("new/relay", "https://git.example.com/team/relay.git");
    std::fs::remove_dir_all(&old).unwrap();
    let shown = json(&at(&scene, &new, &["memory", "adopt", "--dry-run", "--json"]));
    assert_eq!(shown["candidates"][0]["exists"], false);
    assert_eq!(shown["adopted"], 0);
    let adopted = json(&at(&scene, &new, &["memory", "adopt", "--json"]));
    assert_eq!(adopted["adopted"], 1, "{adopted}");
    assert_eq!(ids_at(&scene, new.to_str().unwrap()), ["m-1"]);
    assert_eq!(at(&scene, &new, &["memory", "adopt", "--json"]).code, 1);
}

#[test]
fn a_renamed_repository_is_told_the_command_that_adopts_its_memories() {
    let scene = Scene::new();
    let old = scene.repository("old name", "");
    remember_at(&scene, &old, "m-1");
    let new = scene.path("new");
    std::fs::rename(&old, &new).unwrap();
    let listed = at(&scene, &new, &["memory", "list"]);
    assert!(
        listed.stderr.contains("grov memory adopt OLD_DIRECTORY"),
        "{listed:?}"
    );
    let advised = at(&scene, &new, &["memory", "adopt"]);
    let command = format!("grov memory adopt '{}'", old.display());
    assert!(
        advised.code == 1 && advised.stderr.contains(&command),
        "{advised:?}"
    );
    let adopted = json(&at(
        &scene,
        &new,
        &["memory", "adopt", old.to_str().unwrap(), "--json"],
    ));
    assert_eq!(adopted["adopted"], 1, "{adopted}");
}

#[test]
fn another_clone_adopts_copies_once() {
    let scene = Scene::new();
    let old = scene.repository("old/relay", "https://git.example.com/team/relay.git");
    remember_at(&scene, &old, "m-1");
    let new = scene.repository("new/relay", "https://git.example.com/team/relay.git");
    let stranger = scene.repository("stranger", "https://git.example.com/team/other.git");
    assert_eq!(at(&scene, &stranger, &["memory", "adopt", "--json"]).code, 1);
    for added in [1, 0] {
        let adopted = json(&at(&scene, &new, &["memory", "adopt", "--json"]));
        assert_eq!(adopted["adopted"], added, "{adopted}");
        assert_eq!(adopted["candidates"][0]["exists"], true);
    }
    // Each clone lists its own, not those of the other once more.
    for place in [&old, &new] {
        let listed = json(&at(&scene, place, &["memory", "list", "--json"]));
        let memories = listed["memories"].as_array().unwrap();
        let paths: Vec<&Value> = memories.iter().map(|one| &one["project_path"]).collect();
        assert_eq!(paths, [place.to_str().unwrap()], "{listed}");
        let found = json(&at(
            &scene,
            place,
            &["memory", "search", "--json", "limit of the frame"],
        ));
        assert_eq!(found["results"].as_array().unwrap().len(), 1, "{found}");
    }
}
