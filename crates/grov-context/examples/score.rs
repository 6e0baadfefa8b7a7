//! Scores what an agent still has after a compaction, with Grov and without: `cargo run -p grov-context --example score --
//! tests/cases/context/reporting.jsonl`, the tuning half if no file is named. With `--misses`, also what it does not have.
//!
//! A point of a case counts as present if all its keys are in the client's summary or in what Grov gives back.
#![allow(clippy::print_stdout, reason = "the program prints its result")]

use grov_context::{Retention, SessionPoints, restoration};
use grov_domain::{
    ActionSketch, ActionType, EffectKind, Redacted, Statement, StatementSource, SummaryQuestion,
};
use grov_rules::{extract_intent, session_summary};
use grov_session::GoalContractBuilder;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

/// The half of the cases that rules may be tuned on.
const TUNING: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/cases/context/tuning.jsonl"
);

/// The size of the text that the proxy adds, in tokens.
const TOKENS: usize = 1_000;

#[derive(Deserialize)]
struct Case {
    id: String,
    prompts: Vec<String>,
    said: Vec<String>,
    files: Vec<String>,
    summary: String,
    gold: Vec<Gold>,
}

#[derive(Deserialize)]
struct Gold {
    kind: String,
    /// Alternatives of a key are separated by `|`.
    keys: Vec<String>,
}

impl Gold {
    fn is_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let has = |key: &String| key.split('|').any(|key| text.contains(&key.to_lowercase()));
        self.keys.iter().all(has)
    }
}

#[derive(Default)]
struct Count {
    all: usize,
    without: usize,
    with: usize,
    extracted: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (options, files): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|argument| argument.starts_with("--"));
    let path = files.first().map_or(TUNING, String::as_str);
    let shows_misses = options.iter().any(|option| option == "--misses");
    let text = std::fs::read_to_string(path)?;
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let (mut bytes, mut cases, mut given, mut needless) = (0, 0, 0, 0);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let case: Case = serde_json::from_str(line)?;
        let points = points(&case);
        let retention = Retention::of(&points, &case.summary);
        let restored = restoration(&Redacted::of(&retention.missing), TOKENS).unwrap_or_default();
        let all = restoration(&Redacted::of(&points), 100_000).unwrap_or_default();
        cases += 1;
        bytes += restored.len();
        given += retention.lost.len();
        for lost in &retention.lost {
            let golds = case.gold.iter().filter(|gold| gold.is_in(&lost.text));
            let is_needless =
                golds.clone().count() > 0 && golds.clone().all(|gold| gold.is_in(&case.summary));
            needless += usize::from(is_needless);
        }
        for gold in &case.gold {
            let count = counts.entry(gold.kind.clone()).or_default();
            let with = gold.is_in(&format!("{}\n{}", case.summary, &*restored));
            count.all += 1;
            count.without += usize::from(gold.is_in(&case.summary));
            count.with += usize::from(with);
            count.extracted += usize::from(gold.is_in(&all));
            if shows_misses && !with {
                let known = if gold.is_in(&all) {
                    "known"
                } else {
                    "not extracted"
                };
                println!("{} {} {:?}: {known}", case.id, gold.kind, gold.keys);
            }
        }
    }
    println!(
        "{:12} {:>4} {:>9} {:>9} {:>9}",
        "kind", "all", "without", "with", "extracted"
    );
    for (kind, count) in &counts {
        let percent = |part: usize| format!("{:.1} %", part as f64 * 100.0 / count.all.max(1) as f64);
        println!(
            "{kind:12} {:4} {:>9} {:>9} {:>9}",
            count.all,
            percent(count.without),
            percent(count.with),
            percent(count.extracted)
        );
    }
    let mean = bytes / cases.max(1);
    println!(
        "{cases} sessions, {mean} bytes given back on average, {given} points, {needless} of them needless"
    );
    Ok(())
}

/// What Grov knows of a session: by rules, from its prompts, actions and closing texts.
fn points(case: &Case) -> SessionPoints {
    let mut builder = GoalContractBuilder::new(Arc::new(extract_intent));
    for prompt in &case.prompts {
        builder.add_prompt(prompt);
    }
    let contract = builder.contract().clone();
    let edits = case.files.iter().map(|file| ActionSketch {
        files: vec![file.clone()],
        effects: vec![EffectKind::Modify],
        failed: Some(false),
        ..ActionSketch::empty(ActionType::Edit)
    });
    let (last, earlier) = case
        .said
        .split_last()
        .map_or(("", &[][..]), |(last, rest)| (last.as_str(), rest));
    let statements = earlier.iter().map(|text| Statement {
        source: StatementSource::Closing,
        text: text.clone(),
    });
    let question = SummaryQuestion {
        goal: contract.goal.clone(),
        constraints: contract.constraints.clone(),
        prompts: contract.instructions.clone(),
        actions: edits.collect(),
        statements: statements.collect(),
        answer: last.to_owned(),
    };
    SessionPoints::new(&contract, session_summary(&question))
}
