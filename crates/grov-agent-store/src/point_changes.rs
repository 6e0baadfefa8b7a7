//! Keeps a copy of the embeddings in Qdrant.
//!
//! The table `vectors` stays the truth: the database notes each change of it by a trigger in the same transaction, in
//! `point_changes`. What is noted is brought up to date in Qdrant from what the table has then, however often that is
//! interrupted: a killed process leaves its notes. Searches go to Qdrant, and to the table while it does not answer.

use crate::AgentDatabase;
use crate::column::Columns;
use crate::dialect::Dialect;
use crate::index_words::EntryKind;
use crate::models::{self, Model};
use crate::qdrant::{Point, QdrantServer, collection};
use crate::search::{Bounds, Ranked};
use crate::work::{Arg, Work, args};
use grov_agent::{AgentStoreError, ChunkId, MemoryItemId, ProjectId};
use grov_domain::Embedding;
use serde_json::{Value, json};
use sqlx::any::AnyRow;
use std::collections::{BTreeMap, HashSet};

/// Changes that are brought up to date at a time.
const BATCH: u32 = 500;

/// The lock under which one instance at a time changes Qdrant: "grov" in ASCII, then a number of its own.
const COPY_LOCK: &str =
    "SELECT CASE WHEN pg_try_advisory_xact_lock(7454406418205310978) THEN 1 ELSE 0 END AS is_locked";

/// The most points that a search asks for.
const MOST_ASKED: u32 = 4_000;

/// How many more points than results a search asks for first: some may be out of force.
const SPARE: u32 = 32;

fn address(row: Option<AnyRow>) -> Result<Option<String>, AgentStoreError> {
    row.map(|row| row.get_as("address")).transpose()
}

/// Notes all embeddings of a model, which became the one in use.
pub(crate) async fn note_model(work: &mut Work, model: &str) -> Result<(), AgentStoreError> {
    const NOTE: &str = "INSERT INTO point_changes (project_id, kind, entry) \
         SELECT v.project_id, v.kind, v.entry FROM vectors v JOIN models m ON m.number = v.model \
         WHERE m.name = $1 AND m.is_current = 0 AND EXISTS (SELECT 1 FROM vector_copy)";
    work.run(NOTE, args![model]).await.map(drop)
}

impl AgentDatabase {
    /// Notes changes for Qdrant from now on, and everything for one at another address than before; without Qdrant, notes nothing
    /// any more. For the service alone: what a command is started with says nothing about it.
    ///
    /// # Errors
    ///
    /// The database does not answer.
    pub async fn use_qdrant(&self) -> Result<(), AgentStoreError> {
        const FOUND: &str = "SELECT address FROM vector_copy";
        const FILL: &str = "INSERT INTO point_changes (project_id, kind, entry) \
             SELECT v.project_id, v.kind, v.entry FROM vectors v JOIN models m ON m.number = v.model WHERE m.is_current = 1";
        let wanted = self.qdrant.as_ref().map(|qdrant| qdrant.address.as_str());
        let found = address(self.read().await?.one(FOUND, args![]).await?)?;
        if found.as_deref() == wanted {
            return Ok(());
        }
        let mut work = self.write().await?;
        // Several instances may start at once.
        if work.dialect == Dialect::Postgres {
            work.run("LOCK TABLE vector_copy IN EXCLUSIVE MODE", args![])
                .await?;
        }
        let found = address(work.one(FOUND, args![]).await?)?;
        if found.as_deref() != wanted {
            work.run("DELETE FROM vector_copy", args![]).await?;
            work.run("DELETE FROM point_changes", args![]).await?;
            if let Some(wanted) = wanted {
                work.run("INSERT INTO vector_copy (address) VALUES ($1)", args![wanted])
                    .await?;
                work.run(FILL, args![]).await?;
            }
        }
        work.commit().await
    }

