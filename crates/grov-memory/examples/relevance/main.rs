//! Measures how well memories are ranked, the contribution of each signal, and how rarely an unrelated prompt gets any
//! memory.
//!
//! `cargo run --release -p grov-memory --example relevance -- DIRECTORY`, where the directory holds `docs/PROJECT.jsonl`
//! (memories as `grov memory import` takes them) and `queries.jsonl` (questions with the ids that answer them).
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for a terminal"
)]

mod data;
mod prompts;
mod shelf;

use data::Question;
use grov_domain::{MemoryScope, Task};
use grov_memory::{Found, Query, Ranking, mentioned_files, prompt_kind, search};
use shelf::Shelf;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::ExitCode;
use time::OffsetDateTime;
use time::macros::datetime;

/// The time of questions of other projects: after all memories.
const LATER: OffsetDateTime = datetime!(2100-01-01 0:00 UTC);
/// The number of results of which one can be injected.
const MAX_INJECTED: usize = 3;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(directory) = std::env::args().nth(1) else {
        println!("usage: relevance DIRECTORY (with docs/PROJECT.jsonl and queries.jsonl)");
        return ExitCode::SUCCESS;
    };
    match run(Path::new(&directory)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(directory: &Path) -> Result<(), String> {
    let (projects, questions) = data::read(directory)?;
    floors(&projects, &questions).await?;
    small(&projects, &questions).await?;
    signals(&projects, &questions).await
}

/// The results for a question in the proxy, which knows only the prompt.
async fn prompted(
    shelf: &Shelf,
    question: &Question,
    before: Option<OffsetDateTime>,
    ranking: &Ranking,
) -> Result<Vec<Found>, String> {
    if !prompt_kind(&question.text).is_substantive() {
        return Ok(Vec::new());
    }
    find(shelf, question, &mentioned_files(&question.text), before, ranking).await
}

/// The results of a search for a question with its files.
async fn ask(
    shelf: &Shelf,
    question: &Question,
    before: Option<OffsetDateTime>,
    ranking: &Ranking,
) -> Result<Vec<Found>, String> {
    find(shelf, question, &question.files, before, ranking).await
}

async fn find(
    shelf: &Shelf,
    question: &Question,
    files: &[String],
    before: Option<OffsetDateTime>,
    ranking: &Ranking,
) -> Result<Vec<Found>, String> {
    let query = Query {
        scope: MemoryScope::default(),
        text: question.text.clone(),
        files: files.to_vec(),
        before,
        limit: 100,
    };
    let mut found = search(shelf, &query, ranking)
        .await
        .map_err(|error| error.to_string())?;
    if let Some(own) = &question.exclude_prefix {
        found.retain(|found| !found.task_id.as_str().starts_with(own.as_str()));
    }
    Ok(found)
}

/// The tracks that are averaged.
fn track(question: &Question) -> Option<&'static str> {
    match (question.dataset.as_str(), question.category.as_str()) {
        ("locomo", "multi-hop" | "temporal" | "open-domain" | "single-hop") => Some("conversations"),
        ("history", "explicit" | "explicit-recent") => Some("cited commits"),
        ("history", "same-files") => Some("same files"),
        ("sessions", "plain-prompt" | "names-files" | "plan-prompt") => Some("sessions"),
        _ => None,
    }
}

fn own<'a>(questions: &'a [Question], project: &'a str) -> impl Iterator<Item = &'a Question> {
    questions
        .iter()
        .filter(move |question| question.project == project)
}

/// Whether each result answers the question, and its relevance, best first.
type Judged = Vec<(f64, bool)>;

/// The results above a floor that would be injected.
fn injected(judged: &Judged, floor: f64) -> impl Iterator<Item = &(f64, bool)> {
    judged
        .iter()
        .filter(move |(relevance, _)| *relevance >= floor)
        .take(MAX_INJECTED)
}

