//! Models and the embeddings that they created.

use crate::AgentDatabase;
use crate::column::Columns;
use crate::dialect::Dialect;
use crate::point_changes;
use crate::work::{Arg, Work, args};
use grov_agent::{AgentStoreError, Embeddable, EmbeddedShare, MemoryItemId};
use grov_domain::Embedding;
use grov_redact::{Redacted, Redactor};
use serde_json::{Value, json};
use sqlx::any::AnyRow;
use std::collections::HashMap;
use std::fmt::{Display, Write};
use std::sync::atomic::Ordering;

/// The most dimensions that an index of pgvector takes. A model with more is searched without one.
pub(crate) const MOST_INDEXED_DIMENSIONS: usize = 4_000;

/// Number of embeddings that one statement stores.
const BATCH: usize = 250;

/// A registered model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Model {
    pub(crate) number: i64,
    pub(crate) dimension: usize,
    /// Whether it is the model in use.
    pub(crate) is_current: bool,
}

/// Returns a model by its name.
pub(crate) async fn find(work: &mut Work, name: &str) -> Result<Option<Model>, AgentStoreError> {
    const SELECT: &str = "SELECT number, dimension, is_current FROM models WHERE name = $1";
    let row = work.one(SELECT, args![name]).await?;
    row.map(|row| {
        Ok(Model {
            number: row.get_as("number")?,
            dimension: row.get_as("dimension")?,
            is_current: row.get_as("is_current")?,
        })
    })
    .transpose()
}

/// See `SearchStore::use_model`.
pub(crate) async fn use_model(
    database: &AgentDatabase,
    name: &str,
    dimension: usize,
) -> Result<(), AgentStoreError> {
    const CURRENT: &str = "UPDATE models SET is_current = CASE WHEN name = $1 THEN 1 ELSE 0 END";
    const INSERT: &str = "INSERT INTO models (name, dimension, is_current) VALUES ($1, $2, 1)";
    let mut work = database.write().await?;
    lock_models(&mut work).await?;
    let found = find(&mut work, name).await?;
    match found {
        Some(model) if model.dimension == dimension => {}
        // The same name with another dimension is another model, whose embeddings cannot be compared.
        Some(model) => {
            drop_model(&mut work, model.number).await?;
            insert(&mut work, INSERT, name, dimension).await?;
        }
        None => insert(&mut work, INSERT, name, dimension).await?,
    }
    point_changes::note_model(&mut work, name).await?;
    work.run(CURRENT, args![name]).await?;
    work.commit().await?;
    database.embedded_below.store(0, Ordering::Relaxed);
    database.copy_soon().await;
    Ok(())
}

async fn insert(
    work: &mut Work,
    sql: &'static str,
    name: &str,
    dimension: usize,
) -> Result<(), AgentStoreError> {
    let stored = u64::try_from(dimension).unwrap_or(u64::MAX);
    work.run(sql, args![name, stored]).await?;
    let Some(model) = find(work, name).await? else {
        return Ok(());
    };
    if work.dialect == Dialect::Postgres && dimension <= MOST_INDEXED_DIMENSIONS {
        // Made while the model has no embeddings yet, so nobody waits for it.
        let number = model.number;
        work.run(
            format!(
                "CREATE INDEX IF NOT EXISTS vectors_of_model_{number} ON vectors USING hnsw \
                 ((embedding::halfvec({dimension})) halfvec_cosine_ops) WHERE model = {number}"
            ),
            args![],
        )
        .await?;
    }
    Ok(())
}

/// Instances that start at once register their models one after the other.
async fn lock_models(work: &mut Work) -> Result<(), AgentStoreError> {
    if work.dialect == Dialect::Postgres {
        work.run("LOCK TABLE models IN SHARE ROW EXCLUSIVE MODE", args![])
            .await?;
    }
    Ok(())
}

async fn drop_model(work: &mut Work, number: i64) -> Result<(), AgentStoreError> {
    if work.dialect == Dialect::Postgres {
        work.run(format!("DROP INDEX IF EXISTS vectors_of_model_{number}"), args![])
            .await?;
    }
    work.run("DELETE FROM vectors WHERE model = $1", args![number])
        .await?;
    work.run("DELETE FROM models WHERE number = $1", args![number])
        .await
        .map(drop)
}

