//! `grov memory import FILE`

use super::record;
use crate::arguments::ImportArguments;
use crate::context::Context;
use crate::failure::Failure;
use crate::format::plural;
use crate::lines::Lines;
use crate::output::{ExitStatus, Outcome, Style, note};
use crate::progress::{Position, Progress};
use crate::table::{one_line, truncated};
use grov_domain::{ClientSessionId, Clock, Project, SessionId, StoreConnection, SystemClock, Task, TaskId};
use grov_memory::screened;
use grov_project::{GrovIgnore, without_ignored};
use grov_redact::Redacted;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

/// Maximum records in one transaction, so that other processes can write in between.
const BATCH: usize = 1000;
/// Records in the first transaction, and the fewest in any.
const FIRST_BATCH: usize = 50;
/// How long a transaction is to take with reading and screening its records, so that progress is reported in between.
const BATCH_TIME: Duration = Duration::from_millis(500);
/// Maximum bytes of lines in one transaction.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

#[derive(Debug, Default, Serialize)]
struct Answer {
    project_path: String,
    added: u64,
    replaced: u64,
    /// Records that were already stored.
    unchanged: u64,
    /// Lines that were not imported.
    skipped: u64,
    /// Of these, records whose id belongs to another project.
    of_other_projects: u64,
    /// Records from which texts that `.grovignore` excludes were removed.
    ignored: u64,
    /// Unknown keys, and the number of records with each.
    unknown_keys: BTreeMap<String, u64>,
}

impl Answer {
    fn imported(&self) -> u64 {
        self.added + self.replaced + self.unchanged
    }
}

/// Records to save in one transaction.
#[derive(Default)]
struct Batch {
    tasks: Vec<Task>,
    /// The ids of records without a time.
    undated: HashSet<TaskId>,
    bytes: usize,
    /// The last line that was read; 0 if there is none.
    last_line: u64,
}

struct Import {
    lines: Lines,
    /// The sessions of the records so far, each with the id of its record.
    sessions: HashMap<(ClientSessionId, SessionId), TaskId>,
    project: Project,
    ignore: GrovIgnore,
    answer: Answer,
    progress: Progress,
    /// Maximum records in the next transaction.
    batch: usize,
    /// The last line that is stored or skipped.
    done: u64,
}

pub(super) fn run(context: &Context, arguments: &ImportArguments) -> Outcome {
    let project = context.project()?;
    let mut lines = Lines::open(&arguments.file)?;
    lines.go_to(arguments.from_line)?;
    let mut import = Import {
        progress: Progress::new(arguments.progress, lines.size, "records"),
        lines,
        sessions: HashMap::new(),
        ignore: context.ignore(),
        answer: Answer {
            project_path: project.key().to_owned(),
            ..Answer::default()
        },
        project,
        batch: FIRST_BATCH,
        done: arguments.from_line - 1,
    };
    let outcome = context.create(async |store| {
        let outcome = import.run(store).await;
        import.answer.skipped = import.progress.finish();
        // Moves the write-ahead log into the database, so that the next hook need not read it. Nothing is lost if this fails.
        let _ = store.close().await;
        Ok(outcome)
    })?;
    outcome.map_err(|failure| {
        let done = import.done;
        failure.hint(format!(
            "lines up to {done} are imported; continue with --from-line {}",
            done + 1
        ))
    })?;
    let answer = import.answer;
    report(&answer);
    let status = ExitStatus::success_if(answer.skipped == 0 || answer.imported() > 0);
    context.answer(answer, text)?;
    Ok(status)
}

fn report(answer: &Answer) {
    for (key, records) in &answer.unknown_keys {
        let key = truncated(&one_line(key), 40);
        note!("warning: the unknown key {key:?} was ignored ({records} records)");
    }
    if answer.ignored > 0 {
        let records = plural(answer.ignored, "record", "records");
        note!("{records} imported without what .grovignore excludes");
    }
    if answer.of_other_projects > 0 {
        let records = plural(answer.of_other_projects, "record was", "records were");
        note!(
            "{records} skipped because a memory of another project has the id, and an import does not change other projects: \
             run `grov memory forget ID` there first, or change the record's id"
        );
    }
}

impl Import {
    async fn run(&mut self, store: &dyn StoreConnection) -> Result<(), Failure> {
        loop {
            let start = Instant::now();
            let mut batch = Batch::default();
            let filled = self.fill(&mut batch);
            if !batch.tasks.is_empty() {
                self.save(store, &mut batch).await?;
            }
            self.done = self.done.max(batch.last_line);
            if !filled? {
                return Ok(());
            }
            self.batch = next_batch(self.batch, start.elapsed());
            self.progress.update(Position {
                line: self.done,
                records: self.answer.imported(),
                bytes: self.lines.bytes,
            });
        }
    }