/// The number of questions of other projects, and of the same project, with results above a floor.
async fn floors(projects: &HashMap<String, Vec<Task>>, questions: &[Question]) -> Result<(), String> {
    let ranking = Ranking {
        floor: 0.0,
        ..Ranking::for_injection()
    };
    let mut related: BTreeMap<&str, Vec<Judged>> = BTreeMap::new();
    let mut unrelated: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    let generic = prompts::generic();
    for (project, tasks) in projects {
        let shelf = Shelf::of(tasks.clone());
        for question in own(questions, project) {
            let Some(track) = track(question) else { continue };
            let found = prompted(&shelf, question, question.created_at.or(Some(LATER)), &ranking).await?;
            let judged = found.iter().map(|found| {
                (
                    found.relevance,
                    question.relevant.contains_key(found.task_id.as_str()),
                )
            });
            related.entry(track).or_default().push(judged.collect());
        }
        for question in questions
            .iter()
            .filter(|question| question.project != *project)
            .chain(&generic)
        {
            let found = prompted(&shelf, question, Some(LATER), &ranking).await?;
            let most = found.iter().map(|found| found.relevance).fold(0.0, f64::max);
            unrelated
                .entry((question.dataset.clone(), project.clone()))
                .or_default()
                .push(most);
        }
    }
    println!(
        "floor | unrelated: all, mean and most over kinds of prompts and projects, generic | related: something, with an answer, precision@{MAX_INJECTED}"
    );
    for step in 0..=16 {
        let floor = f64::from(step).mul_add(0.5, 2.0);
        let above = |most: &[f64]| share(most.iter().filter(|most| **most >= floor).count(), most.len());
        let foreign = unrelated
            .iter()
            .filter(|((asker, _), _)| asker != prompts::DATASET);
        let pairs: Vec<f64> = foreign.clone().map(|(_, most)| above(most)).collect();
        let all: Vec<f64> = foreign.flat_map(|(_, most)| most).copied().collect();
        let generic: Vec<f64> = unrelated
            .iter()
            .filter(|((asker, _), _)| asker == prompts::DATASET)
            .flat_map(|(_, most)| most)
            .copied()
            .collect();
        print!(
            "{floor:4.1} | {:.4} {:.4} {:.3} {:.3} |",
            above(&all),
            pairs.iter().sum::<f64>() / pairs.len().max(1) as f64,
            pairs.iter().copied().fold(0.0, f64::max),
            above(&generic),
        );
        for (track, asked) in &related {
            let some = asked
                .iter()
                .filter(|judged| injected(judged, floor).count() > 0)
                .count();
            let answered = asked
                .iter()
                .filter(|judged| injected(judged, floor).any(|(_, right)| *right))
                .count();
            let lines: usize = asked.iter().map(|judged| injected(judged, floor).count()).sum();
            let right: usize = asked
                .iter()
                .map(|judged| injected(judged, floor).filter(|(_, right)| *right).count())
                .sum();
            print!(
                " {track} {:.3} {:.3} {:.3} |",
                share(some, asked.len()),
                share(answered, asked.len()),
                share(right, lines)
            );
        }
        println!();
    }
    held_out(&unrelated);
    Ok(())
}

