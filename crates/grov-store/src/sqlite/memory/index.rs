//! Updates the index, in the transaction that changes the tasks.

use super::terms::{TermPostings, Terms};
use super::{LENGTHS, parts};
use crate::sqlite::StoreError;
use crate::sqlite::columns::{Record, RowExt, params};
use crate::sqlite::connection::Connection;
use crate::sqlite::insert::insert;
use grov_domain::Task;
use sqlx::sqlite::SqliteRow;
use std::collections::{BTreeMap, HashMap, HashSet};

insert! {
    INSERT_DOCUMENTS, bind_document(row in DocumentRow<'_>):
    "INSERT INTO memory_documents", "";
    row => { id = document, scope }
    row.entry => { task_id = id }
    row.entry.task => { created_at, status, superseded_by, files = files_touched };
    text_terms: row.entry.terms.lengths()[0],
    trace_terms: row.entry.terms.lengths()[1],
    path_terms: row.entry.terms.lengths()[2],
    file_terms: row.entry.terms.lengths()[3],
}

/// Tasks read or indexed at once.
const TASKS_PER_CHUNK: usize = 1024;

/// A redacted and stored task to be indexed.
pub(in crate::sqlite) struct Entry<'a> {
    /// The stored id.
    id: &'a str,
    pub(super) task: &'a Task,
    pub(super) terms: Terms,
}

impl<'a> Entry<'a> {
    pub(in crate::sqlite) fn new(id: &'a str, task: &'a Task, terms: Terms) -> Self {
        Self { id, task, terms }
    }

    pub(super) fn of(task: &'a Task) -> Self {
        Self::new(task.id.as_str(), task, Terms::of(task))
    }
}

/// A change of the index. Postings are collected and written at the end: each term once for all tasks.
#[derive(Default)]
pub(in crate::sqlite) struct Indexing {
    scopes: HashMap<(String, String), i64>,
    /// The largest document number, once it is known.
    newest: Option<i64>,
    postings: BTreeMap<i64, TermPostings>,
    /// The ids of the tasks in `postings`.
    pending: HashSet<String>,
}

impl Indexing {
    /// Adds tasks that are not in the index.
    pub(in crate::sqlite) async fn add(
        &mut self,
        connection: &mut Connection<'_>,
        entries: Vec<Entry<'_>>,
    ) -> Result<(), StoreError> {
        let mut newest = match self.newest {
            Some(newest) => newest,
            None => newest_document(connection).await?,
        };
        let mut rows = Vec::with_capacity(entries.len());
        for entry in entries {
            newest += 1;
            let scope = self.scope_of(connection, entry.task).await?;
            rows.push(DocumentRow {
                document: newest,
                scope,
                entry,
            });
        }
        self.newest = Some(newest);
        connection.insert(&INSERT_DOCUMENTS, &rows, bind_document).await?;
        for row in rows {
            self.pending.insert(row.entry.id.to_owned());
            let postings = self.postings.entry(row.scope).or_default();
            postings.add(row.document, row.entry.terms);
        }
        Ok(())
    }

    /// Writes the postings.
    pub(in crate::sqlite) async fn finish(
        &mut self,
        connection: &mut Connection<'_>,
    ) -> Result<(), StoreError> {
        self.pending.clear();
        for (scope, postings) in std::mem::take(&mut self.postings) {
            parts::add(connection, scope, &postings.in_order()).await?;
        }
        Ok(())
    }

    /// Adds stored tasks.
    async fn add_stored(
        &mut self,
        connection: &mut Connection<'_>,
        ids: &[String],
    ) -> Result<(), StoreError> {
        let tasks = load_tasks(connection, ids).await?;
        let entries = tasks.iter().map(Entry::of);
        self.add(connection, entries.collect()).await
    }

    /// Removes tasks that are in the index, before their texts or files change.
    pub(in crate::sqlite) async fn remove_tasks(
        &mut self,
        connection: &mut Connection<'_>,
        ids: &[&str],
    ) -> Result<(), StoreError> {
        if ids.iter().any(|id| self.pending.contains(*id)) {
            self.finish(connection).await?;
        }
        remove_tasks(connection, ids).await
    }

    /// Returns the number of a scope, creating it if it is new.
    async fn scope_of(&mut self, connection: &mut Connection<'_>, task: &Task) -> Result<i64, StoreError> {
        let key = (
            task.project_path.clone(),
            task.project_remote.clone().unwrap_or_default(),
        );
        if let Some(scope) = self.scopes.get(&key) {
            return Ok(*scope);
        }
        // An update that changes nothing makes `RETURNING` return the existing row.
        let sql = "INSERT INTO memory_scopes (project_path, project_remote) VALUES (?, ?) \
             ON CONFLICT (project_path, project_remote) DO UPDATE SET project_path = excluded.project_path \
             RETURNING id";
        let scope: Option<i64> = connection.value(sql, params![key.0, key.1]).await?;
        let scope = scope.unwrap_or_default();
        self.scopes.insert(key, scope);
        Ok(scope)
    }
}

/// A row of `memory_documents`.
struct DocumentRow<'a> {
    document: i64,
    scope: i64,
    entry: Entry<'a>,
}

