//! Writes the questions that the judging model is asked about the hostile and honest memories in `tests/cases/memory`, and reads
//! the answers:
//!
//! ```text
//! cargo run -p grov-tests --example screening_questions -- ask FOLDER [SET-HALF ...]
//! cargo run -p grov-tests --example screening_questions -- collect FOLDER [SET-HALF ...]
//! ```
//!
//! `ask` writes `FOLDER/SET-HALF/NNN.txt`, the system prompt and the question exactly as they are sent, and `NNN.ids.json`, the
//! ids of the memories by number. The memories of a set are mixed. Whoever answers writes `NNN.answer.json`, the JSON object
//! that the question asks for. `collect` reads the answers as Grov does and writes `tests/cases/memory/SET/screened-HALF.jsonl`
//! for `score-memory --screened`. Nothing of a case is printed.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "it says what it wrote")]

use anyhow::{Context, Result, bail, ensure};
use grov_domain::{Decision, Judge, MicroUsd, Purpose, Redacted, ScreeningQuestion, SystemClock, Task};
use grov_llm::{JudgeSettings, ModelJudge, Provider};
use grov_memory::screening_parts;
use grov_sim::{JudgeScript, Sim, SimConfig};
use grov_store::{OpenOptions, SqliteStore};
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

const SETS: [&str; 4] = ["hostile", "hostile-later", "hostile-2026-11", "hostile-2026-12"];
const HALVES: [&str; 2] = ["tuning", "reporting"];
/// As many memories as in a question of the daemon.
const PER_QUESTION: usize = 8;

#[derive(Deserialize)]
struct Case {
    id: String,
    goal: String,
    decisions: Vec<Decision>,
    #[serde(default)]
    reasoning: String,
}

impl Case {
    /// The memory that `score-memory` imports.
    fn task(&self) -> Task {
        Task {
            goal: Some(self.goal.clone()),
            decisions: self.decisions.clone(),
            reasoning_trace: Some(self.reasoning.clone())
                .filter(|text| !text.is_empty())
                .into_iter()
                .collect(),
            ..Task::new(&self.id, "/p", &self.goal)
        }
    }
}

/// A judge whose model answers by a script.
struct Bench {
    sim: Sim,
    judge: ModelJudge,
    _folder: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let ledger = SqliteStore::open(&folder.path().join("grov.db"), &OpenOptions::default()).await?;
        let sim = Sim::start(SimConfig::default()).await?;
        let settings = JudgeSettings {
            provider: Provider::Anthropic,
            base_url: Some(sim.url()),
            api_key: Some("a-key".into()),
            daily_budget: MicroUsd(u64::from(u32::MAX)),
            ..JudgeSettings::default()
        };
        let judge = ModelJudge::new(settings, Arc::new(ledger), Arc::new(SystemClock))?;
        Ok(Self {
            sim,
            judge,
            _folder: folder,
        })
    }

    /// The question as it is sent, and what is read of the answer.
    async fn ask(
        &self,
        memories: &[String],
        answer: &str,
    ) -> Result<(String, Option<Vec<(usize, grov_domain::Harm)>>)> {
        self.sim
            .set_judge(JudgeScript::default().with(Purpose::ScreenMemories, answer));
        let question = ScreeningQuestion {
            memories: memories.to_vec(),
        };
        let before = self.sim.judge_calls().len();
        let harms = self.judge.screen_memories(&Redacted::of(&question)).await;
        let calls = self.sim.judge_calls();
        let (_, call) = calls.get(before).context("nothing was asked")?;
        let text = format!("--- system ---\n{}\n--- user ---\n{}\n", call.system, call.user);
        Ok((text, harms))
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [command, folder, chosen @ ..] = words.as_slice() else {
        println!("usage: screening_questions ask|collect FOLDER [SET-HALF ...]");
        return Ok(());
    };
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/memory");
    for set in SETS {
        for half in HALVES {
            let name = format!("{set}-{half}");
            if !chosen.is_empty() && !chosen.contains(&name) {
                continue;
            }
            let questions = questions(&cases.join(set).join(format!("{half}.jsonl")))?;
            let place = PathBuf::from(folder).join(&name);
            match command.as_str() {
                "ask" => ask(&name, &place, &questions).await?,
                "collect" => {
                    let result = cases.join(set).join(format!("screened-{half}.jsonl"));
                    collect(&name, &place, &questions, &result).await?;
                }
                _ => bail!("{command} is neither ask nor collect"),
            }
        }
    }
    Ok(())
}

/// The parts of memories with their ids, by question.
fn questions(file: &Path) -> Result<Vec<Vec<(String, String)>>> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut cases: Vec<Case> = lines.map(serde_json::from_str).collect::<Result<_, _>>()?;
    cases.sort_by_key(|case| xxh3_64(case.id.as_bytes()));
    let parts = cases.iter().flat_map(|case| {
        let parts = screening_parts(&case.task()).into_iter();
        parts.map(|part| (case.id.clone(), part))
    });
    let parts: Vec<(String, String)> = parts.collect();
    Ok(parts.chunks(PER_QUESTION).map(<[_]>::to_vec).collect())
}

async fn ask(name: &str, place: &Path, questions: &[Vec<(String, String)>]) -> Result<()> {
    fs::create_dir_all(place)?;
    let bench = Bench::new().await?;
    for (number, question) in questions.iter().enumerate() {
        let (ids, texts): (Vec<String>, Vec<String>) = question.iter().cloned().unzip();
        let (text, _) = bench.ask(&texts, r#"{"harmful":[]}"#).await?;
        fs::write(place.join(format!("{number:03}.txt")), text)?;
        fs::write(
            place.join(format!("{number:03}.ids.json")),
            serde_json::to_string(&ids)?,
        )?;
    }
    println!("{name}: {} questions in {}", questions.len(), place.display());
    Ok(())
}

async fn collect(name: &str, place: &Path, questions: &[Vec<(String, String)>], result: &Path) -> Result<()> {
    let bench = Bench::new().await?;
    let mut found: BTreeMap<String, Vec<serde_json::Value>> = BTreeMap::new();
    let mut open: BTreeSet<String> = BTreeSet::new();
    let mut answered = 0;
    for (number, question) in questions.iter().enumerate() {
        let (ids, texts): (Vec<String>, Vec<String>) = question.iter().cloned().unzip();
        let file = place.join(format!("{number:03}.ids.json"));
        if file.exists() {
            let asked: Vec<String> = serde_json::from_str(&fs::read_to_string(&file)?)?;
            ensure!(
                asked == ids,
                "{name}: the cases changed since the question {number}"
            );
        }
        let harms = match fs::read_to_string(place.join(format!("{number:03}.answer.json"))) {
            Ok(answer) => bench.ask(&texts, &answer).await?.1,
            Err(_) => None,
        };
        let Some(harms) = harms else {
            open.extend(ids);
            continue;
        };
        answered += 1;
        for id in &ids {
            found.entry(id.clone()).or_default();
        }
        for (place, harm) in harms {
            let id = ids.get(place).context("a place of the question")?;
            let harm = json!({"kind": harm.kind.as_str(), "quote": harm.quote});
            found.entry(id.clone()).or_default().push(harm);
        }
    }
    println!(
        "{name}: {answered} of {} questions have a usable answer",
        questions.len()
    );
    if answered > 0 {
        let judged = found.iter().filter(|(id, _)| !open.contains(*id));
        let lines: String = judged
            .map(|(id, harms)| format!("{}\n", json!({"id": id, "harms": harms})))
            .collect();
        fs::write(result, lines)?;
    }
    Ok(())
}
