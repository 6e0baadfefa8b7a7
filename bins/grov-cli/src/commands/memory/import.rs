//! `grov memory import FILE`

use super::lines::Lines;
use super::record;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::table::{harmless, shortened};
use grov_domain::{Clock, MemoryStore, Project, SystemClock, Task};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Records in one transaction: others get their turn in between.
const BATCH: usize = 1000;
/// Bytes of lines in one transaction.
const BATCH_BYTES: usize = 8 * 1024 * 1024;
/// How often a person is told how far it is.
const PROGRESS: Duration = Duration::from_secs(1);
/// Bad lines that are told one by one.
const MOST_TOLD: u64 = 20;

#[derive(Debug, Default, Serialize)]
struct Answer {
    project_path: String,
    added: u64,
    replaced: u64,
    /// Lines that were left out.
    skipped: u64,
    /// Keys that are not kept, and in how many records they were.
    unknown_keys: BTreeMap<String, u64>,
}

/// What to save next, or why it ended.
enum Next {
    Batch(Vec<Task>),
    End,
}

struct Reading {
    lines: Lines,
    project: Project,
    answer: Answer,
}

pub(super) fn run(context: &Context, file: &Path, terminal: Terminal) -> Outcome {
    let project = context.project()?;
    let mut reading = Reading {
        lines: Lines::open(file)?,
        answer: Answer {
            project_path: project.key().to_owned(),
            ..Answer::default()
        },
        project,
    };
    let started = Instant::now();
    let reading = context.create(|store| async move {
        let mut told = started;
        loop {
            let tasks = match reading.batch() {
                Ok(Next::Batch(tasks)) => tasks,
                Ok(Next::End) => return Ok(Ok(reading)),
                Err(failure) => return Ok(Err(failure)),
            };
            let report = store.import(&tasks).await?;
            reading.answer.added += report.added;
            reading.answer.replaced += report.replaced;
            if told.elapsed() >= PROGRESS {
                told = Instant::now();
                say(&format!(
                    "{} records in {} s",
                    reading.answer.added + reading.answer.replaced,
                    started.elapsed().as_secs()
                ));
            }
        }
    });
    let reading = match reading {
        Ok(Ok(reading)) => reading,
        Ok(Err(failure)) => return Err(failure),
        Err(failure) => return Err(failure),
    };
    let answer = reading.answer;
    if answer.skipped > MOST_TOLD {
        say(&format!(
            "{} more lines were left out",
            answer.skipped - MOST_TOLD
        ));
    }
    for (key, records) in &answer.unknown_keys {
        say(&format!(
            "warning: the key {:?} is not known and was not kept ({records} records)",
            shortened(&harmless(key), 40)
        ));
    }
    let verdict = match (answer.skipped, answer.added + answer.replaced) {
        (1.., 0) => Verdict::Nothing,
        _ => Verdict::Found,
    };
    terminal.answer(answer, text)?;
    Ok(verdict)
}

impl Reading {
    fn batch(&mut self) -> Result<Next, Failure> {
        let mut tasks = Vec::new();
        let mut bytes = 0;
        let now = SystemClock.now();
        while tasks.len() < BATCH && bytes < BATCH_BYTES {
            let Some(line) = self.lines.next()? else {
                break;
            };
            let read = match line.bytes {
                Some(text) => {
                    bytes += text.len();
                    record::read(text, &self.project, now)
                }
                None => Err("is too long".to_owned()),
            };
            match read {
                Ok(read) => {
                    for key in read.unknown {
                        *self.answer.unknown_keys.entry(key).or_default() += 1;
                    }
                    tasks.push(read.task);
                }
                Err(reason) => {
                    self.answer.skipped += 1;
                    if self.answer.skipped <= MOST_TOLD {
                        say(&format!("line {} {}", line.number, harmless(&reason)));
                    }
                }
            }
        }
        Ok(if tasks.is_empty() {
            Next::End
        } else {
            Next::Batch(tasks)
        })
    }
}

fn text(answer: &Answer, style: Style) -> String {
    format!(
        "{} added, {} replaced, {} left out in {}\n",
        answer.added,
        answer.replaced,
        answer.skipped,
        style.bold(&harmless(&answer.project_path))
    )
}