    /// Brings some noted changes up to date in Qdrant. Returns whether there may be more. Without Qdrant there are none.
    ///
    /// # Errors
    ///
    /// Qdrant or the database does not answer. The changes stay noted.
    pub async fn copy_points(&self) -> Result<bool, AgentStoreError> {
        let Some(qdrant) = &self.qdrant else {
            return Ok(false);
        };
        let _alone = self.copying.lock().await;
        let mut work = match self.dialect {
            // SQLite has one writer, which must not wait for a server.
            Dialect::Sqlite => self.read().await?,
            Dialect::Postgres => self.write().await?,
        };
        if !is_alone(&mut work).await? {
            return Ok(false);
        }
        let changes = noted(&mut work).await?;
        if changes.is_empty() {
            return Ok(false);
        }
        let is_more = changes.len() >= BATCH as usize;
        let model = current(&mut work).await?;
        let mut emptied = Vec::new();
        for ((project, kind), entries) in by_collection(&changes) {
            if copy(&mut work, qdrant, model.as_ref(), project, kind, &entries).await? {
                emptied.push((project, kind));
            }
        }
        if self.dialect == Dialect::Sqlite {
            work = self.write().await?;
        }
        let numbers: Vec<i64> = changes.iter().map(|change| change.number).collect();
        for (project, kind) in &emptied {
            note_all(&mut work, *project, *kind).await?;
        }
        forget(&mut work, &numbers).await?;
        work.commit().await?;
        Ok(is_more || !emptied.is_empty())
    }

    /// Compares the numbers of points with those of embeddings, and fills collections again that differ: a server that lost its
    /// data. Returns how many.
    ///
    /// # Errors
    ///
    /// Qdrant or the database does not answer.
    pub async fn reconcile_points(&self) -> Result<usize, AgentStoreError> {
        const COUNTS: &str = "SELECT v.project_id, v.kind, count(*) AS points FROM vectors v \
             JOIN models m ON m.number = v.model WHERE m.is_current = 1 AND v.embedding IS NOT NULL \
             AND NOT EXISTS (SELECT 1 FROM point_changes c WHERE c.project_id = v.project_id AND c.kind = v.kind) \
             GROUP BY v.project_id, v.kind";
        let Some(qdrant) = &self.qdrant else {
            return Ok(0);
        };
        let rows = self.read().await?.all(COUNTS, args![]).await?;
        let mut filled = 0;
        for row in &rows {
            let (project, kind) = (row.get_as::<ProjectId>("project_id")?, kind_of(row)?);
            let expected: u64 = row.get_as("points")?;
            let name = collection(project, kind);
            let found = qdrant.count(&name).await?;
            if found != expected {
                tracing::warn!(collection = %name, found, expected, "the collection of Qdrant is filled again");
                let mut work = self.write().await?;
                note_all(&mut work, project, kind).await?;
                work.commit().await?;
                let _alone = self.copying.lock().await;
                qdrant.drop_collection(&name).await?;
                filled += 1;
            }
        }
        Ok(filled)
    }

    /// Copies what was just stored, so that it is found at once. What cannot be copied now stays noted.
    pub(crate) async fn copy_soon(&self) {
        if self.qdrant.is_some()
            && let Err(error) = self.copy_points().await
        {
            tracing::debug!(%error, "embeddings are copied to Qdrant later");
        }
    }
}

/// A noted change.
struct Change {
    number: i64,
    project: ProjectId,
    kind: EntryKind,
    entry: i64,
}

/// Takes the lock of PostgreSQL. On SQLite the lock in this process is enough: one process serves.
async fn is_alone(work: &mut Work) -> Result<bool, AgentStoreError> {
    if work.dialect == Dialect::Sqlite {
        return Ok(true);
    }
    let row = work.one(COPY_LOCK, args![]).await?;
    row.map_or(Ok(false), |row| row.get_as("is_locked"))
}

async fn noted(work: &mut Work) -> Result<Vec<Change>, AgentStoreError> {
    const SELECT: &str = "SELECT number, project_id, kind, entry FROM point_changes ORDER BY number LIMIT $1";
    let rows = work.all(SELECT, args![BATCH]).await?;
    rows.iter()
        .map(|row| {
            Ok(Change {
                number: row.get_as("number")?,
                project: row.get_as("project_id")?,
                kind: kind_of(row)?,
                entry: row.get_as("entry")?,
            })
        })
        .collect()
}

