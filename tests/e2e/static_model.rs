//! Memories embedded by the daemon itself, with the files of a tiny model.

use crate::judge::TestHome;
use anyhow::{Context, Result, ensure};
use grov_tests::{Daemon, Request, eventually, exchange};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// The model's words and the direction of each vector: failure, appearance, or other.
const WORDS: [(&str, [f32; 3]); 8] = [
    ("[UNK]", [0.0, 0.0, 0.0]),
    ("crash", [1.0, 0.1, 0.0]),
    ("panic", [1.0, 0.0, 0.1]),
    ("paint", [0.0, 1.0, 0.1]),
    ("theme", [0.1, 1.0, 0.0]),
    ("upload", [0.1, 0.1, 1.0]),
    ("the", [0.0, 0.0, 0.1]),
    ("memory", [0.1, 0.0, 0.1]),
];

/// A home with a model, which the user's configuration names.
fn home() -> Result<TestHome> {
    let home = TestHome::new()?;
    let folder = home.path().join("models/tiny words");
    fs::create_dir_all(&folder)?;
    let vocabulary: Value = WORDS
        .iter()
        .enumerate()
        .map(|(token, (word, _))| (word.to_string(), token))
        .collect();
    let tokenizer = json!({
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
            "lowercase": true
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary
        }
    });
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string())?;
    let numbers: Vec<u8> = WORDS
        .iter()
        .flat_map(|(_, row)| row)
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let header =
        json!({"embeddings": {"dtype": "F32", "shape": [WORDS.len(), 3], "data_offsets": [0, numbers.len()]}})
            .to_string();
    let length = (header.len() as u64).to_le_bytes();
    let table = [&length[..], header.as_bytes(), &numbers].concat();
    fs::write(folder.join("model.safetensors"), table)?;
    fs::write(
        home.path().join("config.toml"),
        "[embedder]\nprovider = 'static'\nmodel = 'models/tiny words'\n",
    )?;
    Ok(home)
}

fn table(home: &TestHome) -> PathBuf {
    home.path().join("models/tiny words/model.safetensors")
}

fn import(home: &TestHome, prompts: &[&str]) -> Result<()> {
    let record = |(number, prompt): (usize, &&str)| {
        json!({
            "id": format!("memory-{number}"), "original_query": prompt, "goal": prompt, "status": "complete",
            "created_at": "2026-01-01T00:00:00Z"
        })
    };
    let lines: String = prompts
        .iter()
        .enumerate()
        .map(|record_of| format!("{}\n", record(record_of)))
        .collect();
    let file = home.project().join("records.jsonl");
    fs::write(&file, lines)?;
    let answer = home
        .grov()
        .run_json(&[
            "memory",
            "import",
            file.to_str().context("the path is not UTF-8")?,
        ])?
        .json;
    ensure!(answer["added"] == prompts.len(), "{answer:#}");
    Ok(())
}

/// The embedder section of the health page, once `wanted` holds for it.
fn wait_for_embedder(daemon: &Daemon, what: &str, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
    let read = || -> Option<Value> {
        let health = exchange(daemon.port(), &Request::new("GET", "/_grov/health")).ok()?;
        let health: Value = serde_json::from_slice(&health.body).ok()?;
        Some(health["embedder"].clone())
    };
    eventually(what, || read().filter(|embedder| wanted(embedder)))
        .with_context(|| format!("it says {:#?}", read()))
}

/// The ids that the search finds, best first, and the semantic score of each.
fn found(home: &TestHome, query: &str) -> Result<Vec<(String, Option<f64>)>> {
    let answer = home.grov().run_json(&["memory", "search", "--why", query])?.json;
    let results = answer["results"].as_array().context("no results")?;
    Ok(results
        .iter()
        .map(|result| {
            let id = result["id"].as_str().unwrap_or_default().to_owned();
            (id, result["why"]["dense"].as_f64())
        })
        .collect())
}

#[test]
fn memories_are_embedded_without_a_server_and_searched_by_meaning() -> Result<()> {
    let home = home()?;
    import(&home, &["the upload paint", "the upload panic"])?;
    let by_words = found(&home, "upload crash")?;
    ensure!(
        by_words.iter().all(|(_, meaning)| meaning.is_none()),
        "{by_words:?}"
    );

    let daemon = home.with_rules().start()?;
    let status = wait_for_embedder(&daemon, "both memories to be embedded", |embedder| {
        embedder["done"] == 2 && embedder["memories"] == 2
    })?;
    ensure!(
        status["trouble"].is_null()
            && status["model"]
                .as_str()
                .is_some_and(|name| name.starts_with("static/")),
        "{status:#}"
    );
    let by_meaning = found(&home, "upload crash")?;
    let ids: Vec<&str> = by_meaning.iter().map(|(id, _)| id.as_str()).collect();
    ensure!(ids == ["memory-1", "memory-0"], "{by_meaning:?}");
    ensure!(by_meaning[0].1 > by_meaning[1].1, "{by_meaning:?}");
    let unknown = home.grov().run(&["memory", "search", "\u{2603}"])?;
    ensure!(
        unknown.stderr.contains("searching by words alone") && unknown.code().is_some_and(|code| code < 2),
        "{unknown:?}"
    );

    // Different weights are a different model: vectors of the first one are not compared with its own, but computed
    // again.
    let mut numbers = fs::read(table(&home))?;
    let last = numbers.len() - 1;
    numbers[last] ^= 0x80;
    fs::write(table(&home), numbers)?;
    let by_words = found(&home, "upload crash")?;
    ensure!(
        by_words.iter().all(|(_, meaning)| meaning.is_none()),
        "{by_words:?}"
    );
    daemon.stop()?;
    let daemon = home.with_rules().start()?;
    let reembedded = wait_for_embedder(&daemon, "both memories to be embedded again", |embedder| {
        embedder["done"] == 2
    })?;
    ensure!(reembedded["model"] != status["model"], "{reembedded:#}");
    Ok(())
}

#[test]
fn a_truncated_model_file_disables_embedding_and_is_reported() -> Result<()> {
    let home = home()?;
    import(&home, &["the upload paint"])?;
    let numbers = fs::read(table(&home))?;
    fs::write(table(&home), &numbers[..numbers.len() - 5])?;
    let daemon = home.with_rules().start()?;
    let status = wait_for_embedder(&daemon, "the failure to be reported", |embedder| {
        embedder["trouble"].is_string()
    })?;
    let tells = |text: &str| text.contains("model.safetensors cannot be used") && text.contains("truncated");
    ensure!(
        status["model"].is_null() && status["trouble"].as_str().is_some_and(tells),
        "{status:#}"
    );
    ensure!(tells(&daemon.log()), "{}", daemon.log());

    let search = home.grov().run(&["memory", "search", "upload"])?;
    ensure!(search.code() == Some(0) && tells(&search.stderr), "{search:?}");
    let doctor = home.grov().run_json(&["doctor"])?.json;
    let check = doctor["checks"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|check| check["name"] == "embedder")
        .context("doctor does not check the embedder")?;
    ensure!(
        check["ok"] == false && check["evidence"].as_str().is_some_and(tells),
        "{check:#}"
    );
    Ok(())
}
