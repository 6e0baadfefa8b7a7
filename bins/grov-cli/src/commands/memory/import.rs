//! `grov memory import FILE`

use super::record;
use crate::arguments::ImportArguments;
use crate::assembly::CommandStore;
use crate::context::Context;
use crate::failure::Failure;
use crate::lines::Lines;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::progress::{Mark, Progress};
use crate::show::some;
use crate::table::{harmless, shortened};
use grov_domain::{Clock, Project, SystemClock, Task, TaskId};
use grov_project::{GrovIgnore, without_ignored};
use grov_redact::Redacted;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use time::OffsetDateTime;

/// Records in one transaction: others get their turn in between.
const BATCH: usize = 1000;
/// Bytes of lines in one transaction.
const BATCH_BYTES: usize = 8 * 1024 * 1024;
/// Bad lines that are told one by one.
const MOST_TOLD: u64 = 20;

#[derive(Debug, Default, Serialize)]
struct Answer {
    project_path: String,
    added: u64,
    replaced: u64,
    /// Records that were there just so.
    unchanged: u64,
    /// Lines that were left out, for whatever reason.
    skipped: u64,
    /// Of these, records that belong to another project.
    of_other_projects: u64,
    /// Records that lost what `.grovignore` keeps out.
    ignored: u64,
    /// Keys that are not kept, and in how many records they were.
    unknown_keys: BTreeMap<String, u64>,
}

/// Records to save in one transaction.
struct Batch {
    tasks: Vec<Task>,
    /// The ids of those without a time of their own.
    undated: Vec<TaskId>,
    /// The last line that was read for it; 0: none.
    last: u64,
    then: Then,
}

/// What comes behind a batch.
enum Then {
    More,
    End,
    Broken(Failure),
}

struct Reading {
    lines: Lines,
    project: Project,
    ignore: GrovIgnore,
    answer: Answer,
    progress: Progress,
    /// The last line that is in memory, or was left out.
    done: u64,
}

pub(super) fn run(context: &Context, arguments: &ImportArguments, terminal: Terminal) -> Outcome {
    let project = context.project()?;
    let mut lines = Lines::open(&arguments.file)?;
    lines.go_to(arguments.from_line)?;
    let mut reading = Reading {
        progress: Progress::new(arguments.progress, lines.size, "records"),
        lines,
        ignore: context.ignore(),
        answer: Answer {
            project_path: project.key().to_owned(),
            ..Answer::default()
        },
        project,
        done: arguments.from_line - 1,
    };
    let ended = context.create(async |store| {
        let ended = reading.all(store).await;
        reading.progress.close();
        // In order, so that no hook finds much to be read in front of the database. What was saved is, also without.
        let _ = store.close().await;
        Ok((reading, ended))
    });
    let (reading, ended) = ended?;
    if let Err(failure) = ended {
        return Err(failure.with_hint(format!(
            "the lines up to {} are done; go on with --from-line {}",
            reading.done,
            reading.done + 1
        )));
    }
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
    if answer.ignored > 0 {
        say(&format!(
            "{} lost what .grovignore keeps out",
            some(answer.ignored, "record", "records")
        ));
    }
    if answer.of_other_projects > 0 {
        say(&format!(
            "{} left out because another project has a memory of that id; an import changes no other project: \
             `grov memory forget ID` there first, or give the record another id",
            some(answer.of_other_projects, "record was", "records were")
        ));
    }
    let taken = answer.added + answer.replaced + answer.unchanged;
    let verdict = match (answer.skipped, taken) {
        (1.., 0) => Verdict::Nothing,
        _ => Verdict::Found,
    };
    terminal.answer(answer, text)?;
    Ok(verdict)
}

impl Reading {
    /// Saves batch after batch.
    async fn all(&mut self, store: &dyn CommandStore) -> Result<(), Failure> {
        loop {
            let mut batch = self.batch();
            if !batch.tasks.is_empty() {
                keep_times(store, &mut batch).await?;
                let report = store.import(&Redacted::each(&batch.tasks)).await?;
                self.answer.added += report.added;
                self.answer.replaced += report.replaced;
                self.answer.unchanged += report.unchanged;
                for refused in &report.refused {
                    self.answer.of_other_projects += 1;
                    self.left_out(&format!(
                        "record {} is a memory of {}",
                        refused.id, refused.project_path
                    ));
                }
            }
            self.done = self.done.max(batch.last);
            match batch.then {
                Then::More => self.progress.tell(Mark {
                    line: self.done,
                    records: self.answer.added + self.answer.replaced + self.answer.unchanged,
                    bytes: self.lines.bytes,
                }),
                Then::End => return Ok(()),
                Then::Broken(failure) => return Err(failure),
            }
        }
    }

    /// What to save next.
    fn batch(&mut self) -> Batch {
        let mut batch = Batch {
            tasks: Vec::new(),
            undated: Vec::new(),
            last: 0,
            then: Then::More,
        };
        let mut bytes = 0;
        let now = SystemClock.now();
        while batch.tasks.len() < BATCH && bytes < BATCH_BYTES {
            let line = match self.lines.next() {
                Ok(Some(line)) => line,
                Ok(None) => {
                    batch.then = Then::End;
                    break;
                }
                Err(failure) => {
                    batch.then = Then::Broken(failure);
                    break;
                }
            };
            let number = line.number;
            batch.last = number;
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
                    let task = self.kept(read.task);
                    if read.is_undated {
                        batch.undated.push(task.id.clone());
                    }
                    batch.tasks.push(task);
                }
                Err(reason) => self.left_out(&format!("line {number} {reason}")),
            }
        }
        batch
    }

    /// Counts what is not imported, and says why.
    fn left_out(&mut self, reason: &str) {
        self.answer.skipped += 1;
        if self.answer.skipped <= MOST_TOLD {
            self.progress.close();
            say(&harmless(reason));
        }
    }

    /// The task without what the project keeps out.
    fn kept(&mut self, task: Task) -> Task {
        if self.ignore.is_empty() {
            return task;
        }
        let kept = without_ignored(task.clone(), &self.ignore);
        self.answer.ignored += u64::from(kept != task);
        kept
    }
}

/// A record without a time keeps the one it got when it was first imported.
async fn keep_times(store: &dyn CommandStore, batch: &mut Batch) -> Result<(), Failure> {
    if batch.undated.is_empty() {
        return Ok(());
    }
    let known = store.memories(&batch.undated).await?;
    let times: HashMap<&TaskId, OffsetDateTime> =
        known.iter().map(|task| (&task.id, task.created_at)).collect();
    let undated: HashSet<&TaskId> = batch.undated.iter().collect();
    for task in &mut batch.tasks {
        if let Some(time) = times.get(&task.id).filter(|_| undated.contains(&task.id)) {
            task.created_at = *time;
        }
    }
    Ok(())
}

fn text(answer: &Answer, style: Style) -> String {
    format!(
        "{} added, {} replaced, {} unchanged, {} left out in {}\n",
        answer.added,
        answer.replaced,
        answer.unchanged,
        answer.skipped,
        style.bold(&harmless(&answer.project_path))
    )
}
