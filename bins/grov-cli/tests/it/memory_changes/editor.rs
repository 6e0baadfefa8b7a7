//! `grov memory edit` in an editor.

use super::*;

/// A scene whose editor is a script; the draft is its first argument.
fn scene_with_editor(scene: Scene, script: &str) -> Scene {
    let path = scene.write("editor", &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let drafts = scene.folder("drafts");
    let (editor, drafts) = (
        path.to_str().unwrap().to_owned(),
        drafts.to_str().unwrap().to_owned(),
    );
    scene.env("EDITOR", &editor).env("TMPDIR", &drafts)
}

fn drafts(scene: &Scene) -> Vec<std::path::PathBuf> {
    let folder = std::fs::read_dir(scene.path("drafts")).unwrap();
    folder.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn an_editor_changes_a_memory() {
    let scene = scene_with_memories(&[record(FIRST, "check the limit")]);
    let scene = scene_with_editor(
        scene,
        "echo talk; sed 's/no buffering/no copying/' \"$2\" > \"$2.new\" && mv \"$2.new\" \"$2\"",
    );
    // The variable may contain arguments of the editor.
    let editor = format!("{} --wait", scene.path("editor").display());
    let scene = scene.env("VISUAL", &editor);
    let answer = ask(&scene, &["edit", FIRST]);
    assert_eq!(answer["memory"]["constraints"], object!(["no copying"]));
    let mut expected = record(FIRST, "check the limit");
    expected["constraints"] = object!(["no copying"]);
    let after = exported(&scene, FIRST);
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&after[key], value, "{key}");
    }
    assert_eq!(
        drafts(&scene),
        [] as [std::path::PathBuf; 0],
        "nothing is left over"
    );
    assert_eq!(ask(&scene, &["edit", FIRST])["changed"], false);
}

#[test]
fn an_invalid_draft_is_reported_and_kept() {
    for (script, part) in [
        ("echo '{\"goal\": ' > \"$1\"", "line 2 column 0"),
        ("sed -i 's/check/ch\\\\qeck/' \"$1\"", "not a record in JSON"),
        (
            "sed -i 's/2026-01-02/2027-01-02/' \"$1\"",
            "\"created_at\" cannot be changed",
        ),
        ("sed -i '/\"id\"/d' \"$1\"", "\"id\" cannot be changed"),
        (
            "sed -i 's/\"goal\"/\"gaol\"/' \"$1\"",
            "\"gaol\" is not a key of a record",
        ),
        (
            "sed -i 's/\"complete\"/\"done\"/' \"$1\"",
            "bad status: unknown variant `done`, expected one of `complete`",
        ),
        ("sed -i 's/\\[\"relay\"\\]/7/; s/\"relay\"/7/' \"$1\"", "bad tags"),
        ("echo 'x' >> \"$1\"; exit 3", "failed with"),
    ] {
        let scene = scene_with_editor(scene_with_memories(&[record(FIRST, "check the limit")]), script);
        let before = run(&scene, &["export"]).stdout;
        let ended = run(&scene, &["edit", FIRST]);
        assert_eq!(ended.code, 2, "{script}: {ended:?}");
        assert!(ended.stderr.contains(part), "{script}: {}", ended.stderr);
        let [draft] = &drafts(&scene)[..] else {
            panic!("{script}: {:?}", drafts(&scene))
        };
        assert!(
            ended
                .stderr
                .contains(&format!("grov memory edit {FIRST} --from {}", draft.display())),
            "{script}: {}",
            ended.stderr
        );
        let mode = std::fs::metadata(draft).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{script}: only its owner can read it");
        assert_eq!(run(&scene, &["export"]).stdout, before);
        // After a correction the edit continues from the kept draft.
        std::fs::write(draft, before.replace("check the limit", "check all limits")).unwrap();
        let mended = run(&scene, &["edit", FIRST, "--from", draft.to_str().unwrap()]);
        assert_eq!(mended.code, 0, "{script}: {mended:?}");
        assert_eq!(exported(&scene, FIRST)["goal"], "check all limits");
    }
}

#[test]
fn an_unchanged_or_empty_draft_changes_nothing() {
    for (code, script) in [(0, "true"), (0, ": > \"$1\""), (2, "exit 1"), (2, "rm \"$1\"")] {
        let scene = scene_with_editor(scene_with_memories(&[record(FIRST, "check the limit")]), script);
        let before = run(&scene, &["export"]).stdout;
        let ended = run(&scene, &["edit", FIRST]);
        assert_eq!(ended.code, code, "{script}: {ended:?}");
        assert_eq!(run(&scene, &["export"]).stdout, before, "{script}");
        assert!(drafts(&scene).is_empty(), "{script}: {:?}", drafts(&scene));
    }
}

#[test]
fn concurrent_changes_are_not_overwritten() {
    let grov = env!("CARGO_BIN_EXE_grov");
    let script = format!(
        "{grov} memory edit {FIRST} --goal theirs --project {KEY} > /dev/null && sed -i 's/check the limit/mine/' \"$1\""
    );
    let scene = scene_with_editor(scene_with_memories(&[record(FIRST, "check the limit")]), &script);
    let ended = run(&scene, &["edit", FIRST, "--json"]);
    assert_eq!(
        (ended.code, json(&ended)["error"]["kind"].as_str()),
        (2, Some("changed_meanwhile"))
    );
    assert_eq!(exported(&scene, FIRST)["goal"], "theirs");
    assert!(
        std::fs::read_to_string(&drafts(&scene)[0])
            .unwrap()
            .contains("mine")
    );
}