/// See `SearchStore::drop_other_models`.
pub(crate) async fn drop_others(database: &AgentDatabase, name: &str) -> Result<(), AgentStoreError> {
    let mut work = database.write().await?;
    lock_models(&mut work).await?;
    let rows = work
        .all("SELECT number FROM models WHERE name <> $1", args![name])
        .await?;
    for row in rows {
        drop_model(&mut work, row.get_as("number")?).await?;
    }
    work.commit().await?;
    database.copy_soon().await;
    Ok(())
}

/// See `SearchStore::models`.
pub(crate) async fn all(work: &mut Work) -> Result<Vec<(String, usize)>, AgentStoreError> {
    const SELECT: &str = "SELECT m.name, m.dimension FROM models m WHERE EXISTS \
         (SELECT 1 FROM vectors v WHERE v.model = m.number AND v.embedding IS NOT NULL) ORDER BY m.number";
    let rows = work.all(SELECT, args![]).await?;
    rows.iter()
        .map(|row| Ok((row.get_as("name")?, row.get_as("dimension")?)))
        .collect()
}

/// See `SearchStore::embedded_share`.
pub(crate) async fn share(work: &mut Work, name: &str) -> Result<EmbeddedShare, AgentStoreError> {
    const SELECT: &str = "SELECT (SELECT count(*) FROM entries) AS total, \
         (SELECT count(*) FROM vectors v JOIN models m ON m.number = v.model WHERE m.name = $1) AS done";
    let Some(row) = work.one(SELECT, args![name]).await? else {
        return Ok(EmbeddedShare::default());
    };
    Ok(EmbeddedShare {
        total: row.get_as("total")?,
        done: row.get_as("done")?,
    })
}

/// See `SearchStore::unembedded`. Starts where the last call found something, and at the beginning again after the end.
pub(crate) async fn unembedded(
    database: &AgentDatabase,
    name: &str,
    limit: u32,
) -> Result<Vec<(Embeddable, Redacted)>, AgentStoreError> {
    const SELECT: &str = "SELECT e.number, e.chunk_id, e.item_id, d.title, c.heading_path, coalesce(c.text, i.content) AS text \
         FROM entries e LEFT JOIN chunks c ON c.id = e.chunk_id LEFT JOIN documents d ON d.id = c.document_id \
         LEFT JOIN memory_items i ON i.id = e.item_id \
         WHERE e.number >= $2 AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.entry = e.number AND v.model = $1) \
         ORDER BY e.number LIMIT $3";
    let mut work = database.read().await?;
    let Some(model) = find(&mut work, name).await? else {
        return Ok(Vec::new());
    };
    let start = database.embedded_below.load(Ordering::Relaxed);
    let mut rows = work.all(SELECT, args![model.number, start, limit]).await?;
    if rows.is_empty() && start > 0 {
        rows = work.all(SELECT, args![model.number, 0_i64, limit]).await?;
    }
    let first = rows.first().map_or(Ok(0), |row| row.get_as("number"))?;
    database.embedded_below.store(first, Ordering::Relaxed);
    let mut items = HashMap::new();
    for row in &rows {
        if let Some(item) = row.get_as::<Option<MemoryItemId>>("item_id")? {
            items.insert(item, row.get_as("number")?);
        }
    }
    *database.handed_out() = items;
    rows.iter().map(embeddable).collect()
}

/// A text with the titles above it, which say what it is about.
fn embeddable(row: &AnyRow) -> Result<(Embeddable, Redacted), AgentStoreError> {
    let text: String = row.get_as("text")?;
    if let Some(item) = row.get_as("item_id")? {
        return Ok((Embeddable::Item(item), Redactor::shared().whole(&text)));
    }
    let mut titles: Vec<String> = row.json("heading_path")?;
    titles.insert(0, row.get_as("title")?);
    // The first heading of a document often is its title.
    titles.dedup();
    let text = format!("{}\n{text}", titles.join(" › "));
    Ok((
        Embeddable::Chunk(row.get_as("chunk_id")?),
        Redactor::shared().whole(&text),
    ))
}

