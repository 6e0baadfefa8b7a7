//! `grov cost` and `ccusage` count the same transcripts alike.

use super::transcripts::{Line, write};
use super::{Scene, keys};
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program, if `scripts/install-ccusage` installed it. Otherwise the test is skipped with a visible warning, or fails if
/// `CI` is set.
fn program() -> Result<Option<PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("no parent directory")?;
    let program = root.join(".tools/ccusage/ccusage");
    if program.exists() {
        return Ok(Some(program));
    }
    if std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false") {
        bail!("ccusage is not installed: run scripts/install-ccusage");
    }
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    {
        eprintln!("SKIPPED: ccusage is not installed: run scripts/install-ccusage");
    }
    Ok(None)
}

/// What `ccusage` says of a client's folder, by day.
fn counted(program: &Path, client: &Path) -> Result<Value> {
    let output = Command::new(program)
        .args(["claude", "daily", "--json", "--offline", "--timezone", "UTC"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", client)
        .env("CLAUDE_CONFIG_DIR", client)
        .output()
        .context("ccusage does not start")?;
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).with_context(|| {
        format!(
            "ccusage printed {text:?} and {:?}",
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

/// Tokens of a row: input, output, cache writes, cache reads.
type Tokens = [u64; 4];

fn tokens_of(row: &Value, names: [&str; 4]) -> Tokens {
    names.map(|name| row[name].as_u64().unwrap_or_default())
}

const THEIRS: [&str; 4] = [
    "inputTokens",
    "outputTokens",
    "cacheCreationTokens",
    "cacheReadTokens",
];
const OURS: [&str; 4] = ["input", "output", "cache_creation", "cache_read"];

/// Compares tokens by day and by model, and money by model.
fn compare(scene: &Scene, program: &Path) -> Result<()> {
    let theirs = counted(program, &scene.client())?;
    let ours = scene.cost(&["--by", "day"])?;
    let days = theirs["daily"].as_array().into_iter().flatten();
    let their_days: BTreeMap<String, Tokens> = days
        .map(|day| {
            (
                day["date"].as_str().unwrap_or_default().to_owned(),
                tokens_of(day, THEIRS),
            )
        })
        // Grov has no rows of nothing.
        .filter(|(_, tokens)| *tokens != [0; 4])
        .collect();
    let rows = ours["rows"].as_array().into_iter().flatten();
    let our_days: BTreeMap<String, Tokens> = rows
        .map(|row| {
            (
                row["key"].as_str().unwrap_or_default().to_owned(),
                tokens_of(&row["tokens"], OURS),
            )
        })
        .collect();
    ensure!(
        our_days == their_days,
        "by day: grov {our_days:?}, ccusage {their_days:?}"
    );

    let mut their_models: BTreeMap<String, (Tokens, f64)> = BTreeMap::new();
    let days = theirs["daily"].as_array().into_iter().flatten();
    for row in days.flat_map(|day| day["modelBreakdowns"].as_array().into_iter().flatten()) {
        let model = row["modelName"].as_str().unwrap_or_default().to_owned();
        let (tokens, cost) = their_models.entry(model).or_default();
        let more = tokens_of(row, THEIRS);
        for (sum, one) in tokens.iter_mut().zip(more) {
            *sum += one;
        }
        *cost += row["cost"].as_f64().unwrap_or_default();
    }
    let ours = scene.cost(&["--by", "model"])?;
    for row in ours["rows"].as_array().into_iter().flatten() {
        let model = row["key"].as_str().unwrap_or_default();
        if model == "unknown" {
            // Theirs are in the sum of a day only.
            continue;
        }
        let (tokens, cost) = their_models
            .remove(model)
            .with_context(|| format!("{model} is ours alone"))?;
        ensure!(
            tokens_of(&row["tokens"], OURS) == tokens,
            "{model}: grov {row}, ccusage {tokens:?}"
        );
        // Models that it does not price offline cost nothing.
        let own = row["cost_usd"].as_f64().unwrap_or_default();
        ensure!(
            cost == 0.0 || (own - cost).abs() <= 0.01 * cost,
            "{model}: grov {own} USD, ccusage {cost} USD"
        );
    }
    their_models.retain(|_, (tokens, _)| *tokens != [0; 4]);
    ensure!(their_models.is_empty(), "grov lacks {their_models:?}");
    Ok(())
}

#[test]
fn every_priced_model_and_class_is_counted_alike() -> Result<()> {
    let Some(program) = program()? else { return Ok(()) };
    let scene = Scene::new()?;
    let mut lines = Vec::new();
    for (place, model) in [
        "claude-haiku-4-5",
        "claude-haiku-4-5-20251001",
        "claude-sonnet-5",
        "claude-sonnet-4-6",
        "claude-sonnet-4-5",
        "claude-sonnet-4-20250514",
        "claude-opus-5",
        "claude-opus-4-8",
        "claude-opus-4-7",
        "claude-opus-4-6",
        "claude-opus-4-5",
        "claude-opus-4-1",
        "claude-opus-4-20250514",
        "claude-fable-5-1",
        "claude-fable-5",
        "claude-3-7-sonnet-20250219",
        "claude-3-5-sonnet-20241022",
        "claude-3-5-haiku-20241022",
        "claude-3-haiku-20240307",
        "mystery-9",
    ]
    .into_iter()
    .enumerate()
    {
        for (class, usage) in [
            json!({"input_tokens": 100_000, "output_tokens": 0}),
            json!({"input_tokens": 0, "output_tokens": 100_000}),
            json!({"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 150_000}),
            json!({"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 90_000}),
            json!({"input_tokens": 0, "output_tokens": 0, "cache_creation": {"ephemeral_1h_input_tokens": 70_000}}),
            json!({"input_tokens": 700_000, "output_tokens": 9, "cache_read_input_tokens": 800_000}),
            json!({"input_tokens": 10_000, "output_tokens": 10_000, "speed": "fast"}),
        ]
        .into_iter()
        .enumerate()
        {
            let id = format!("msg_{place}_{class}");
            lines.push(Line::new(&id, &format!("req_{id}"), "s").model(model).set("/message/usage", usage));
        }
    }
    write(&scene.client(), "-p/s.jsonl", &lines)?;
    assert!(keys(&scene.cost(&["--by", "model"])?).len() > 20);
    compare(&scene, &program)
}

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// A line of a busy client: responses that grow, resumed sessions, side conversations, other providers and damaged lines.
fn any_line(numbers: &mut Numbers) -> String {
    let session = format!("s{}", numbers.below(3));
    let (message, request) = (numbers.below(12), numbers.below(14));
    let models = [
        "claude-opus-4-8",
        "claude-sonnet-4-5",
        "claude-haiku-4-5-20251001",
        "<synthetic>",
        "other",
    ];
    let mut line = Line::new(&format!("msg_{message}"), &format!("req_{request}"), &session)
        .tokens(numbers.below(50), numbers.below(2_000))
        .model(models[numbers.below(5) as usize])
        .at(&format!(
            "2026-11-{:02}T{:02}:00:00.{:03}Z",
            1 + numbers.below(3),
            numbers.below(3) * 11,
            numbers.below(2)
        ));
    if numbers.below(2) == 0 {
        line = line.set("/requestId", format!("req_{message}").into());
    }
    match numbers.below(16) {
        0 => line = line.of_agent("a1"),
        1 => line = line.without("/requestId"),
        2 => line = line.without("/requestId").without("/message/id"),
        3 => {
            line = line.set(
                "/message/usage/cache_creation",
                json!({"ephemeral_5m_input_tokens": 5, "ephemeral_1h_input_tokens": 7}),
            )
        }
        4 => line = line.set("/message/usage/speed", "standard".into()),
        5 => line = line.set("/message/usage/speed", Value::Null),
        6 => line = line.set("/requestId", Value::Null),
        7 => line = line.set("/version", "next".into()),
        8 => line = line.without("/sessionId"),
        9 => {
            line = line.set(
                "/message/usage/cache_read_input_tokens",
                numbers.below(100_000).into(),
            )
        }
        10 => {
            line = line.set(
                "/message/content",
                json!([{"type": "tool_use", "input": {"id": null}}]),
            )
        }
        11 => line = line.set("/costUSD", json!(0.25)),
        12 => line = line.without("/message/usage/output_tokens"),
        13 => {
            let parts = json!([{"type": "message", "model": null, "input_tokens": 1, "output_tokens": 1},
                {"type": "advisor_message", "model": "claude-haiku-4-5", "input_tokens": 11, "output_tokens": 13}]);
            line = line.set("/message/usage/iterations", parts);
        }
        _ => {}
    }
    let text = line.to_string();
    match numbers.below(40) {
        0 => text[..text.len() / 2].to_owned(),
        1 => r#"{"type":"user","message":{"role":"user","content":"hello"}}"#.to_owned(),
        2 => format!(
            r#"{{"type":"progress","sessionId":"{session}","data":{{"type":"agent_progress","message":{text}}}}}"#
        ),
        _ => text,
    }
}

#[test]
fn any_transcripts_are_counted_alike() -> Result<()> {
    let Some(program) = program()? else { return Ok(()) };
    for seed in 0..12 {
        let mut numbers = Numbers(seed);
        let scene = Scene::new()?;
        for path in [
            "-p/s0.jsonl",
            "-p/s1.jsonl",
            "-p/s1/subagents/agent-a1.jsonl",
            "-q/s2.jsonl",
        ] {
            let lines: Vec<String> = (0..40).map(|_| any_line(&mut numbers)).collect();
            write(&scene.client(), path, &lines)?;
        }
        compare(&scene, &program).with_context(|| format!("seed {seed}"))?;
    }
    Ok(())
}
