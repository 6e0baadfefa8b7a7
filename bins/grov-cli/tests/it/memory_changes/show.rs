//! `grov memory show`: names of memories, and their files.

use super::*;

#[test]
fn a_memory_is_found_by_a_prefix_or_suffix_of_its_id() {
    let scene = scene_with_memories(&[
        record(FIRST, "check the limit"),
        record(SECOND, "paint the shed"),
        record("a", "short"),
        record("%_", "odd"),
    ]);
    for (name, id) in [
        (FIRST, FIRST),
        ("000000aa", FIRST),
        ("00bb", SECOND),
        // An exact id, although other ids end with it.
        ("a", "a"),
        ("%", "%_"),
        ("_", "%_"),
    ] {
        assert_eq!(ask(&scene, &["show", name])["memory"]["id"], id, "{name}");
    }
    for (code, name) in [(1, "zz"), (1, ""), (1, "0aabb"), (64, "0189"), (1, "'"), (1, "*")] {
        let ended = run(&scene, &["show", name, "--json"]);
        assert_eq!(ended.code, code, "{name}");
        assert!(json(&ended)["error"].is_object(), "{name}");
    }
}

#[test]
fn the_files_of_a_memory_are_compared_with_their_current_content() {
    let scene = Scene::new();
    let project = scene.repository("work", "h.example:o/r");
    for (path, text) in [
        ("same.rs", "one"),
        ("changed.rs", "one"),
        ("gone.rs", "one"),
        ("unpinned.rs", "one"),
    ] {
        scene.write(&format!("work/{path}"), text);
    }
    let names = ["same.rs", "changed.rs", "gone.rs", "back.rs"].map(str::to_owned);
    let pins = grov_project::pins(&project, &names);
    let mut task = record(FIRST, "check the limit");
    task["files_touched"] = object!(["same.rs", "changed.rs", "gone.rs", "back.rs", "unpinned.rs"]);
    task["file_pins"] = serde_json::to_value(&pins).unwrap();
    let file = scene.write("records.jsonl", &task.to_string());
    scene.ask(&["memory", "import", file.to_str().unwrap()]);
    scene.write("work/changed.rs", "two");
    scene.write("work/back.rs", "one");
    std::fs::remove_file(project.join("gone.rs")).unwrap();

    let inside = scene.folder("work/src");
    let shown = scene.within(&inside).ask(&["memory", "show", FIRST]);
    assert_eq!(
        shown["files"],
        object!([
            {"path": "same.rs", "since": "unchanged"}, {"path": "changed.rs", "since": "changed"},
            {"path": "gone.rs", "since": "gone"}, {"path": "back.rs", "since": "back"},
            {"path": "unpinned.rs", "since": null},
        ])
    );
    let text = scene.run(&["memory", "show", FIRST]).stdout;
    for part in [
        "same.rs (unchanged since)",
        "changed.rs (changed since)",
        "gone.rs (deleted since)",
        "back.rs (exists again)",
        "file        unpinned.rs\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // From another directory the files are not compared.
    let elsewhere = scene.folder("elsewhere");
    let shown = scene.within(&elsewhere).ask(&["memory", "show", FIRST]);
    assert_eq!(shown["files"][0], object!({"path": "same.rs", "since": null}));
}