fn kind_of(row: &AnyRow) -> Result<EntryKind, AgentStoreError> {
    let kind: String = row.get_as("kind")?;
    Ok(if kind == EntryKind::Chunk.as_str() {
        EntryKind::Chunk
    } else {
        EntryKind::Item
    })
}

fn by_collection(changes: &[Change]) -> BTreeMap<(ProjectId, EntryKind), Vec<i64>> {
    let mut found: BTreeMap<_, Vec<i64>> = BTreeMap::new();
    for change in changes {
        let entries = found.entry((change.project, change.kind)).or_default();
        entries.push(change.entry);
    }
    for entries in found.values_mut() {
        entries.sort_unstable();
        entries.dedup();
    }
    found
}

/// The model in use with its name.
async fn current(work: &mut Work) -> Result<Option<(String, Model)>, AgentStoreError> {
    let row = work
        .one("SELECT name FROM models WHERE is_current = 1", args![])
        .await?;
    let Some(row) = row else { return Ok(None) };
    let name: String = row.get_as("name")?;
    let model = models::find(work, &name).await?;
    Ok(model.map(|model| (name, model)))
}

/// Makes the points of some entries what the database has. Returns whether the collection was made, and lacks all others.
async fn copy(
    work: &mut Work,
    qdrant: &QdrantServer,
    model: Option<&(String, Model)>,
    project: ProjectId,
    kind: EntryKind,
    entries: &[i64],
) -> Result<bool, AgentStoreError> {
    let name = collection(project, kind);
    let exists = work
        .one("SELECT 1 AS one FROM projects WHERE id = $1", args![project])
        .await?;
    if exists.is_none() {
        qdrant.drop_collection(&name).await?;
        return Ok(false);
    }
    let points = match model {
        Some((model_name, model)) => points(work, model_name, *model, entries).await?,
        None => Vec::new(),
    };
    let kept: HashSet<i64> = points.iter().map(|point| point.entry).collect();
    let gone: Vec<i64> = entries
        .iter()
        .copied()
        .filter(|entry| !kept.contains(entry))
        .collect();
    if !gone.is_empty() {
        qdrant.delete(&name, &gone).await?;
    }
    let Some((_, model)) = model.filter(|_| !points.is_empty()) else {
        return Ok(false);
    };
    let is_new = qdrant.ensure(&name, model.dimension).await?;
    qdrant.upsert(&name, &points).await?;
    Ok(is_new)
}

async fn points(
    work: &mut Work,
    name: &str,
    model: Model,
    entries: &[i64],
) -> Result<Vec<Point>, AgentStoreError> {
    let embedding = work.dialect.pick("v.embedding", "v.embedding::text AS embedding");
    let select = format!(
        "SELECT v.entry, v.label, {embedding}, e.chunk_id, e.item_id, c.document_id FROM vectors v \
         JOIN entries e ON e.number = v.entry LEFT JOIN chunks c ON c.id = e.chunk_id \
         WHERE v.model = $2 AND v.embedding IS NOT NULL AND {}",
        numbers_in(work.dialect, "v.entry")
    );
    let rows = work
        .all(select, vec![Arg::json(entries)?, Arg::from(model.number)])
        .await?;
    let dialect = work.dialect;
    let mut points = Vec::with_capacity(rows.len());
    for row in &rows {
        let Some(embedding) = stored_embedding(row, dialect)? else {
            continue;
        };
        let label: String = row.get_as("label")?;
        let mut payload = json!({"model": name, "label": label});
        if let Some(chunk) = row.get_as::<Option<ChunkId>>("chunk_id")? {
            payload["chunk_id"] = json!(chunk);
            payload["document_id"] = json!(row.get_as::<Option<String>>("document_id")?);
        }
        if let Some(item) = row.get_as::<Option<MemoryItemId>>("item_id")? {
            payload["item_id"] = json!(item);
        }
        points.push(Point {
            entry: row.get_as("entry")?,
            embedding,
            payload,
        });
    }
    Ok(points)
}

