//! Keeping the index in step with the tasks, in the transaction that changes them.

use super::super::rows::{Insert, portions};
use super::super::tasks::task_of_row;
use super::super::values::{list_value, millis};
use super::terms::{Standing, Terms};
use super::{LENGTHS, parts};
use grov_domain::{Task, TaskId};
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use std::collections::{BTreeMap, HashMap, HashSet};

const INSERT_DOCUMENTS: Insert = Insert {
    head: "INSERT INTO memory_documents (id, task_id, scope, created_at, status, text_terms, trace_terms, path_terms, \
           file_terms, superseded_by, files)",
    columns: 11,
    tail: "",
};

/// Tasks read or indexed at once where there may be any number of them.
const AT_ONCE: usize = 1024;

/// A task on its way into the index. It is redacted and stored.
pub(in crate::sqlite) struct Entry<'a> {
    /// The id under which it is stored.
    id: &'a str,
    task: &'a Task,
    terms: Terms,
}

impl<'a> Entry<'a> {
    pub(in crate::sqlite) fn new(id: &'a str, task: &'a Task, terms: Terms) -> Self {
        Self { id, task, terms }
    }

    fn of(task: &'a Task) -> Self {
        Self::new(task.id.as_str(), task, Terms::of(task))
    }
}

/// A change of the index. What stands where is collected and written at its end: each term once for all tasks.
#[derive(Default)]
pub(in crate::sqlite) struct Indexing {
    scopes: HashMap<(String, String), i64>,
    /// The number of the newest document, once it is known.
    newest: Option<i64>,
    standing: BTreeMap<i64, Standing>,
    /// The tasks in `standing`.
    pending: HashSet<String>,
}

impl Indexing {
    /// Adds their rows. None of them may be in the index.
    pub(in crate::sqlite) async fn add(
        &mut self,
        connection: &mut SqliteConnection,
        entries: Vec<Entry<'_>>,
    ) -> Result<(), sqlx::Error> {
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
                files: list_value(&entry.task.files_touched)?,
                entry,
            });
        }
        self.newest = Some(newest);
        for portion in portions(&rows) {
            let query = INSERT_DOCUMENTS.query(portion, |values, row| {
                let task = row.entry.task;
                values.integer(row.document);
                values.text(row.entry.id);
                values.integer(row.scope);
                values.integer(millis(task.created_at));
                values.text(task.status.as_str());
                for length in row.entry.terms.lengths() {
                    values.integer(length);
                }
                values.optional(task.superseded_by.as_ref().map(TaskId::as_str));
                values.optional(row.files.as_deref());
            })?;
            query.execute(&mut *connection).await?;
        }
        for row in rows {
            self.pending.insert(row.entry.id.to_owned());
            let standing = self.standing.entry(row.scope).or_default();
            standing.add(row.document, row.entry.terms);
        }
        Ok(())
    }

    /// Writes what stands where.
    pub(in crate::sqlite) async fn finish(
        &mut self,
        connection: &mut SqliteConnection,
    ) -> Result<(), sqlx::Error> {
        self.pending.clear();
        for (scope, standing) in std::mem::take(&mut self.standing) {
            parts::add(connection, scope, &standing.in_order()).await?;
        }
        Ok(())
    }

    /// Takes tasks out, as far as they are in the index: before their words or files change.
    pub(in crate::sqlite) async fn take_out(
        &mut self,
        connection: &mut SqliteConnection,
        ids: &[&str],
    ) -> Result<(), sqlx::Error> {
        if ids.iter().any(|id| self.pending.contains(*id)) {
            self.finish(connection).await?;
        }
        take_out(connection, ids).await
    }

    /// The number of a scope, which is made when it is new.
    async fn scope_of(&mut self, connection: &mut SqliteConnection, task: &Task) -> Result<i64, sqlx::Error> {
        let key = (
            task.project_path.clone(),
            task.project_remote.clone().unwrap_or_default(),
        );
        if let Some(scope) = self.scopes.get(&key) {
            return Ok(*scope);
        }
        let known = sqlx::query("SELECT id FROM memory_scopes WHERE project_path = ? AND project_remote = ?")
            .bind(&key.0)
            .bind(&key.1)
            .fetch_optional(&mut *connection)
            .await?;
        let row = match known {
            Some(row) => row,
            None => {
                sqlx::query(
                    "INSERT INTO memory_scopes (project_path, project_remote) VALUES (?, ?) RETURNING id",
                )
                .bind(&key.0)
                .bind(&key.1)
                .fetch_one(connection)
                .await?
            }
        };
        let scope = row.try_get(0)?;
        self.scopes.insert(key, scope);
        Ok(scope)
    }
}

