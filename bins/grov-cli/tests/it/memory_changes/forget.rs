//! `grov memory forget`: what it costs, and what it asks for.

use super::*;

#[test]
fn forgetting_shows_the_cost_first() {
    let scene = scene_with_memories(&[record(FIRST, "check the limit"), record(SECOND, "paint the shed")]);
    record_injection(&scene, "claude-haiku-4-5");
    let answer = ask(&scene, &["forget", FIRST, SECOND, "unheard-of", "--dry-run"]);
    assert_eq!(answer["forgotten"], object!([]));
    assert_eq!(answer["would_forget"], object!([FIRST, SECOND]));
    assert_eq!(answer["unknown"], object!(["unheard-of"]));
    let held = &answer["uses"][0];
    assert_eq!(
        (
            &held["client_session_id"],
            &held["prompt_tokens"],
            &held["may_be_cached"]
        ),
        (&"held-session".into(), &200_000.into(), &true.into())
    );
    assert_eq!(held["memories"], object!([FIRST]));
    assert_eq!(answer["prompt_tokens_at_most"], 200_000);
    // 1.25 dollars for a million tokens written.
    assert_eq!(answer["cost_usd_at_most"], 0.25);
    let text = run(&scene, &["forget", "0aa", "--dry-run"]);
    for part in [
        "would forget 1 memory\n",
        "1 history contains",
        "held-session",
        "200.0k tokens",
        "$0.25 at most",
    ] {
        assert!(text.stdout.contains(part), "{part}: {text:?}");
    }
    assert_eq!(ask(&scene, &["stats"])["memories"], 2, "nothing happened yet");

    let ended = run(&scene, &["forget", FIRST, "--yes"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "forgot 1 memory\n"));
    assert!(ended.stderr.contains("$0.25 at most"), "{ended:?}");
    for name in ["grov.db", "grov.db-wal"] {
        let bytes = std::fs::read(scene.path("home/.grov").join(name)).unwrap_or_default();
        assert!(!bytes.windows(9).any(|window| window == b"zyxwvutsr"), "{name}");
    }
    let ended = run(&scene, &["forget", SECOND, "--yes"]);
    assert!(ended.stderr.contains("no session has its text"), "{ended:?}");
    assert_eq!(run(&scene, &["forget", SECOND, "--dry-run"]).code, 1);
}

#[test]
fn without_a_terminal_forgetting_needs_yes() {
    let scene = scene_with_memories(&[record(FIRST, "check the limit")]);
    let ended = run(&scene, &["forget", FIRST]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("--yes"), "{ended:?}");
    assert_eq!(ask(&scene, &["stats"])["memories"], 1);
}

#[test]
fn an_unknown_price_is_reported_as_unknown() {
    let scene = scene_with_memories(&[record(FIRST, "check the limit")]);
    record_injection(&scene, "some-model");
    let answer = ask(&scene, &["forget", FIRST, "--dry-run"]);
    assert_eq!(
        (&answer["prompt_tokens_at_most"], &answer["cost_usd_at_most"]),
        (&200_000.into(), &Value::Null)
    );
}

#[test]
fn forgetting_as_json_needs_yes_and_ambiguous_names_forget_nothing() {
    let scene = scene_with_memories(&[record(FIRST, "check the limit"), record(SECOND, "paint the shed")]);
    let ended = run(&scene, &["forget", FIRST, "--json"]);
    assert_eq!(ended.code, 64);
    assert!(
        json(&ended)["error"]["message"]
            .as_str()
            .unwrap()
            .contains("--yes"),
        "{ended:?}"
    );
    assert_eq!(run(&scene, &["forget", FIRST, "0189", "--yes"]).code, 64);
    assert_eq!(ask(&scene, &["stats"])["memories"], 2);
    // Named twice, but forgotten once.
    let answer = ask(&scene, &["forget", FIRST, "0aa", "--yes"]);
    assert_eq!(answer["forgotten"], object!([FIRST]));
}
