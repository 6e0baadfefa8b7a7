//! Search by nearness to an embedding.

use crate::column::Columns;
use crate::dialect::Dialect;
use crate::error::failed;
use crate::index_words::EntryKind;
use crate::models::{MOST_INDEXED_DIMENSIONS, Model, vector_arg};
use crate::search::{Bounds, Ranked, entry_and_score};
use crate::work::{Work, args, bound};
use futures_util::TryStreamExt;
use grov_agent::{AgentStoreError, ProjectId};
use grov_domain::Embedding;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Settings of a search through an index of pgvector: how many candidates it keeps, and that it goes on until enough of
/// them meet the conditions.
const INDEX_SETTINGS: [&str; 2] = [
    "SET LOCAL hnsw.ef_search = 100",
    "SET LOCAL hnsw.iterative_scan = strict_order",
];

/// Returns the nearest entries, nearest first.
pub(crate) async fn nearest(
    work: &mut Work,
    project: ProjectId,
    model: Model,
    embedding: &Embedding,
    bounds: &Bounds,
) -> Result<Vec<Ranked>, AgentStoreError> {
    match work.dialect {
        Dialect::Sqlite => nearest_sqlite(work, project, model, embedding, bounds).await,
        Dialect::Postgres => nearest_postgres(work, project, model, embedding, bounds).await,
    }
}

/// Compares with all embeddings of the project that meet the conditions.
async fn nearest_sqlite(
    work: &mut Work,
    project: ProjectId,
    model: Model,
    embedding: &Embedding,
    bounds: &Bounds,
) -> Result<Vec<Ranked>, AgentStoreError> {
    // The rows of `vectors` have what the conditions need, but for the items, whose state changes.
    let conditions = bounds.conditions(work.dialect);
    let source = match bounds.kind {
        EntryKind::Chunk => "vectors e",
        EntryKind::Item => "(SELECT v.*, n.item_id FROM vectors v JOIN entries n ON n.number = v.entry) e",
    };
    let select = format!(
        "SELECT e.entry, e.embedding FROM {source} WHERE e.model = $1 AND e.kind = $5 AND e.project_id = $6 \
         AND e.embedding IS NOT NULL AND $4 IS NOT NULL AND {conditions}"
    );
    let values = [
        args![model.number],
        bounds.args(),
        args![bounds.kind.as_str(), project],
    ]
    .concat();
    let limit = usize::try_from(bounds.limit).unwrap_or(usize::MAX);
    let mut best: BinaryHeap<Reverse<Near>> = BinaryHeap::new();
    let mut rows = bound(select, values).fetch(work.connection());
    while let Some(row) = rows.try_next().await.map_err(failed)? {
        let bytes: Vec<u8> = row.get_as("embedding")?;
        let Some(stored) = Embedding::from_bytes(&bytes) else {
            continue;
        };
        best.push(Reverse(Near {
            similarity: embedding.similarity(&stored),
            entry: row.get_as("entry")?,
        }));
        if best.len() > limit {
            best.pop();
        }
    }
    let mut best: Vec<Near> = best.into_iter().map(|Reverse(near)| near).collect();
    best.sort_unstable_by(|one, other| other.cmp(one));
    Ok(best
        .into_iter()
        .map(|near| (near.entry, near.similarity))
        .collect())
}

async fn nearest_postgres(
    work: &mut Work,
    project: ProjectId,
    model: Model,
    embedding: &Embedding,
    bounds: &Bounds,
) -> Result<Vec<Ranked>, AgentStoreError> {
    let kind = bounds.kind.as_str();
    let Model {
        number, dimension, ..
    } = model;
    let has_index = dimension <= MOST_INDEXED_DIMENSIONS;
    let uses_index = has_index && !is_small(work, project, model, bounds).await?;
    if uses_index {
        for setting in INDEX_SETTINGS {
            work.run(setting, args![]).await?;
        }
    }
    // The model is a number in the text, so that the planner sees that its index fits. The question is read once by a
    // subquery, and not again for each row.
    let distance = format!("v.embedding::halfvec({dimension}) <=> (SELECT $1::text::halfvec({dimension}))");
    // An expression that no index has is computed for each row that meets the conditions.
    let order = if uses_index {
        distance.clone()
    } else {
        format!("({distance}) + 0")
    };
    let conditions = bounds.conditions(work.dialect).replace("e.label", "v.label");
    let entries = match bounds.kind {
        EntryKind::Chunk => "",
        EntryKind::Item => " JOIN entries e ON e.number = v.entry",
    };
    let select = format!(
        "SELECT v.entry AS number, 1 - ({distance}) AS score FROM vectors v{entries} \
         WHERE v.model = {number} AND v.kind = $5 AND v.project_id = $6 AND v.embedding IS NOT NULL AND {conditions} \
         ORDER BY {order} LIMIT $4"
    );
    let values = [
        vec![vector_arg(work.dialect, embedding)],
        bounds.args(),
        args![kind, project],
    ]
    .concat();
    let rows = work.all(select, values).await?;
    rows.iter().map(entry_and_score).collect()
}

/// Whether a project has so few embeddings that comparing with all is quick.
async fn is_small(
    work: &mut Work,
    project: ProjectId,
    model: Model,
    bounds: &Bounds,
) -> Result<bool, AgentStoreError> {
    const COUNT: &str = "SELECT count(*) AS found FROM (SELECT 1 FROM vectors WHERE model = $1 AND kind = $2 \
         AND project_id = $3 LIMIT $4) few";
    let most = bounds.compared_embeddings;
    let values = args![model.number, bounds.kind.as_str(), project, u64::from(most) + 1];
    let row = work.one(COUNT, values).await?;
    let found: u32 = row.map_or(Ok(0), |row| row.get_as("found"))?;
    Ok(found <= most)
}

/// An entry by its nearness; of equally near ones, the older counts as nearer.
#[derive(Clone, Copy, Debug)]
struct Near {
    similarity: f64,
    entry: i64,
}

impl Ord for Near {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.similarity
            .total_cmp(&other.similarity)
            .then_with(|| other.entry.cmp(&self.entry))
    }
}

impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Near {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Near {}
