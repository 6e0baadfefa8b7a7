//! Saving many tasks at once.
//!
//! Going to the connection's thread and back costs more than writing a row, so rows are written in few statements; and
//! while they are written, the next tasks are redacted and taken apart.

use super::index::{Entry, Indexing, tasks_of};
use super::terms::Terms;
use crate::door;
use crate::sqlite::tasks::{insert_tasks, replace_task};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{ImportReport, Task};
use sqlx::sqlite::SqliteConnection;
use std::collections::HashMap;

/// Tasks prepared and written at once.
const AT_ONCE: usize = 256;
/// So many are prepared before the writing of others is looked after.
const BETWEEN: usize = 8;

impl SqliteStore {
    pub(super) async fn import_tasks(&self, tasks: &[Task]) -> Result<ImportReport, StoreError> {
        let mut report = ImportReport::default();
        // Of several with the same id the last one stays.
        let mut last: HashMap<&str, usize> = HashMap::with_capacity(tasks.len());
        for (place, task) in tasks.iter().enumerate() {
            report.replaced += u64::from(last.insert(task.id.as_str(), place).is_some());
        }
        let tasks: Vec<&Task> = tasks
            .iter()
            .enumerate()
            .filter(|(place, task)| last.get(task.id.as_str()) == Some(place))
            .map(|(_, task)| task)
            .collect();
        let mut portions = tasks.chunks(AT_ONCE);
        // Before the lock is taken: other processes wait for it.
        let mut ready = prepared(portions.next().unwrap_or_default()).await;
        let mut writer = self.writer().await?;
        let connection = writer.connection()?;
        let mut indexing = Indexing::default();
        while !ready.is_empty() {
            let next = prepared(portions.next().unwrap_or_default());
            let (written, next) = tokio::join!(write(connection, ready, &mut indexing, &mut report), next);
            written.map_err(|error| self.error(error))?;
            ready = next;
        }
        let finished = indexing.finish(connection).await;
        finished.map_err(|error| self.error(error))?;
        writer.commit().await.map_err(|error| self.error(error))?;
        Ok(report)
    }
}

/// A task as it may be stored, with the terms under which it is found.
struct Prepared {
    task: Task,
    terms: Terms,
}

impl Prepared {
    fn of(task: &Task) -> Self {
        let task = door::task(task);
        let terms = Terms::of(&task);
        Self { task, terms }
    }
}

/// Prepares tasks, now and then giving way.
async fn prepared(tasks: &[&Task]) -> Vec<Prepared> {
    let mut prepared = Vec::with_capacity(tasks.len());
    for tasks in tasks.chunks(BETWEEN) {
        prepared.extend(tasks.iter().map(|task| Prepared::of(task)));
        tokio::task::yield_now().await;
    }
    prepared
}

/// Writes what is new or has changed.
async fn write(
    connection: &mut SqliteConnection,
    prepared: Vec<Prepared>,
    indexing: &mut Indexing,
    report: &mut ImportReport,
) -> Result<(), sqlx::Error> {
    let ids: Vec<&str> = prepared.iter().map(|new| new.task.id.as_str()).collect();
    let known = tasks_of(connection, &ids).await?;
    let known: HashMap<&str, &Task> = known.iter().map(|task| (task.id.as_str(), task)).collect();
    report.replaced += known.len() as u64;
    report.added += (prepared.len() - known.len()) as u64;
    let (mut together, mut alone) = (Vec::new(), Vec::new());
    for new in prepared {
        match known.get(new.task.id.as_str()) {
            // An import that is repeated has little to do.
            Some(known) if **known == new.task => {}
            None if new.task.client_session_id.is_none() => together.push(new),
            _ => alone.push(new),
        }
    }
    let tasks: Vec<&Task> = together.iter().map(|new| &new.task).collect();
    insert_tasks(connection, &tasks).await?;
    let entries = together
        .iter_mut()
        .map(|new| Entry::new(new.task.id.as_str(), &new.task, std::mem::take(&mut new.terms)));
    indexing.add(connection, entries.collect()).await?;
    for new in alone {
        replace_task(connection, &new.task, new.terms, indexing).await?;
    }
    Ok(())
}
