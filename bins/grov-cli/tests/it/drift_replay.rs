//! `grov drift replay FILE`: lines in, lines out.

use crate::scene::{Ended, Scene};
use serde_json::{Value, json as object};
use std::io::Write;
use std::process::Stdio;

fn lines(ended: &Ended) -> Vec<Value> {
    let lines = ended.stdout.lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Five readings and an edit of what the goal names.
fn on_goal(id: Value) -> Value {
    let read = object!({"type": "read", "files": ["src/auth.rs"]});
    let edit = object!({"type": "edit", "files": ["src/auth.rs"], "text": "fn login() {}"});
    object!({"seq_id": id, "goal": "Fix the login in src/auth.rs", "actions": [read, read, read, read, read, edit]})
}

#[test]
fn every_line_is_answered_in_order_with_a_score_for_each_action() {
    let scene = Scene::new();
    let text = format!(
        "{}\n\n{}\n",
        on_goal(object!("a")),
        object!({"seq_id": 7, "goal": "", "expected_scope": null, "actions": [], "more": 1})
    );
    let file = scene.write("in.jsonl", &text);
    let ended = scene.run(&["drift", "replay", "--json", file.to_str().unwrap()]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let answers = lines(&ended);
    assert_eq!(
        (&answers[0]["seq_id"], &answers[1]["seq_id"]),
        (&object!("a"), &object!(7))
    );
    assert_eq!(answers[0]["scores"].as_array().unwrap().len(), 6);
    assert!(
        answers[0]["scores"]
            .as_array()
            .unwrap()
            .iter()
            .all(|score| score.as_f64().unwrap() >= 8.0),
        "{answers:?}"
    );
    assert_eq!(answers[0]["corrections"], object!([]));
    assert_eq!(answers[1]["scores"], object!([]));
    assert!(scene.is_untouched(), "nothing is stored");
}

#[test]
fn the_guard_reports_what_it_would_have_asked_about() {
    let scene = Scene::new();
    let line = object!({
        "seq_id": 1, "goal": "Fix the login in src/auth.rs", "constraints": ["Do not touch src/db/"], "actions": [
            {"type": "read", "files": ["src/db/pool.rs"]},
            {"type": "edit", "files": ["src/db/pool.rs"], "text": "x"},
            {"type": "bash", "command": "git push --force"},
            {"type": "bash", "command": "mkdir /srv/try"},
            {"type": "bash", "command": "rm -r /srv/try"},
            {"type": "bash", "command": "mkdir /srv/other", "error": true},
            {"type": "bash", "command": "rm -r ~/other"},
        ]
    });
    let file = scene.write("in.jsonl", &format!("{line}\n"));
    let ended = scene.run(&["drift", "replay", "--guard", "--json", file.to_str().unwrap()]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(
        lines(&ended)[0]["guard"],
        object!([null, "ask", "ask", null, null, null, "ask"])
    );
    let ended = scene.run(&["drift", "replay", "--json", file.to_str().unwrap()]);
    assert_eq!(lines(&ended)[0].get("guard"), None);
    let ended = scene.run(&["drift", "replay", "--guard", file.to_str().unwrap()]);
    assert!(ended.stdout.contains("the guard asks about 3"), "{ended:?}");
    assert_eq!(
        scene.run(&["drift", "replay", "--guard"]).code,
        64,
        "there is no file"
    );
}

#[test]
fn a_sequence_with_prompts_is_judged_by_the_prompts_so_far() {
    let scene = Scene::new();
    let line = object!({
        "seq_id": 1, "goal": "", "actions": [
            {"type": "prompt", "text": "Fix the login in src/auth.rs. Don't touch src/db/."},
            {"type": "edit", "files": ["src/db/pool.rs"], "text": "x"},
            {"type": "prompt", "text": "Good. Now change src/db/pool.rs too: the pool must be closed at logout"},
            {"type": "edit", "files": ["src/db/pool.rs"], "text": "pub fn close() {}"},
        ]
    });
    let file = scene.write("in.jsonl", &format!("{line}\n"));
    let ended = scene.run(&["drift", "replay", "--guard", "--json", file.to_str().unwrap()]);
    let answer = &lines(&ended)[0];
    let below_5 = |place: usize| answer["scores"][place].as_f64().map(|score| score < 5.0);
    assert_eq!([0, 1, 2, 3].map(below_5), [None, Some(true), None, Some(false)]);
    assert_eq!(answer["guard"], object!([null, "ask", null, null]));
    // The guard asked, and the action ran: the user allowed it.
    assert_eq!(answer["corrections"], object!([]));
    let ended = scene.run(&["drift", "replay", "--json", file.to_str().unwrap()]);
    assert_eq!(lines(&ended)[0]["corrections"][0]["action"], 1);
}

#[test]
fn an_answer_of_the_agent_is_what_the_next_prompt_agrees_to() {
    let scene = Scene::new();
    let line = |answer: &str| {
        object!({
            "seq_id": 1, "goal": "", "actions": [
                {"type": "prompt", "text": "Fix the login in src/auth.rs."},
                {"type": "answer", "text": answer},
                {"type": "prompt", "text": "yes"},
                {"type": "bash", "command": "git push origin main"},
            ]
        })
    };
    let text = format!(
        "{}\n{}\n",
        line("Fixed. Shall I push it to main?"),
        line("Fixed.")
    );
    let file = scene.write("in.jsonl", &text);
    let ended = scene.run(&["drift", "replay", "--guard", "--json", file.to_str().unwrap()]);
    let answers = lines(&ended);
    assert_eq!(answers[0]["guard"], object!([null, null, null, null]));
    assert_eq!(answers[1]["guard"], object!([null, null, null, "ask"]));
}

#[test]
fn with_hooks_scores_are_the_same_and_corrections_come_with_prompts() {
    let scene = Scene::new();
    let line = object!({
        "seq_id": 1, "goal": "Fix the login in src/auth.rs", "constraints": ["Do not touch src/db/"], "actions": [
            {"type": "edit", "files": ["src/auth.rs"], "text": "fn login() {}"},
            {"type": "edit", "files": ["src/db/pool.rs"], "text": "x"},
            {"type": "read", "files": ["src/auth.rs"]},
            {"type": "edit", "files": ["src/db/query.rs"], "text": "y"},
        ]
    });
    let file = scene.write("in.jsonl", &format!("{line}\n"));
    let file = file.to_str().unwrap();
    let replayed = |more: &[&str]| {
        let ended = scene.run(&[&["drift", "replay", "--json", file], more].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        lines(&ended).remove(0)
    };
    let said = |answer: &Value| -> Vec<(Value, Value)> {
        let corrections = answer["corrections"].as_array().unwrap().iter();
        corrections
            .map(|one| (one["action"].clone(), one["behind"].clone()))
            .collect()
    };
    let proxy = replayed(&[]);
    assert_eq!(proxy, replayed(&["--path", "proxy"]));
    assert_eq!(
        said(&proxy),
        [(object!(1), Value::Null), (object!(3), Value::Null)]
    );
    assert_eq!(proxy.get("looks"), None);
    let hooks = replayed(&["--path", "hooks", "--every", "3"]);
    assert_eq!(hooks["scores"], proxy["scores"]);
    assert_eq!(said(&hooks), [(object!(1), object!(3)), (object!(3), object!(4))]);
    let looks = hooks["looks"].as_array().unwrap();
    assert_eq!(
        (&looks[0]["behind"], &looks[1]["behind"]),
        (&object!(3), &object!(4))
    );
    assert!(looks[0]["score"].as_u64().unwrap() < 5, "{hooks}");
    let whole = replayed(&["--path", "hooks"]);
    assert_eq!(
        said(&whole),
        [(object!(1), object!(4))],
        "one prompt behind all of them"
    );
    for wrong in [
        &["--path", "mail"][..],
        &["--path", "hooks", "--every", "0"],
        &["--every", "3"],
    ] {
        assert_eq!(
            scene.run(&[&["drift", "replay", file], wrong].concat()).code,
            64,
            "{wrong:?}"
        );
    }
}

#[test]
fn a_malformed_line_is_reported_and_skipped() {
    let scene = Scene::new();
    let text = format!(
        "{}\nnot json\n{{\"seq_id\": 2}}\n{}\n",
        on_goal(object!(1)),
        on_goal(object!(3))
    );
    let file = scene.write("in.jsonl", &text);
    let ended = scene.run(&["drift", "replay", "--json", file.to_str().unwrap()]);
    assert_eq!(ended.code, 1, "{ended:?}");
    let ids: Vec<Value> = lines(&ended).iter().map(|line| line["seq_id"].clone()).collect();
    assert_eq!(ids, [object!(1), object!(3)]);
    for part in ["line 2 is skipped", "line 3 is skipped", "missing field"] {
        assert!(ended.stderr.contains(part), "{part}: {ended:?}");
    }
    let missing = scene.run(&["drift", "replay", "--json", "nowhere.jsonl"]);
    assert_eq!(missing.code, 2, "{missing:?}");
}

#[test]
fn standard_input_gives_the_same_answers_each_time() {
    let scene = Scene::new();
    let text: String = (0..50).map(|id| format!("{}\n", on_goal(object!(id)))).collect();
    let answer = || {
        let mut child = scene
            .command()
            .args(["drift", "replay", "--json", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        Ended::of(&child.wait_with_output().unwrap())
    };
    let first = answer();
    assert_eq!((first.code, lines(&first).len()), (0, 50), "{first:?}");
    assert_eq!(first.stdout, answer().stdout);
    let file = scene.write("in.jsonl", &text);
    let ended = scene.run(&["drift", "replay", file.to_str().unwrap()]);
    assert!(
        ended
            .stdout
            .starts_with("0  6 actions, 0 off goal, 0 corrections\n"),
        "{ended:?}"
    );
}

#[test]
fn a_closed_output_ends_the_replay_quietly() {
    let scene = Scene::new();
    let file = scene.write("in.jsonl", &format!("{}\n", on_goal(object!(1))));
    let ended = scene.run_with_closed_output(&["drift", "replay", "--json", file.to_str().unwrap()]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}