/// A row of `memory_documents`.
struct DocumentRow<'a> {
    document: i64,
    scope: i64,
    files: Option<String>,
    entry: Entry<'a>,
}

/// The largest number that a document ever had.
async fn newest_document(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    sqlx::query("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memory_documents'), 0)")
        .fetch_one(connection)
        .await?
        .try_get(0)
}

/// Takes tasks out of the index, as far as they are in it: before they go.
pub(in crate::sqlite) async fn take_out(
    connection: &mut SqliteConnection,
    ids: &[&str],
) -> Result<(), sqlx::Error> {
    for ids in ids.chunks(AT_ONCE) {
        let rows = sqlx::query(
            "SELECT d.id AS document, d.scope, d.text_terms, d.trace_terms, d.path_terms, d.file_terms, t.* \
             FROM json_each(?) asked CROSS JOIN memory_documents d ON d.task_id = asked.value \
             JOIN tasks t ON t.id = d.task_id ORDER BY d.id",
        )
        .bind(list_value(ids)?.unwrap_or_default())
        .fetch_all(&mut *connection)
        .await?;
        take_out_rows(connection, &rows).await?;
    }
    Ok(())
}

async fn take_out_rows(connection: &mut SqliteConnection, rows: &[SqliteRow]) -> Result<(), sqlx::Error> {
    let mut standing: BTreeMap<i64, Standing> = BTreeMap::new();
    let mut documents: Vec<i64> = Vec::with_capacity(rows.len());
    // Those whose terms are not what they were when they were added, as after a change by hand.
    let mut altered: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for row in rows {
        let task = task_of_row(row).map_err(|error| sqlx::Error::Decode(error.into()))?;
        let (document, scope) = (row.try_get("document")?, row.try_get("scope")?);
        let terms = Terms::of(&task);
        documents.push(document);
        for (length, column) in terms.lengths().into_iter().zip(LENGTHS) {
            if row.try_get::<i64, _>(column)? != length {
                altered.entry(scope).or_default().push(document);
            }
        }
        standing.entry(scope).or_default().add(document, terms);
    }
    for (scope, standing) in standing {
        let missed = parts::remove(connection, scope, &standing.in_order()).await?;
        altered.entry(scope).or_default().extend(missed);
    }
    for (scope, documents) in altered {
        parts::remove_everywhere(connection, scope, &documents).await?;
    }
    sqlx::query("DELETE FROM memory_documents WHERE id IN (SELECT value FROM json_each(?))")
        .bind(list_value(&documents)?)
        .execute(connection)
        .await?;
    Ok(())
}

/// Indexes every task, for a database that is older than the index. The oldest come first, as they were saved.
pub(in crate::sqlite) async fn fill(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let ids = sqlx::query("SELECT id FROM tasks ORDER BY created_at, id")
        .fetch_all(&mut *connection)
        .await?;
    for ids in ids.chunks(AT_ONCE * 4) {
        let mut indexing = Indexing::default();
        for ids in ids.chunks(AT_ONCE) {
            let ids: Vec<&str> = ids.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
            let tasks = tasks_of(connection, &ids).await?;
            let entries = tasks.iter().map(Entry::of);
            indexing.add(connection, entries.collect()).await?;
        }
        indexing.finish(connection).await?;
    }
    Ok(())
}

/// Tasks in the order asked for.
pub(in crate::sqlite) async fn tasks_of(
    connection: &mut SqliteConnection,
    ids: &[&str],
) -> Result<Vec<Task>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT t.* FROM json_each(coalesce(?, '[]')) asked CROSS JOIN tasks t ON t.id = asked.value ORDER BY asked.key",
    )
    .bind(list_value(ids)?)
    .fetch_all(connection)
    .await?;
    rows.iter()
        .map(|row| task_of_row(row).map_err(|error| sqlx::Error::Decode(error.into())))
        .collect()
}

/// Indexes the tasks of a client session again whose project has become known.
pub(in crate::sqlite) async fn reindex_client_session(
    connection: &mut SqliteConnection,
    client_session: &str,
) -> Result<(), sqlx::Error> {
    let rows = sqlx::query(
        "SELECT t.id FROM tasks t JOIN memory_documents d ON d.task_id = t.id \
         JOIN memory_scopes s ON s.id = d.scope \
         WHERE t.client_session_id = ? AND t.project_path <> s.project_path",
    )
    .bind(client_session)
    .fetch_all(&mut *connection)
    .await?;
    let ids: Vec<&str> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    // The terms depend on neither project nor remote, so they are still those that were added.
    take_out(connection, &ids).await?;
    let tasks = tasks_of(connection, &ids).await?;
    let mut indexing = Indexing::default();
    let entries = tasks.iter().map(Entry::of);
    indexing.add(connection, entries.collect()).await?;
    indexing.finish(connection).await
}