/// See `SearchStore::store_embeddings`.
pub(crate) async fn store(
    database: &AgentDatabase,
    name: &str,
    embeddings: &[(Embeddable, Option<Embedding>)],
) -> Result<(), AgentStoreError> {
    let mut work = database.write().await?;
    let Some(model) = find(&mut work, name).await? else {
        return Err(AgentStoreError::NotFound("embedding model"));
    };
    let is_other = |embedding: &Embedding| embedding.dimension() != model.dimension;
    if embeddings
        .iter()
        .any(|(_, embedding)| embedding.as_ref().is_some_and(is_other))
    {
        return Err(AgentStoreError::Conflict(format!(
            "the model {name} has {} dimensions and gave an embedding of another size; nothing was stored",
            model.dimension
        )));
    }
    let (mut chunks, mut items) = (Vec::new(), Vec::new());
    {
        let handed_out = database.handed_out();
        for (what, embedding) in embeddings {
            let embedding = embedding.as_ref();
            match what {
                Embeddable::Chunk(id) => chunks.push(row(id, ANY_ENTRY, embedding, work.dialect)),
                Embeddable::Item(id) => {
                    let number = handed_out.get(id).copied().unwrap_or(ANY_ENTRY);
                    items.push(row(id, number, embedding, work.dialect));
                }
            }
        }
    }
    insert_vectors(&mut work, model, "chunk_id", &chunks).await?;
    insert_vectors(&mut work, model, "item_id", &items).await?;
    work.commit().await?;
    database.copy_soon().await;
    Ok(())
}

/// Stands for the entry of a chunk, whose text never changes, or of an item that was not handed out.
const ANY_ENTRY: i64 = -1;

fn row(id: &dyn Display, number: i64, embedding: Option<&Embedding>, dialect: Dialect) -> Value {
    let embedding = embedding.map(|embedding| match dialect {
        Dialect::Sqlite => embedding.to_bytes().iter().fold(String::new(), |mut text, byte| {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        }),
        Dialect::Postgres => vector_text(embedding),
    });
    json!({ "id": id.to_string(), "number": number, "embedding": embedding })
}

async fn insert_vectors(
    work: &mut Work,
    model: Model,
    owner: &str,
    rows: &[Value],
) -> Result<(), AgentStoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    let source = work
        .dialect
        .rows(&[("id", false), ("number", true), ("embedding", false)]);
    let value = work.dialect.pick("unhex(r.embedding)", "r.embedding::halfvec");
    // On PostgreSQL the entry may be deleted at the same time.
    let lock = work.dialect.pick("", " FOR KEY SHARE OF e");
    let insert = format!(
        "INSERT INTO vectors (model, entry, kind, project_id, label, embedding) \
         SELECT $2, e.number, e.kind, e.project_id, e.label, {value} FROM {source} JOIN entries e ON e.{owner} = r.id \
         WHERE r.number IN ({ANY_ENTRY}, e.number){lock} \
         ON CONFLICT (entry, model) DO UPDATE SET embedding = excluded.embedding"
    );
    for batch in rows.chunks(BATCH) {
        work.run(insert.as_str(), vec![Arg::json(batch)?, Arg::from(model.number)])
            .await?;
    }
    Ok(())
}

/// An embedding as a value of a statement.
pub(crate) fn vector_arg(dialect: Dialect, embedding: &Embedding) -> Arg {
    match dialect {
        Dialect::Sqlite => Arg::Bytes(Some(embedding.to_bytes())),
        Dialect::Postgres => Arg::Text(Some(vector_text(embedding))),
    }
}

/// An embedding as pgvector reads it.
fn vector_text(embedding: &Embedding) -> String {
    let mut text = String::from("[");
    for (index, byte) in embedding.to_bytes().iter().enumerate() {
        let between = if index > 0 { "," } else { "" };
        // Writing to a string does not fail.
        let _ = write!(text, "{between}{}", byte.cast_signed());
    }
    text.push(']');
    text
}
