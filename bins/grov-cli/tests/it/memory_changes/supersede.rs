//! `grov memory supersede`.

use super::*;

#[test]
fn a_replaced_memory_is_kept_and_marked() {
    let scene = scene_with_memories(&[
        record("old", "first try"),
        record("new", "second try"),
        record("newest", "third"),
    ]);
    assert_eq!(
        ask(&scene, &["supersede", "old", "new"]),
        object!({"schema": 1, "id": "old", "superseded_by": "new", "changed": true})
    );
    assert_eq!(ask(&scene, &["supersede", "old", "new"])["changed"], false);
    assert_eq!(ask(&scene, &["supersede", "new", "newest"])["changed"], true);

    let list = ask(&scene, &["list"]);
    let marks: Vec<(&str, &Value)> = list["memories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|memory| (memory["id"].as_str().unwrap(), &memory["superseded_by"]))
        .collect();
    assert_eq!(
        marks,
        [
            ("old", &object!("new")),
            ("newest", &Value::Null),
            ("new", &object!("newest"))
        ]
    );
    let text = run(&scene, &["list"]).stdout;
    assert_eq!(text.matches("complete, replaced").count(), 2, "{text}");

    let shown = ask(&scene, &["show", "old"]);
    assert_eq!(
        shown["replaced_by"],
        object!([{"id": "new", "goal": "second try"}, {"id": "newest", "goal": "third"}])
    );
    assert_eq!(shown["replaces"], object!([]));
    let shown = ask(&scene, &["show", "newest"]);
    assert_eq!(shown["replaced_by"], object!([]));
    assert_eq!(
        shown["replaces"],
        object!([{"id": "new", "goal": "second try"}, {"id": "old", "goal": "first try"}])
    );
    let text = run(&scene, &["show", "new"]).stdout;
    for part in ["replaced by newest  third", "replaces    old  first try"] {
        assert!(text.contains(part), "{part}: {text}");
    }

    for (old, new) in [("newest", "old"), ("new", "old"), ("old", "old")] {
        let ended = run(&scene, &["supersede", old, new, "--json"]);
        assert_eq!(
            (ended.code, json(&ended)["error"]["kind"].as_str()),
            (1, Some("cycle")),
            "{old} {new}: {ended:?}"
        );
    }
    let ended = run(&scene, &["supersede", "newest", "old"]);
    assert!(ended.stderr.contains("old → new → newest"), "{ended:?}");

    assert_eq!(ask(&scene, &["supersede", "new", "--undo"])["changed"], true);
    assert_eq!(ask(&scene, &["supersede", "new", "--undo"])["changed"], false);
    assert_eq!(
        ask(&scene, &["show", "old"])["replaced_by"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(ask(&scene, &["supersede", "newest", "old"])["changed"], true);
    for words in [
        &["supersede", "old", "unheard-of"][..],
        &["supersede", "unheard-of", "old"],
    ] {
        assert_eq!(run(&scene, words).code, 1, "{words:?}");
    }
    for words in [&["supersede", "old"][..], &["supersede", "old", "new", "--undo"]] {
        assert_eq!(run(&scene, words).code, 64, "{words:?}");
    }
}
