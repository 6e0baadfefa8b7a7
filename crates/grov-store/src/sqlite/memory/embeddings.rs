//! Embeddings of memories.

use crate::sqlite::columns::{Blob, Record, RowExt, from_row, params};
use crate::sqlite::connection::Connection;
use crate::sqlite::memory::load_tasks;
use crate::sqlite::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{Embedding, EmbeddingProgress, EmbeddingStore, Task, TaskId, Unembedded};
use std::collections::HashMap;

#[async_trait]
impl EmbeddingStore for SqliteStore {
    async fn unembedded(
        &self,
        model: &str,
        below: Option<i64>,
        limit: u32,
    ) -> Result<Vec<Unembedded>, StoreError> {
        let sql = "SELECT d.id AS document, t.* FROM memory_documents d JOIN tasks t ON t.id = d.task_id \
             WHERE d.id < ?2 AND NOT EXISTS (SELECT 1 FROM task_embeddings e WHERE e.task_id = d.task_id \
             AND e.model = (SELECT id FROM embedding_models WHERE name = ?1)) ORDER BY d.id DESC LIMIT ?3";
        self.read(sql, params![model, below.unwrap_or(i64::MAX), limit], |row| {
            let task = Task::from_row(row)?;
            Ok(from_row!(row => Unembedded { document, task: task }))
        })
        .await
    }

    async fn keep_embeddings(
        &self,
        model: &str,
        embedded: &[(Task, Option<Embedding>)],
    ) -> Result<(), StoreError> {
        if embedded.is_empty() {
            return Ok(());
        }
        let ids: Vec<&TaskId> = embedded.iter().map(|(task, _)| &task.id).collect();
        let mut transaction = self.begin().await?;
        let stored = load_tasks(&mut transaction, &ids).await?;
        let stored: HashMap<&TaskId, &Task> = stored.iter().map(|task| (&task.id, task)).collect();
        let current = embedded.iter().filter(|(task, _)| {
            stored
                .get(&task.id)
                .is_some_and(|stored| same_words(stored, task))
        });
        save(&mut transaction, model, current).await?;
        transaction.commit().await
    }

    async fn embeddings(&self, model: &str, documents: &[i64]) -> Result<Vec<(i64, Embedding)>, StoreError> {
        let sql = "SELECT d.id, e.embedding FROM json_each(?1) asked \
             CROSS JOIN memory_documents d ON d.id = asked.value \
             JOIN task_embeddings e ON e.task_id = d.task_id \
             WHERE e.embedding IS NOT NULL AND e.model = (SELECT id FROM embedding_models WHERE name = ?2)";
        let found = self.read(sql, params![documents, model], |row| {
            let Blob(bytes) = row.read(1)?;
            let document = row.read(0)?;
            Ok(Embedding::from_bytes(&bytes).map(|embedding| (document, embedding)))
        });
        Ok(found.await?.into_iter().flatten().collect())
    }

    async fn embedding_progress(&self, model: &str) -> Result<EmbeddingProgress, StoreError> {
        let sql = "SELECT (SELECT coalesce(sum(documents), 0) FROM memory_scopes) AS memories, \
             coalesce((SELECT tasks FROM embedding_models WHERE name = ?), 0) AS done";
        let progress = self.read(sql, params![model], |row| {
            Ok(from_row!(row => EmbeddingProgress { memories, done }))
        });
        Ok(progress.await?.pop().unwrap_or_default())
    }
}

/// Whether the embedded fields of two tasks are equal. The columns are those of the trigger `task_words_changed`.
fn same_words(one: &Task, other: &Task) -> bool {
    one.original_query == other.original_query
        && one.goal == other.goal
        && one.reasoning_trace == other.reasoning_trace
        && one.files_touched == other.files_touched
        && one.decisions == other.decisions
        && one.constraints == other.constraints
        && one.tags == other.tags
}

async fn save(
    connection: &mut Connection<'_>,
    model: &str,
    embedded: impl Iterator<Item = &(Task, Option<Embedding>)> + Clone,
) -> Result<(), StoreError> {
    let dimension = embedded
        .clone()
        .find_map(|(_, embedding)| Some(embedding.as_ref()?.dimension()));
    let model: Option<i64> = connection
        .value(
            "INSERT INTO embedding_models (name, dimension) VALUES (?1, coalesce(?2, 0)) \
         ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id",
            params![model, dimension],
        )
        .await?;
    // A different dimension means a different model under the same name.
    connection
        .execute(
            "DELETE FROM task_embeddings WHERE model = ?1 \
             AND (SELECT dimension FROM embedding_models WHERE id = ?1) NOT IN (0, ?2); \
             UPDATE embedding_models SET dimension = ?2 WHERE id = ?1 AND dimension <> ?2",
            params![model, dimension],
        )
        .await?;
    for (task, embedding) in embedded {
        // Deleted and inserted instead of replaced, because triggers count both.
        connection
            .execute(
                "DELETE FROM task_embeddings WHERE task_id = ?1; \
             INSERT INTO task_embeddings (task_id, model, embedding) VALUES (?1, ?2, ?3)",
                params![
                    task.id,
                    model,
                    embedding.as_ref().map(|embedding| Blob(embedding.to_bytes()))
                ],
            )
            .await?;
    }
    // Deletes models that are not used any more.
    connection
        .execute(
            "DELETE FROM embedding_models WHERE tasks = 0 AND id <> ?",
            params![model],
        )
        .await?;
    Ok(())
}
