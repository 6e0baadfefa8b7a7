//! `grov statusline`: one line for any input.

use crate::scene::{Ended, Scene};
use std::io::Write;
use std::process::Stdio;

fn printed(scene: &Scene, words: &[&str], given: &[u8]) -> Ended {
    let mut command = scene.command();
    command.args(words).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The command may exit without reading all input.
    let _ = child.stdin.take().unwrap().write_all(given);
    Ended::of(&child.wait_with_output().unwrap())
}

#[test]
fn the_clients_json_becomes_one_line() {
    let scene = Scene::new();
    let given = br#"{"session_id": "s-1", "transcript_path": "/nowhere.jsonl", "model": {"id": "claude-opus-4-8"},
        "cost": {"total_cost_usd": 1.25}, "context_window": {"context_window_size": 200000, "used_percentage": 45,
        "current_usage": {"input_tokens": 0, "cache_read_input_tokens": 88000, "cache_creation_input_tokens": 0,
        "output_tokens": 400}}}"#;
    let ended = printed(&scene, &["statusline"], given);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert_eq!(ended.stdout, "grov: context 45% \u{b7} $1.25 \u{b7} 0 memories\n");
    let wide = printed(&scene, &["statusline", "--wide"], given);
    assert_eq!(
        wide.stdout,
        "grov: context 45% \u{b7} $1.25 \u{b7} 0 memories \u{b7} last: read $0.044, write $0, new $0, out $0.010\n"
    );
    let ended = printed(&scene, &["statusline", "--json"], given);
    let figures: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(figures["classes"]["cache_read"]["tokens"], 88_000);
    assert_eq!(
        (&figures["context_percent"], &figures["schema"]),
        (&45.0.into(), &1.into())
    );
    assert!(scene.is_untouched(), "it only looks");
}

#[test]
fn it_never_fails() {
    let scene = Scene::new();
    scene.write("home/.grov/grov.db", "no database at all");
    scene.write("home/.grov/config.toml", "[broken\n");
    let transcript = scene.write("work/t.jsonl", "{\"type\": \"assistant\", \n\0\n");
    let odd = format!(r#"{{"session_id": "../../x", "transcript_path": {transcript:?}, "cost": 7}}"#);
    let folder = format!(
        r#"{{"session_id": "", "transcript_path": {:?}}}"#,
        scene.path("work")
    );
    let pipe = scene.path("work/pipe.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let pipe = format!(r#"{{"session_id": "s", "transcript_path": {pipe:?}}}"#);
    let long = vec![b'x'; 3 * 1024 * 1024];
    for given in [
        b"".as_slice(),
        b"null",
        b"{\"session_id\": \"s",
        &long,
        odd.as_bytes(),
        folder.as_bytes(),
        pipe.as_bytes(),
    ] {
        let ended = printed(&scene, &["statusline"], given);
        assert_eq!(
            (ended.code, ended.stdout.lines().count(), ended.stderr.as_str()),
            (0, 1, ""),
            "{ended:?}"
        );
    }
}
