//! Saving many tasks at once.
//!
//! Going to the connection's thread and back costs more than writing a row, so rows are written in few statements; and
//! while they are written, the next tasks are redacted and taken apart.

use super::index::{Entry, Indexing, load_tasks};
use super::terms::Terms;
use crate::sqlite::columns::millis;
use crate::sqlite::connection::Connection;
use crate::sqlite::tasks::{insert_tasks, replace_task, task_of_session};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{ClientSessionId, ImportReport, Redacted, RefusedImport, SessionId, Task};
use std::collections::HashMap;

/// Tasks prepared and written at once.
const AT_ONCE: usize = 256;
/// Tasks prepared before control goes back to the writing of others.
const BETWEEN: usize = 8;

/// Saves tasks that may be known already.
pub(super) async fn import(
    store: &SqliteStore,
    tasks: &[Redacted<Task>],
) -> Result<ImportReport, StoreError> {
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
        .map(|(_, task)| &**task)
        .collect();
    let mut portions = tasks.chunks(AT_ONCE);
    // Before the lock is taken: other processes wait for it.
    let mut ready = prepared(portions.next().unwrap_or_default()).await;
    let mut transaction = store.begin().await?;
    let connection = &mut *transaction;
    let mut indexing = Indexing::default();
    while !ready.is_empty() {
        let next = prepared(portions.next().unwrap_or_default());
        let (written, next) = tokio::join!(write(connection, ready, &mut indexing, &mut report), next);
        written?;
        ready = next;
    }
    let finished = indexing.finish(connection).await;
    finished?;
    transaction.commit().await?;
    Ok(report)
}

/// A task with the terms under which it is found.
struct Prepared<'a> {
    task: &'a Task,
    terms: Terms,
}

impl<'a> Prepared<'a> {
    fn of(task: &'a Task) -> Self {
        let terms = Terms::of(task);
        Self { task, terms }
    }
}

/// Prepares tasks, now and then giving way.
async fn prepared<'a>(tasks: &[&'a Task]) -> Vec<Prepared<'a>> {
    let mut prepared = Vec::with_capacity(tasks.len());
    for tasks in tasks.chunks(BETWEEN) {
        prepared.extend(tasks.iter().map(|task| Prepared::of(task)));
        tokio::task::yield_now().await;
    }
    prepared
}

/// Writes tasks that are new or have changed in their project.
async fn write(
    connection: &mut Connection<'_>,
    prepared: Vec<Prepared<'_>>,
    indexing: &mut Indexing,
    report: &mut ImportReport,
) -> Result<(), StoreError> {
    let ids: Vec<&str> = prepared.iter().map(|new| new.task.id.as_str()).collect();
    let known = load_tasks(connection, &ids).await?;
    let known: HashMap<&str, &Task> = known.iter().map(|task| (task.id.as_str(), task)).collect();
    let (mut together, mut alone) = (Vec::new(), Vec::new());
    for new in prepared {
        let known = known.get(new.task.id.as_str());
        if let Some(project_path) = elsewhere(connection, new.task, known).await? {
            let id = new.task.id.clone();
            report.refused.push(RefusedImport { id, project_path });
            continue;
        }
        match known {
            // An import that is repeated has little to do.
            Some(known) if is_stored_as(new.task, known) => report.unchanged += 1,
            Some(_) => {
                report.replaced += 1;
                alone.push((new, true));
            }
            None if new.task.client_session_id.is_none() => together.push(new),
            None => alone.push((new, false)),
        }
    }
    report.added += together.len() as u64;
    let tasks: Vec<&Task> = together.iter().map(|new| new.task).collect();
    insert_tasks(connection, &tasks).await?;
    let entries = together
        .iter_mut()
        .map(|new| Entry::new(new.task.id.as_str(), new.task, std::mem::take(&mut new.terms)));
    indexing.add(connection, entries.collect()).await?;
    for (new, is_counted) in alone {
        // A session has one task, whatever its id.
        let is_replaced = replace_task(connection, new.task, new.terms, indexing).await?;
        match is_replaced {
            _ if is_counted => {}
            true => report.replaced += 1,
            false => report.added += 1,
        }
    }
    Ok(())
}

/// The other project that has a task which this one would replace: by its id or by its session.
async fn elsewhere(
    connection: &mut Connection<'_>,
    new: &Task,
    known: Option<&&Task>,
) -> Result<Option<String>, StoreError> {
    if let Some(known) = known
        && known.project_path != new.project_path
    {
        return Ok(Some(known.project_path.clone()));
    }
    let client_session = new.client_session_id.as_ref().map(ClientSessionId::as_str);
    let session = new.session_id.as_ref().map(SessionId::as_str);
    let Some(same_work) = task_of_session(connection, client_session, session).await? else {
        return Ok(None);
    };
    let project = load_tasks(connection, &[&same_work]).await?.pop();
    Ok(project
        .map(|task| task.project_path)
        .filter(|path| *path != new.project_path))
}

/// Whether saving `new` would leave `known` as it is: times are stored in milliseconds, and a link that `new` does not
/// have stays.
fn is_stored_as(new: &Task, known: &Task) -> bool {
    let mut saved = new.clone();
    saved.superseded_by = saved.superseded_by.or_else(|| known.superseded_by.clone());
    saved.parent_task_id = saved.parent_task_id.or_else(|| known.parent_task_id.clone());
    if millis(saved.created_at) == millis(known.created_at) {
        saved.created_at = known.created_at;
    }
    saved == *known
}
