//! `grov memory export` and `import`.

use super::*;

#[test]
fn an_import_neither_moves_nor_overwrites_memories_of_another_project() {
    let scene = scene_with_memories(&[record(FIRST, "check the limit")]);
    let records = [record(FIRST, "overwritten"), record("new", "paint the shed")];
    let file = scene.write(
        "other.jsonl",
        &records.map(|record| record.to_string() + "\n").concat(),
    );
    let import = |flags: &[&str]| {
        let words = ["memory", "import", file.to_str().unwrap(), "--project", "another"];
        scene.run(&[&words, flags].concat())
    };
    let answer = json(&import(&["--json"]));
    assert_eq!(answer["added"], 1, "{answer}");
    assert_eq!(answer["skipped"], 1, "{answer}");
    assert_eq!(answer["of_other_projects"], 1, "{answer}");
    let ended = import(&[]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("is a memory of"), "{ended:?}");
    assert!(
        ended
            .stdout
            .starts_with("0 added, 0 replaced, 1 unchanged, 1 skipped"),
        "{ended:?}"
    );
    let kept = ask(&scene, &["list"]);
    assert_eq!(kept["memories"][0]["id"], FIRST);
    assert_eq!(kept["memories"][0]["original_query"], "please check the limit");
    std::fs::write(&file, record(FIRST, "overwritten").to_string()).unwrap();
    assert_eq!(import(&[]).code, 1, "nothing was imported");
}

#[test]
fn the_same_import_changes_nothing_the_second_time() {
    let scene = scene_with_memories(&[]);
    let records = [
        r#"{"id":"undated","goal":"paint the shed"}"#,
        r#"{"id":"dated","goal":"mow the lawn","created_at":"2026-05-01T10:00:00.123456789Z"}"#,
    ];
    let file = scene.write("undated.jsonl", &records.join("\n"));
    let import = ["import", file.to_str().unwrap()];
    assert_eq!(ask(&scene, &import)["added"], 2);
    let before = run(&scene, &["export"]);
    let answer = ask(&scene, &import);
    assert_eq!(
        (&answer["added"], &answer["replaced"], &answer["unchanged"]),
        (&0.into(), &0.into(), &2.into())
    );
    assert_eq!(run(&scene, &["export"]).stdout, before.stdout);
}

#[test]
fn pins_and_replacements_survive_an_export() {
    let scene = scene_with_memories(&[record(FIRST, "check the limit"), record(SECOND, "paint the shed")]);
    fill(&scene, async |store| {
        let mut task = store.task(&TaskId::new(FIRST)).await.unwrap().unwrap();
        task.file_pins.push(FilePin {
            path: "with \"quotes\"\tand ö".to_owned(),
            hash: Some("0123456789abcdef0123456789abcdef".to_owned()),
        });
        task.project_remote = Some("h.example/o/r".to_owned());
        task.linked_commit = Some("abc".to_owned());
        task.parent_task_id = Some(TaskId::new(SECOND));
        store.save_task(&Redacted::of(&task)).await.unwrap();
        assert!(
            store
                .supersede(&task.id, Some(&TaskId::new(SECOND)))
                .await
                .unwrap()
        );
    });
    let exported = run(&scene, &["export"]).stdout;
    assert!(
        exported.contains("superseded_by") && exported.contains("file_pins"),
        "{exported}"
    );
    let other = Scene::new();
    let path = other.write("exported.jsonl", &exported);
    for _ in 0..2 {
        ask(&other, &["import", path.to_str().unwrap()]);
        assert_eq!(run(&other, &["export"]).stdout, exported);
    }
}