/// For each project: the floor that one in a hundred unrelated prompts of the other projects passes, and the share of
/// its own unrelated prompts that pass this floor and the standard one.
fn held_out(unrelated: &BTreeMap<(String, String), Vec<f64>>) {
    let standard = Ranking::for_injection().floor;
    let foreign: Vec<(&String, f64)> = unrelated
        .iter()
        .filter(|((asker, _), _)| asker != prompts::DATASET)
        .flat_map(|((_, project), most)| most.iter().map(move |most| (project, *most)))
        .collect();
    let projects: std::collections::BTreeSet<&String> = foreign.iter().map(|(project, _)| *project).collect();
    println!("held out | floor by the others | share of its unrelated prompts above that, above {standard}");
    for held in projects {
        let (of_it, others): (Vec<_>, Vec<_>) = foreign.iter().partition(|(project, _)| *project == held);
        let above = |all: &[(&String, f64)], floor: f64| {
            share(all.iter().filter(|(_, most)| *most >= floor).count(), all.len())
        };
        let floor = (0..200)
            .map(|step| f64::from(step) / 10.0)
            .find(|floor| above(&others, *floor) <= 0.01);
        let floor = floor.unwrap_or(f64::INFINITY);
        println!(
            "{held} | {floor:.1} | {:.4} {:.4}",
            above(&of_it, floor),
            above(&of_it, standard)
        );
    }
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// The same for young projects: the share of unrelated and generic prompts with results.
async fn small(projects: &HashMap<String, Vec<Task>>, questions: &[Question]) -> Result<(), String> {
    let ranking = Ranking::for_injection();
    println!(
        "memories | unrelated | generic, at the floor of {}",
        ranking.floor
    );
    let generic = prompts::generic();
    for size in [1, 3, 10, 30, 100] {
        let (mut asked, mut some) = ([0; 2], [0; 2]);
        for (project, tasks) in projects {
            for tasks in tasks.chunks(size).take(100 / size.min(100)).take(10) {
                let shelf = Shelf::of(tasks.to_vec());
                let foreign = questions.iter().filter(|question| question.project != *project);
                let sampled = foreign.step_by(7).map(|question| (0, question));
                for (group, question) in sampled.chain(generic.iter().map(|question| (1, question))) {
                    asked[group] += 1;
                    some[group] += usize::from(
                        !prompted(&shelf, question, Some(LATER), &ranking)
                            .await?
                            .is_empty(),
                    );
                }
            }
        }
        println!(
            "{size:8} | {:.4} | {:.4}",
            share(some[0], asked[0]),
            share(some[1], asked[1])
        );
    }
    Ok(())
}

/// The quality of ranking without each of its signals: recall@5, recall@10, nDCG@10 and MRR@10, averaged over the
/// tracks.
async fn signals(projects: &HashMap<String, Vec<Task>>, questions: &[Question]) -> Result<(), String> {
    let standard = Ranking::default;
    let variants: Vec<(&str, Ranking)> = vec![
        ("nothing", standard()),
        (
            "files touched together",
            Ranking {
                co_change_weight: 0.0,
                ..standard()
            },
        ),
        (
            "recency",
            Ranking {
                recency_weight: 0.0,
                ..standard()
            },
        ),
        (
            "the gate on recency",
            Ranking {
                recency_gate: 1e9,
                ..standard()
            },
        ),
        (
            "the record's own reasoning",
            Ranking {
                trace_weight: 0.0,
                ..standard()
            },
        ),
        (
            "words of paths",
            Ranking {
                path_weight: 0.0,
                ..standard()
            },
        ),
        (
            "neighbours in time",
            Ranking {
                neighbour_weight: 0.0,
                ..standard()
            },
        ),
        (
            "files named",
            Ranking {
                file_weight: 0.0,
                ..standard()
            },
        ),
        (
            "coverage",
            Ranking {
                coverage_weight: 0.0,
                ..standard()
            },
        ),
        (
            "all but words",
            Ranking {
                co_change_weight: 0.0,
                recency_weight: 0.0,
                path_weight: 0.0,
                neighbour_weight: 0.0,
                file_weight: 0.0,
                coverage_weight: 0.0,
                ..standard()
            },
        ),
    ];
    let shelves: Vec<(&String, Shelf)> = projects
        .iter()
        .map(|(project, tasks)| (project, Shelf::of(tasks.clone())))
        .collect();
    println!("left out | macro R@5 R@10 nDCG@10 MRR@10 | the same by track");
    for (name, ranking) in variants {
        let mut tracks: BTreeMap<&str, (usize, [f64; 4])> = BTreeMap::new();
        for (project, shelf) in &shelves {
            for question in own(questions, project) {
                let Some(track) = track(question) else { continue };
                let found = ask(shelf, question, question.created_at, &ranking).await?;
                let (count, sums) = tracks.entry(track).or_default();
                *count += 1;
                for (sum, value) in sums.iter_mut().zip(scores(question, &found)) {
                    *sum += value;
                }
            }
        }
        let means: BTreeMap<&str, [f64; 4]> = tracks
            .iter()
            .map(|(track, (count, sums))| (*track, sums.map(|sum| sum / *count as f64)))
            .collect();
        let overall =
            |place: usize| means.values().map(|mean| mean[place]).sum::<f64>() / means.len().max(1) as f64;
        print!(
            "{name} | {:.3} {:.3} {:.3} {:.3} |",
            overall(0),
            overall(1),
            overall(2),
            overall(3)
        );
        for (track, [five, ten, gain, rank]) in means {
            print!(" {track} {five:.3} {ten:.3} {gain:.3} {rank:.3} |");
        }
        println!();
    }
    Ok(())
}

/// Recall@5, recall@10, nDCG@10, MRR@10.
fn scores(question: &Question, found: &[Found]) -> [f64; 4] {
    let grade = |found: &Found| {
        question
            .relevant
            .get(found.task_id.as_str())
            .copied()
            .unwrap_or(0.0)
    };
    let grades: Vec<f64> = found.iter().take(10).map(grade).collect();
    let hits = |first: usize| grades.iter().take(first).filter(|grade| **grade > 0.0).count() as f64;
    let relevant = question.relevant.len();
    let gain = |grades: &mut dyn Iterator<Item = f64>| -> f64 {
        grades
            .zip(2_u32..)
            .map(|(grade, place)| (grade.exp2() - 1.0) / f64::from(place).log2())
            .sum()
    };
    let mut ideal: Vec<f64> = question.relevant.values().copied().collect();
    ideal.sort_by(|one, other| other.total_cmp(one));
    let first = grades.iter().position(|grade| *grade > 0.0);
    [
        hits(5) / relevant.clamp(1, 5) as f64,
        hits(10) / relevant.clamp(1, 10) as f64,
        gain(&mut grades.iter().copied()) / gain(&mut ideal.into_iter().take(10)).max(f64::MIN_POSITIVE),
        first.map_or(0.0, |place| 1.0 / (place + 1) as f64),
    ]
}
