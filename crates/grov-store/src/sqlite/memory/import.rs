//! Saves many tasks at once.
//!
//! A round trip to the connection's thread costs more than writing a row, so rows are written with few statements.
//! While they are written, the terms of the next tasks are extracted.

use super::index::{Entry, Indexing, load_tasks};
use crate::sqlite::columns::millis;
use crate::sqlite::connection::Connection;
use crate::sqlite::tasks::{insert_tasks, replace_task, task_of_session};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{ClientSessionId, ImportReport, Redacted, RefusedImport, SessionId, Task};
use std::collections::HashMap;

/// Tasks prepared and written at once.
const TASKS_PER_CHUNK: usize = 256;
/// Tasks prepared before yielding to the writes.
const TASKS_PER_YIELD: usize = 8;

/// Saves tasks that may be stored already.
pub(super) async fn import(
    store: &SqliteStore,
    tasks: &[Redacted<Task>],
) -> Result<ImportReport, StoreError> {
    let mut report = ImportReport::default();
    // Of several tasks with the same id, only the last is saved.
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
    let mut portions = tasks.chunks(TASKS_PER_CHUNK);
    // Before taking the write lock, which makes other processes wait.
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

/// Extracts the terms of tasks, yielding regularly.
async fn prepared<'a>(tasks: &[&'a Task]) -> Vec<Entry<'a>> {
    let mut prepared = Vec::with_capacity(tasks.len());
    for tasks in tasks.chunks(TASKS_PER_YIELD) {
        prepared.extend(tasks.iter().map(|task| Entry::of(task)));
        tokio::task::yield_now().await;
    }
    prepared
}

/// Writes tasks that are new or changed.
async fn write(
    connection: &mut Connection<'_>,
    prepared: Vec<Entry<'_>>,
    indexing: &mut Indexing,
    report: &mut ImportReport,
) -> Result<(), StoreError> {
    let ids: Vec<&str> = prepared.iter().map(|new| new.task.id.as_str()).collect();
    let known = load_tasks(connection, &ids).await?;
    let known: HashMap<&str, &Task> = known.iter().map(|task| (task.id.as_str(), task)).collect();
    let (mut together, mut alone) = (Vec::new(), Vec::new());
    for new in prepared {
        let known = known.get(new.task.id.as_str());
        if let Some(project_path) = other_project(connection, new.task, known).await? {
            let id = new.task.id.clone();
            report.refused.push(RefusedImport { id, project_path });
            continue;
        }
        match known {
            // A repeated import changes nothing.
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
    indexing.add(connection, together).await?;
    for (new, is_counted) in alone {
        // A session has one task, so this may replace a task with another id.
        let is_replaced = replace_task(connection, new.task, new.terms, indexing).await?;
        match is_replaced {
            _ if is_counted => {}
            true => report.replaced += 1,
            false => report.added += 1,
        }
    }
    Ok(())
}

/// Returns the project of a task in another project that this one would replace, by its id or its session.
async fn other_project(
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

/// Whether saving `new` would not change `known`: times are stored in milliseconds, and links, edits and the verdict of a
/// model that `new` does not have are kept.
fn is_stored_as(new: &Task, known: &Task) -> bool {
    let mut saved = new.clone();
    saved.superseded_by = saved.superseded_by.or_else(|| known.superseded_by.clone());
    saved.parent_task_id = saved.parent_task_id.or_else(|| known.parent_task_id.clone());
    saved.model_screening = known.model_screening.clone();
    if saved.edits.is_empty() {
        saved.edits = known.edits.clone();
    }
    if millis(saved.created_at) == millis(known.created_at) {
        saved.created_at = known.created_at;
    }
    saved == *known
}
