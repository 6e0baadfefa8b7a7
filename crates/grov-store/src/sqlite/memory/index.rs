//! Keeping the index in step with the tasks, in the transaction that changes them.

use super::super::tasks::{replace_task, task_of_row};
use super::super::values::millis;
use crate::door;
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{ImportReport, Task, file_term, path_term, path_words, words};
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;

/// Terms of a field that are indexed. A field of a megabyte is no prose, and what it is about stands at its beginning.
const TERMS_OF_A_FIELD: usize = 8192;
/// Files of a task that are indexed.
const FILES: usize = 1024;

/// The terms of a task, by field, without the scope.
struct Terms([Vec<String>; 4]);

impl Terms {
    fn of(task: &Task) -> Self {
        let mut text = Field::default();
        text.add(&task.original_query);
        match &task.goal {
            // Often the words of the prompt once more, which is no sign of weight.
            Some(goal) if *goal != task.original_query => text.add(goal),
            _ => {}
        }
        for decision in &task.decisions {
            text.add(&decision.choice);
            text.add(&decision.reason);
        }
        for words in task.constraints.iter().chain(&task.tags) {
            text.add(words);
        }
        let mut trace = Field::default();
        for words in &task.reasoning_trace {
            trace.add(words);
        }
        let files = task.files_touched.iter().take(FILES);
        let path = files
            .clone()
            .flat_map(|path| path_words(path))
            .take(TERMS_OF_A_FIELD);
        let file = files.flat_map(|path| [file_term(path), path_term(path)]);
        Self([text.0, trace.0, path.collect(), file.collect()])
    }

    /// As the index takes them: each with its scope, parted by spaces.
    fn written(&self, scope: i64) -> [String; 4] {
        let mark = format!("{scope}:");
        self.0.each_ref().map(|terms| {
            let mut text = String::with_capacity(terms.iter().map(|term| term.len() + mark.len() + 1).sum());
            for term in terms {
                text.push_str(&mark);
                text.push_str(term);
                text.push(' ');
            }
            text
        })
    }

    fn lengths(&self) -> [i64; 4] {
        self.0
            .each_ref()
            .map(|terms| i64::try_from(terms.len()).unwrap_or(i64::MAX))
    }
}

/// Terms of one field, up to the bound.
#[derive(Default)]
struct Field(Vec<String>);

impl Field {
    fn add(&mut self, text: &str) {
        let room = TERMS_OF_A_FIELD.saturating_sub(self.0.len());
        if room > 0 {
            self.0.extend(words(text, room));
        }
    }
}

/// Brings the index up to date with a task, which is redacted and stored under `id`.
pub(in crate::sqlite) async fn index_task(
    connection: &mut SqliteConnection,
    id: &str,
    task: &Task,
) -> Result<(), sqlx::Error> {
    let scope = scope_of(connection, &task.project_path, task.project_remote.as_deref()).await?;
    let terms = Terms::of(task);
    let [text_terms, trace_terms, path_terms, file_terms] = terms.lengths();
    let [text, trace, path, file] = terms.written(scope);
    // In one trip to the connection's thread. A trigger takes the terms of the old row out of the index.
    sqlx::query(
        "DELETE FROM memory_documents WHERE task_id = ?1; \
         INSERT INTO memory_documents (task_id, scope, created_at, text_terms, trace_terms, path_terms, file_terms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7); \
         INSERT INTO memory_terms (rowid, text, trace, path, file) \
         SELECT id, ?8, ?9, ?10, ?11 FROM memory_documents WHERE task_id = ?1",
    )
    .bind(id)
    .bind(scope)
    .bind(millis(task.created_at))
    .bind(text_terms)
    .bind(trace_terms)
    .bind(path_terms)
    .bind(file_terms)
    .bind(text)
    .bind(trace)
    .bind(path)
    .bind(file)
    .execute(&mut *connection)
    .await?;
    Ok(())
}

/// The number of a scope, which is made when it is new.
async fn scope_of(
    connection: &mut SqliteConnection,
    project: &str,
    remote: Option<&str>,
) -> Result<i64, sqlx::Error> {
    let remote = remote.unwrap_or("");
    let known = sqlx::query("SELECT id FROM memory_scopes WHERE project_path = ? AND project_remote = ?")
        .bind(project)
        .bind(remote)
        .fetch_optional(&mut *connection)
        .await?;
    if let Some(row) = known {
        return row.try_get(0);
    }
    sqlx::query("INSERT INTO memory_scopes (project_path, project_remote) VALUES (?, ?) RETURNING id")
        .bind(project)
        .bind(remote)
        .fetch_one(connection)
        .await?
        .try_get(0)
}

/// Indexes every task that is not, for a database that is older than the index.
pub(in crate::sqlite) async fn fill(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    loop {
        let rows = sqlx::query(
            "SELECT * FROM tasks WHERE id NOT IN (SELECT task_id FROM memory_documents) LIMIT 256",
        )
        .fetch_all(&mut *connection)
        .await?;
        if rows.is_empty() {
            return Ok(());
        }
        for row in &rows {
            let task = task_of_row(row).map_err(|error| sqlx::Error::Decode(error.into()))?;
            index_task(connection, task.id.as_str(), &task).await?;
        }
    }
}

/// Indexes the tasks of a client session again whose project has become known.
pub(in crate::sqlite) async fn reindex_client_session(
    connection: &mut SqliteConnection,
    client_session: &str,
) -> Result<(), sqlx::Error> {
    let rows = sqlx::query(
        "SELECT t.* FROM tasks t JOIN memory_documents d ON d.task_id = t.id \
         JOIN memory_scopes s ON s.id = d.scope \
         WHERE t.client_session_id = ? AND t.project_path <> s.project_path",
    )
    .bind(client_session)
    .fetch_all(&mut *connection)
    .await?;
    for row in &rows {
        let task = task_of_row(row).map_err(|error| sqlx::Error::Decode(error.into()))?;
        index_task(connection, task.id.as_str(), &task).await?;
    }
    Ok(())
}

impl SqliteStore {
    pub(super) async fn import_tasks(&self, tasks: &[Task]) -> Result<ImportReport, StoreError> {
        let fault = |error| self.error(error);
        let tasks: Vec<Task> = tasks.iter().map(door::task).collect();
        let mut writer = self.writer().await?;
        let connection = writer.connection()?;
        let mut report = ImportReport::default();
        for task in &tasks {
            let known = sqlx::query("SELECT 1 FROM tasks WHERE id = ?")
                .bind(task.id.as_str())
                .fetch_optional(&mut *connection)
                .await
                .map_err(fault)?;
            match known {
                Some(_) => report.replaced += 1,
                None => report.added += 1,
            }
            replace_task(connection, task).await.map_err(fault)?;
        }
        writer.commit().await.map_err(fault)?;
        Ok(report)
    }
}