    /// Reads the next batch. Returns whether more lines may follow. After an error the batch holds what was read before.
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, Failure> {
        let now = SystemClock.now();
        while batch.tasks.len() < self.batch && batch.bytes < BATCH_BYTES {
            let Some(line) = self.lines.next()? else {
                return Ok(false);
            };
            let number = line.number;
            batch.last_line = number;
            batch.bytes += line.bytes.unwrap_or_default().len();
            let read = match line.bytes {
                Some(text) => record::read(text, &self.project, now),
                None => Err("is too long".to_owned()),
            };
            match read {
                Ok(read) => {
                    for key in read.unknown {
                        *self.answer.unknown_keys.entry(key).or_default() += 1;
                    }
                    if read.is_undated {
                        batch.undated.insert(read.task.id.clone());
                    }
                    batch.tasks.push(screened(self.without_ignored(read.task)));
                }
                Err(reason) => self.progress.skip(&format!("line {number} {reason}")),
            }
        }
        Ok(true)
    }

    async fn save(&mut self, store: &dyn StoreConnection, batch: &mut Batch) -> Result<(), Failure> {
        keep_times(store, batch).await?;
        keep_memories_of_sessions(store, batch, &mut self.sessions).await?;
        let report = store.import(&Redacted::each(&batch.tasks)).await?;
        self.answer.added += report.added;
        self.answer.replaced += report.replaced;
        self.answer.unchanged += report.unchanged;
        for refused in &report.refused {
            self.answer.of_other_projects += 1;
            let (id, project) = (&refused.id, &refused.project_path);
            self.progress
                .skip(&format!("record {id} is a memory of {project}"));
        }
        Ok(())
    }

    fn without_ignored(&mut self, task: Task) -> Task {
        if self.ignore.is_empty() {
            return task;
        }
        let kept = without_ignored(task.clone(), &self.ignore);
        self.answer.ignored += u64::from(kept != task);
        kept
    }
}

/// How many records fit into a transaction after one of `records`, full or not, took this long.
fn next_batch(records: usize, took: Duration) -> usize {
    let fitting = records as u128 * BATCH_TIME.as_millis() / took.as_millis().max(1);
    let fitting = usize::try_from(fitting).unwrap_or(BATCH);
    // At most doubled: a batch may have been small for another reason.
    fitting.min(2 * records).clamp(FIRST_BATCH, BATCH)
}

/// A record without a time keeps the time of its first import.
async fn keep_times(store: &dyn StoreConnection, batch: &mut Batch) -> Result<(), Failure> {
    if batch.undated.is_empty() {
        return Ok(());
    }
    let undated: Vec<TaskId> = batch.undated.iter().cloned().collect();
    let stored = store.memories(&undated).await?.into_iter();
    let times: BTreeMap<TaskId, _> = stored.map(|task| (task.id, task.created_at)).collect();
    for task in batch
        .tasks
        .iter_mut()
        .filter(|task| batch.undated.contains(&task.id))
    {
        if let Some(time) = times.get(&task.id) {
            task.created_at = *time;
        }
    }
    Ok(())
}

/// Takes the session from a record whose session has another memory already, which it would replace: only a record with a known
/// id replaces one.
async fn keep_memories_of_sessions(
    store: &dyn StoreConnection,
    batch: &mut Batch,
    sessions: &mut HashMap<(ClientSessionId, SessionId), TaskId>,
) -> Result<(), Failure> {
    let ids: Vec<TaskId> = batch.tasks.iter().map(|task| task.id.clone()).collect();
    let known: HashSet<TaskId> = store
        .memories(&ids)
        .await?
        .into_iter()
        .map(|task| task.id)
        .collect();
    for task in &mut batch.tasks {
        let (Some(client), Some(session)) = (&task.client_session_id, &task.session_id) else {
            continue;
        };
        let key = (client.clone(), session.clone());
        let is_taken = match sessions.get(&key) {
            Some(id) => *id != task.id,
            None if known.contains(&task.id) => false,
            None => {
                let stored = store.tasks_of_session(client).await?;
                stored
                    .iter()
                    .any(|other| other.session_id.as_ref() == Some(session) && other.id != task.id)
            }
        };
        if is_taken {
            task.client_session_id = None;
            task.session_id = None;
        } else {
            sessions.insert(key, task.id.clone());
        }
    }
    Ok(())
}

fn text(answer: &Answer, style: Style) -> String {
    format!(
        "{} added, {} replaced, {} unchanged, {} skipped in {}\n",
        answer.added,
        answer.replaced,
        answer.unchanged,
        answer.skipped,
        style.bold(&one_line(&answer.project_path))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_that_takes_long_reports_progress_each_second() {
        let mut batch = FIRST_BATCH;
        let mut imported = 0;
        // 6 ms a record: a batch never takes a second.
        for _ in 0..40 {
            let took = Duration::from_millis(6) * u32::try_from(batch).unwrap();
            assert!(took < Duration::from_secs(1), "{batch} records");
            imported += batch;
            batch = next_batch(batch, took);
        }
        assert!(imported > 2500, "{imported}");
        // Fast ones grow to the most, slow ones shrink to the fewest.
        let grown = (0..20).fold(FIRST_BATCH, |batch, _| {
            next_batch(batch, Duration::from_millis(1))
        });
        assert_eq!(grown, BATCH);
        assert_eq!(next_batch(BATCH, Duration::from_secs(600)), FIRST_BATCH);
    }
}