/// Returns the largest document number ever used.
async fn newest_document(connection: &mut Connection<'_>) -> Result<i64, StoreError> {
    let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'memory_documents'";
    Ok(connection.value(sql, params![]).await?.unwrap_or(0))
}

/// Removes tasks that are in the index, before they are deleted.
pub(in crate::sqlite) async fn remove_tasks(
    connection: &mut Connection<'_>,
    ids: &[impl serde::Serialize],
) -> Result<(), StoreError> {
    let sql = "SELECT d.id AS document, d.scope, d.text_terms, d.trace_terms, d.path_terms, d.file_terms, t.* \
         FROM json_each(coalesce(?, '[]')) asked CROSS JOIN memory_documents d ON d.task_id = asked.value \
         JOIN tasks t ON t.id = d.task_id ORDER BY d.id";
    for ids in ids.chunks(TASKS_PER_CHUNK) {
        let rows = connection.rows(sql, params![ids]).await?;
        remove_rows(connection, &rows).await?;
    }
    Ok(())
}

async fn remove_rows(connection: &mut Connection<'_>, rows: &[SqliteRow]) -> Result<(), StoreError> {
    let mut postings: BTreeMap<i64, TermPostings> = BTreeMap::new();
    let mut documents: Vec<i64> = Vec::with_capacity(rows.len());
    // Documents whose terms changed since they were indexed, for example after a manual change of the database.
    let mut altered: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for row in rows {
        let (document, scope) = (row.read("document")?, row.read("scope")?);
        let terms = Terms::of(&Task::from_row(row)?);
        documents.push(document);
        for (length, column) in terms.lengths().into_iter().zip(LENGTHS) {
            if row.read::<i64>(column)? != length {
                altered.entry(scope).or_default().push(document);
            }
        }
        postings.entry(scope).or_default().add(document, terms);
    }
    for (scope, postings) in postings {
        let missed = parts::remove(connection, scope, &postings.in_order()).await?;
        altered.entry(scope).or_default().extend(missed);
    }
    for (scope, documents) in altered {
        parts::remove_everywhere(connection, scope, &documents).await?;
    }
    let sql = "DELETE FROM memory_documents WHERE id IN (SELECT value FROM json_each(?))";
    connection.execute(sql, params![documents]).await.map(drop)
}

/// Indexes all tasks, oldest first, as they were saved.
pub(in crate::sqlite) async fn fill(connection: &mut Connection<'_>) -> Result<(), StoreError> {
    let sql = "SELECT id FROM tasks ORDER BY created_at, id";
    let ids: Vec<String> = connection.read(sql, params![], |row| row.read(0)).await?;
    for ids in ids.chunks(TASKS_PER_CHUNK * 4) {
        let mut indexing = Indexing::default();
        for ids in ids.chunks(TASKS_PER_CHUNK) {
            indexing.add_stored(connection, ids).await?;
        }
        indexing.finish(connection).await?;
    }
    Ok(())
}

/// Loads tasks in the order of `ids`.
pub(in crate::sqlite) async fn load_tasks(
    connection: &mut Connection<'_>,
    ids: &[impl serde::Serialize],
) -> Result<Vec<Task>, StoreError> {
    let sql = "SELECT t.* FROM json_each(coalesce(?, '[]')) asked \
         CROSS JOIN tasks t ON t.id = asked.value ORDER BY asked.key";
    connection.read(sql, params![ids], Task::from_row).await
}

/// Moves the tasks of a project key to another one. Returns their number.
pub(in crate::sqlite) async fn move_tasks(
    connection: &mut Connection<'_>,
    from: &str,
    to: &str,
) -> Result<u64, StoreError> {
    let sql = "SELECT id FROM tasks WHERE project_path = ? ORDER BY created_at, id";
    let ids: Vec<String> = connection.read(sql, params![from], |row| row.read(0)).await?;
    for ids in ids.chunks(TASKS_PER_CHUNK) {
        // The terms do not depend on the project, so they are unchanged.
        remove_tasks(connection, ids).await?;
        let sql = "UPDATE tasks SET project_path = ?2 WHERE id IN (SELECT value FROM json_each(?1))";
        connection.execute(sql, params![ids, to]).await?;
        let mut indexing = Indexing::default();
        indexing.add_stored(connection, ids).await?;
        indexing.finish(connection).await?;
    }
    Ok(ids.len() as u64)
}

/// Indexes the tasks of a client session again after its project became known.
pub(in crate::sqlite) async fn reindex_client_session(
    connection: &mut Connection<'_>,
    client_session: &str,
) -> Result<(), StoreError> {
    let sql = "SELECT t.id FROM tasks t JOIN memory_documents d ON d.task_id = t.id \
         JOIN memory_scopes s ON s.id = d.scope \
         WHERE t.client_session_id = ? AND t.project_path <> s.project_path";
    let ids: Vec<String> = connection
        .read(sql, params![client_session], |row| row.read(0))
        .await?;
    // The terms do not depend on the project, so they are unchanged.
    remove_tasks(connection, &ids).await?;
    let mut indexing = Indexing::default();
    indexing.add_stored(connection, &ids).await?;
    indexing.finish(connection).await
}