fn stored_embedding(row: &AnyRow, dialect: Dialect) -> Result<Option<Embedding>, AgentStoreError> {
    let bytes = match dialect {
        Dialect::Sqlite => row.get_as::<Vec<u8>>("embedding")?,
        Dialect::Postgres => {
            let values: Vec<i8> = row.json("embedding")?;
            values.into_iter().map(i8::cast_unsigned).collect()
        }
    };
    Ok(Embedding::from_bytes(&bytes))
}

fn numbers_in(dialect: Dialect, column: &str) -> String {
    match dialect {
        Dialect::Sqlite => format!("{column} IN (SELECT value FROM json_each($1))"),
        Dialect::Postgres => {
            format!("{column} = ANY (ARRAY(SELECT jsonb_array_elements_text($1::text::jsonb)::bigint))")
        }
    }
}

async fn note_all(work: &mut Work, project: ProjectId, kind: EntryKind) -> Result<(), AgentStoreError> {
    const NOTE: &str = "INSERT INTO point_changes (project_id, kind, entry) \
         SELECT v.project_id, v.kind, v.entry FROM vectors v JOIN models m ON m.number = v.model \
         WHERE m.is_current = 1 AND v.project_id = $1 AND v.kind = $2";
    work.run(NOTE, args![project, kind.as_str()]).await.map(drop)
}

async fn forget(work: &mut Work, numbers: &[i64]) -> Result<(), AgentStoreError> {
    let delete = format!(
        "DELETE FROM point_changes WHERE {}",
        numbers_in(work.dialect, "number")
    );
    work.run(delete, vec![Arg::json(numbers)?]).await.map(drop)
}

/// Searches in Qdrant. What it finds is found only if the database says that it may be.
pub(crate) async fn nearest(
    work: &mut Work,
    qdrant: &QdrantServer,
    project: ProjectId,
    model: &str,
    embedding: &Embedding,
    bounds: &Bounds,
) -> Result<Vec<Ranked>, AgentStoreError> {
    let name = collection(project, bounds.kind);
    let labels: Option<Value> = bounds
        .labels
        .as_deref()
        .and_then(|labels| serde_json::from_str(labels).ok());
    let limit = usize::try_from(bounds.limit).unwrap_or(usize::MAX);
    let mut asked = bounds.limit.saturating_add(SPARE).min(MOST_ASKED);
    loop {
        let found = qdrant
            .nearest(&name, embedding, model, labels.as_ref(), asked)
            .await?;
        let is_all = found.len() < asked as usize || asked >= MOST_ASKED;
        let allowed = allowed(work, project, bounds, &found).await?;
        let mut ranked: Vec<Ranked> = found
            .into_iter()
            .filter(|(entry, _)| allowed.contains(entry))
            .collect();
        if ranked.len() >= limit || is_all {
            ranked.truncate(limit);
            return Ok(ranked);
        }
        asked = asked.saturating_mul(4).min(MOST_ASKED);
    }
}

/// Those of the entries that may be found.
async fn allowed(
    work: &mut Work,
    project: ProjectId,
    bounds: &Bounds,
    found: &[Ranked],
) -> Result<HashSet<i64>, AgentStoreError> {
    let entries: Vec<i64> = found.iter().map(|(entry, _)| *entry).collect();
    let select = format!(
        "SELECT e.number FROM entries e WHERE {} AND e.project_id = $4 AND {}",
        numbers_in(work.dialect, "e.number"),
        bounds.conditions(work.dialect)
    );
    let mut values = vec![Arg::json(&entries)?];
    // Labels and time, without the limit.
    values.extend(bounds.args().into_iter().take(2));
    values.push(Arg::from(project));
    let rows = work.all(select, values).await?;
    rows.iter().map(|row| row.get_as("number")).collect()
}
