//! Embeddings of memories.

use crate::sqlite::tasks::task_of_row;
use crate::sqlite::values::{Columns, integer, list};
use crate::sqlite::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{Embedding, EmbeddingProgress, EmbeddingStore, Task, TaskId, Unembedded};
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use std::collections::HashMap;

#[async_trait]
impl EmbeddingStore for SqliteStore {
    async fn unembedded(
        &self,
        model: &str,
        below: Option<i64>,
        limit: u32,
    ) -> Result<Vec<Unembedded>, StoreError> {
        let query = sqlx::query(
            "SELECT d.id AS document, t.* FROM memory_documents d JOIN tasks t ON t.id = d.task_id \
             WHERE d.id < ?2 AND NOT EXISTS (SELECT 1 FROM task_embeddings e WHERE e.task_id = d.task_id \
             AND e.model = (SELECT id FROM embedding_models WHERE name = ?1)) ORDER BY d.id DESC LIMIT ?3",
        )
        .bind(model)
        .bind(below.unwrap_or(i64::MAX))
        .bind(limit);
        let rows = self.reader().await?.rows(self, query).await?;
        rows.iter()
            .map(|row| {
                Ok(Unembedded {
                    document: Columns(row).get("document")?,
                    task: task_of_row(row)?,
                })
            })
            .collect()
    }

    async fn keep_embeddings(
        &self,
        model: &str,
        embedded: &[(Task, Option<Embedding>)],
    ) -> Result<(), StoreError> {
        let ids: Vec<&str> = embedded.iter().map(|(task, _)| task.id.as_str()).collect();
        let Some(ids) = list(&ids)? else {
            return Ok(());
        };
        let mut writer = self.writer().await?;
        let connection = writer.connection()?;
        let rows = sqlx::query("SELECT * FROM tasks WHERE id IN (SELECT value FROM json_each(?))")
            .bind(ids)
            .fetch_all(&mut *connection)
            .await
            .map_err(|error| self.error(error))?;
        let mut stored: HashMap<TaskId, Task> = HashMap::new();
        for row in &rows {
            let task = task_of_row(row)?;
            stored.insert(task.id.clone(), task);
        }
        let current = embedded.iter().filter(|(task, _)| {
            stored
                .get(&task.id)
                .is_some_and(|stored| same_words(stored, task))
        });
        keep(connection, model, current)
            .await
            .map_err(|error| self.error(error))?;
        writer.commit().await.map_err(|error| self.error(error))
    }

    async fn embeddings(&self, model: &str, documents: &[i64]) -> Result<Vec<(i64, Embedding)>, StoreError> {
        let Some(documents) = list(documents)? else {
            return Ok(Vec::new());
        };
        let query = sqlx::query(
            "SELECT d.id AS document, e.embedding FROM json_each(?1) asked \
             CROSS JOIN memory_documents d ON d.id = asked.value \
             JOIN task_embeddings e ON e.task_id = d.task_id \
             WHERE e.embedding IS NOT NULL AND e.model = (SELECT id FROM embedding_models WHERE name = ?2)",
        )
        .bind(documents)
        .bind(model);
        let rows = self.reader().await?.rows(self, query).await?;
        let mut found = Vec::with_capacity(rows.len());
        for row in &rows {
            let columns = Columns(row);
            if let Some(embedding) = Embedding::from_bytes(columns.get("embedding")?) {
                found.push((columns.get("document")?, embedding));
            }
        }
        Ok(found)
    }

    async fn embedding_progress(&self, model: &str) -> Result<EmbeddingProgress, StoreError> {
        let query = sqlx::query(
            "SELECT (SELECT coalesce(sum(documents), 0) FROM memory_scopes) AS memories, \
             coalesce((SELECT tasks FROM embedding_models WHERE name = ?), 0) AS done",
        )
        .bind(model);
        let rows = self.reader().await?.rows(self, query).await?;
        let mut progress = EmbeddingProgress::default();
        for row in &rows {
            let columns = Columns(row);
            progress = EmbeddingProgress {
                memories: columns.count("memories")?,
                done: columns.count("done")?,
            };
        }
        Ok(progress)
    }
}

/// Whether what is embedded of a task is the same in both. The columns are those of the trigger `task_words_changed`.
fn same_words(one: &Task, other: &Task) -> bool {
    one.original_query == other.original_query
        && one.goal == other.goal
        && one.reasoning_trace == other.reasoning_trace
        && one.files_touched == other.files_touched
        && one.decisions == other.decisions
        && one.constraints == other.constraints
        && one.tags == other.tags
}

async fn keep(
    connection: &mut SqliteConnection,
    model: &str,
    embedded: impl Iterator<Item = &(Task, Option<Embedding>)> + Clone,
) -> Result<(), sqlx::Error> {
    let dimension = embedded
        .clone()
        .find_map(|(_, embedding)| Some(integer(embedding.as_ref()?.dimension() as u64)));
    let model: i64 = sqlx::query(
        "INSERT INTO embedding_models (name, dimension) VALUES (?1, coalesce(?2, 0)) \
         ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id",
    )
    .bind(model)
    .bind(dimension)
    .fetch_one(&mut *connection)
    .await?
    .try_get(0)?;
    // A model that answers with another dimension is another one under the same name.
    sqlx::query(
        "DELETE FROM task_embeddings WHERE model = ?1 \
         AND (SELECT dimension FROM embedding_models WHERE id = ?1) NOT IN (0, ?2)",
    )
    .bind(model)
    .bind(dimension)
    .execute(&mut *connection)
    .await?;
    sqlx::query("UPDATE embedding_models SET dimension = ?2 WHERE id = ?1 AND dimension <> ?2")
        .bind(model)
        .bind(dimension)
        .execute(&mut *connection)
        .await?;
    for (task, embedding) in embedded {
        // Not replaced but deleted and added: both are counted.
        sqlx::query(
            "DELETE FROM task_embeddings WHERE task_id = ?1; \
             INSERT INTO task_embeddings (task_id, model, embedding) VALUES (?1, ?2, ?3)",
        )
        .bind(task.id.as_str())
        .bind(model)
        .bind(embedding.as_ref().map(Embedding::to_bytes))
        .execute(&mut *connection)
        .await?;
    }
    // Names of models that are not in use any more say nothing.
    sqlx::query("DELETE FROM embedding_models WHERE tasks = 0 AND id <> ?")
        .bind(model)
        .execute(connection)
        .await?;
    Ok(())
}
