//! `grov cost`: what the client spent, from its transcripts and from what the proxy saw.

mod ccusage;
mod transcripts;

use anyhow::{Result, ensure};
use grov_tests::Grov;
use serde_json::Value;
use transcripts::{Line, write};

/// A home of Grov beside a home of the client.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir_all(folder.path().join("client/projects"))?;
        Ok(Self { folder })
    }

    fn client(&self) -> std::path::PathBuf {
        self.folder.path().join("client")
    }

    fn grov(&self) -> Grov {
        let client = self.client();
        Grov::on(&self.folder.path().join("grov")).env("CLAUDE_CONFIG_DIR", &client.to_string_lossy())
    }

    fn cost(&self, words: &[&str]) -> Result<Value> {
        let answer = self.grov().run_json(&[&["cost"], words].concat())?;
        ensure!(
            answer.code == Some(0),
            "grov cost {words:?} failed: {}",
            answer.json
        );
        Ok(answer.json)
    }
}

fn keys(answer: &Value) -> Vec<&str> {
    let rows = answer["rows"].as_array().into_iter().flatten();
    rows.filter_map(|row| row["key"].as_str()).collect()
}

#[test]
fn spending_is_grouped_in_every_way_without_a_proxy() -> Result<()> {
    let scene = Scene::new()?;
    let main = Line::new("msg_1", "req_1", "s1")
        .tokens(100, 10)
        .at("2026-11-01T10:00:00.000Z");
    let child = Line::new("msg_2", "req_2", "s1")
        .tokens(50, 5)
        .of_agent("a1")
        .model("claude-haiku-4-5");
    let next = Line::new("msg_3", "req_3", "s2")
        .tokens(7, 3)
        .at("2026-11-02T23:59:59.999Z");
    write(
        &scene.client(),
        "-work-one/s1.jsonl",
        &[main.in_directory("/work/one"), next.clone()],
    )?;
    write(
        &scene.client(),
        "-work-one/s1/subagents/agent-a1.jsonl",
        &[child.in_directory("/work/one")],
    )?;
    write(
        &scene.client(),
        "-work-two/s2.jsonl",
        &[next.in_directory("/work/two")],
    )?;

    let by = |group| scene.cost(&["--by", group]);
    assert_eq!(keys(&by("day")?), ["2026-11-01", "2026-11-02"]);
    assert_eq!(keys(&by("session")?), ["s1", "s2"]);
    assert_eq!(keys(&by("model")?), ["claude-opus-4-8", "claude-haiku-4-5"]);
    assert_eq!(keys(&by("provider")?), ["anthropic"]);
    assert_eq!(keys(&by("agent")?), ["main", "a1"]);
    assert_eq!(
        keys(&by("project")?),
        ["/work/one", "-work-one"],
        "the line that counts may name no directory"
    );
    let all = scene.cost(&[])?;
    assert_eq!(
        (&all["tokens"]["input"], &all["tokens"]["output"]),
        (&157.into(), &18.into()),
        "each response counts once: {all}"
    );
    assert!(all["prices_as_of"].as_str().is_some_and(|date| date.len() == 10));
    let since = scene.cost(&["--since", "2026-11-02"])?;
    assert_eq!(since["tokens"]["input"], 7);
    assert!(
        !scene.folder.path().join("grov/grov.db").exists(),
        "looking makes no database"
    );
    Ok(())
}

#[test]
fn nothing_found_is_a_negative_answer() -> Result<()> {
    let scene = Scene::new()?;
    let answer = scene.grov().run_json(&["cost"])?;
    assert_eq!(answer.code, Some(1));
    assert_eq!(answer.json["rows"], Value::Array(Vec::new()));
    Ok(())
}

#[test]
fn own_prices_override_the_built_in_ones() -> Result<()> {
    let scene = Scene::new()?;
    let line = Line::new("msg_1", "req_1", "s1")
        .tokens(1_000_000, 0)
        .model("in-house");
    write(&scene.client(), "-p/s1.jsonl", &[line])?;
    let before = scene.cost(&[])?;
    assert_eq!(
        (&before["total_usd"], &before["unpriced_tokens"]),
        (&0.0.into(), &1_000_000.into())
    );
    std::fs::create_dir_all(scene.folder.path().join("grov"))?;
    std::fs::write(
        scene.folder.path().join("grov/prices.json"),
        r#"{"models":[{"model":"in-house","provider":"us","input":0.5,"output":1}]}"#,
    )?;
    let after = scene.cost(&["--by", "provider"])?;
    assert_eq!(after["total_usd"], 0.5);
    assert_eq!(keys(&after), ["us"]);
    Ok(())
}

#[test]
fn names_in_transcripts_cannot_control_the_terminal() -> Result<()> {
    let scene = Scene::new()?;
    let hostile = "\u{1b}]0;x\u{7}\u{202e}s1";
    let line = Line::new("msg_1", "req_1", hostile)
        .tokens(1, 1)
        .model("m\u{1b}[2J");
    write(&scene.client(), "-p/s1.jsonl", &[line])?;
    for group in ["session", "model"] {
        let ended = scene.grov().run(&["cost", "--by", group, "--color", "always"])?;
        assert!(
            !ended.stdout.contains(['\u{7}', '\u{202e}']),
            "{:?}",
            ended.stdout
        );
        assert!(!ended.stdout.contains("\u{1b}[2J") && !ended.stdout.contains("\u{1b}]"));
    }
    Ok(())
}
