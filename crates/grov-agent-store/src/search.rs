//! Search by words and by vectors.

use crate::AgentDatabase;
use crate::column::Columns;
use crate::dialect::Dialect;
use crate::index_words::{EntryKind, question_words, scope_word};
use crate::memory_rows;
use crate::models;
use crate::point_changes;
use crate::qdrant::QdrantServer;
use crate::vectors;
use crate::work::{Arg, Work, args, micros};
use async_trait::async_trait;
use grov_agent::{
    AgentStoreError, Embeddable, EmbeddedShare, FoundChunk, FoundItem, SearchBy, SearchScope, SearchStore,
};
use grov_domain::Embedding;
use grov_redact::Redacted;
use sqlx::any::AnyRow;
use std::collections::HashMap;

/// The most results of a search, whatever is asked for.
const MOST_RESULTS: u32 = 1_000;

/// Up to this many entries, PostgreSQL counts how often a word occurs.
const COUNTED: u32 = 3_000;

/// With this many entries that have the rarer words of a question, those that have only the others are left out.
const ENOUGH: u32 = 1_000;

/// The most entries that PostgreSQL ranks by words.
const RANKED: u32 = 10_000;

/// An entry and its score.
pub(crate) type Ranked = (i64, f64);

/// What may be found, as text and values of a statement.
pub(crate) struct Bounds {
    pub(crate) kind: EntryKind,
    /// The names of the categories or types as a JSON array; `None` for all.
    pub(crate) labels: Option<String>,
    pub(crate) now: i64,
    pub(crate) limit: u32,
    /// See `DatabaseOptions::compared_embeddings`.
    pub(crate) compared_embeddings: u32,
}

impl Bounds {
    fn of(kind: EntryKind, scope: &SearchScope<'_>, compared_embeddings: u32) -> Self {
        let names: Vec<&str> = match kind {
            EntryKind::Chunk => scope
                .filter
                .categories
                .iter()
                .map(|category| category.as_str())
                .collect(),
            EntryKind::Item => scope.filter.types.iter().map(|kind| kind.as_str()).collect(),
        };
        Self {
            kind,
            labels: (!names.is_empty()).then(|| serde_json::Value::from(names).to_string()),
            now: micros(scope.now),
            limit: scope.limit.min(MOST_RESULTS),
            compared_embeddings,
        }
    }

    /// Conditions on an entry `e`. Parameters `$2` and `$3` are [`Bounds::args`]; each form of the statement uses both.
    pub(crate) fn conditions(&self, dialect: Dialect) -> String {
        let labels = match &self.labels {
            Some(_) => dialect.is_in("e.label", 2),
            None => dialect.pick("$2 IS NULL", "$2::text IS NULL").to_owned(),
        };
        match self.kind {
            EntryKind::Chunk => format!("{labels} AND $3 IS NOT NULL"),
            EntryKind::Item => format!(
                "{labels} AND EXISTS (SELECT 1 FROM memory_items m WHERE m.id = e.item_id AND {})",
                memory_rows::in_force(3)
            ),
        }
    }

    /// The values of the parameters 2, 3 and 4: labels, time and limit.
    pub(crate) fn args(&self) -> Vec<Arg> {
        vec![
            Arg::Text(self.labels.clone()),
            Arg::from(self.now),
            Arg::from(self.limit),
        ]
    }
}

#[async_trait]
impl SearchStore for AgentDatabase {
    async fn find_chunks(
        &self,
        by: &SearchBy<'_>,
        scope: &SearchScope<'_>,
    ) -> Result<Vec<FoundChunk>, AgentStoreError> {
        let mut work = self.snapshot().await?;
        let bounds = Bounds::of(EntryKind::Chunk, scope, self.compared_embeddings);
        let ranked = ranked(&mut work, self.qdrant.as_ref(), bounds, by, scope).await?;
        let select = format!(
            "SELECT e.number, c.*, d.title, d.category, d.updated_at FROM entries e \
             JOIN chunks c ON c.id = e.chunk_id JOIN documents d ON d.id = c.document_id WHERE {}",
            numbers_in(self.dialect)
        );
        in_order(&mut work, select, ranked, |row, score| {
            Ok(FoundChunk {
                id: row.get_as("id")?,
                document: row.get_as("document_id")?,
                title: row.get_as("title")?,
                category: row.get_as("category")?,
                updated_at: row.get_as("updated_at")?,
                heading_path: row.json("heading_path")?,
                text: row.get_as("text")?,
                range: row.get_as("range_start")?..row.get_as("range_end")?,
                score,
            })
        })
        .await
    }

    async fn find_items(
        &self,
        by: &SearchBy<'_>,
        scope: &SearchScope<'_>,
    ) -> Result<Vec<FoundItem>, AgentStoreError> {
        let mut work = self.snapshot().await?;
        let bounds = Bounds::of(EntryKind::Item, scope, self.compared_embeddings);
        let ranked = ranked(&mut work, self.qdrant.as_ref(), bounds, by, scope).await?;
        let select = format!(
            "SELECT e.number, m.* FROM entries e JOIN memory_items m ON m.id = e.item_id WHERE {}",
            numbers_in(self.dialect)
        );
        in_order(&mut work, select, ranked, |row, score| {
            memory_rows::item(row).map(|item| FoundItem { item, score })
        })
        .await
    }

    async fn use_model(&self, model: &str, dimension: usize) -> Result<(), AgentStoreError> {
        models::use_model(self, model, dimension).await
    }

    async fn models(&self) -> Result<Vec<(String, usize)>, AgentStoreError> {
        models::all(&mut self.read().await?).await
    }

    async fn unembedded(
        &self,
        model: &str,
        limit: u32,
    ) -> Result<Vec<(Embeddable, Redacted)>, AgentStoreError> {
        models::unembedded(self, model, limit).await
    }

    async fn store_embeddings(
        &self,
        model: &str,
        embeddings: &[(Embeddable, Option<Embedding>)],
    ) -> Result<(), AgentStoreError> {
        models::store(self, model, embeddings).await
    }

    async fn drop_other_models(&self, model: &str) -> Result<(), AgentStoreError> {
        models::drop_others(self, model).await
    }

    async fn embedded_share(&self, model: &str) -> Result<EmbeddedShare, AgentStoreError> {
        models::share(&mut self.read().await?, model).await
    }
}

/// Returns the best entries, best first.
async fn ranked(
    work: &mut Work,
    qdrant: Option<&QdrantServer>,
    bounds: Bounds,
    by: &SearchBy<'_>,
    scope: &SearchScope<'_>,
) -> Result<Vec<Ranked>, AgentStoreError> {
    if bounds.limit == 0 {
        return Ok(Vec::new());
    }
    match by {
        SearchBy::Vector {
            model: name,
            embedding,
        } => {
            let Some(model) = models::find(work, name).await? else {
                return Ok(Vec::new());
            };
            if model.dimension != embedding.dimension() {
                return Ok(Vec::new());
            }
            // Qdrant has the model in use; one that is being replaced is searched in the table.
            if let Some(qdrant) = qdrant.filter(|_| model.is_current) {
                match point_changes::nearest(work, qdrant, scope.project, name, embedding, &bounds).await {
                    Ok(found) => return Ok(found),
                    Err(error) => tracing::warn!(%error, "the table of vectors is searched instead"),
                }
            }
            vectors::nearest(work, scope.project, model, embedding, &bounds).await
        }
        SearchBy::Words(_) => {
            let words = question_words(by).unwrap_or_default();
            if words.is_empty() {
                return Ok(Vec::new());
            }
            let scope = scope_word(scope.project, bounds.kind);
            match work.dialect {
                Dialect::Sqlite => by_words_sqlite(work, &scope, &words, &bounds).await,
                Dialect::Postgres => by_words_postgres(work, &scope, &words, &bounds).await,
            }
        }
    }
}

/// BM25 of FTS5. A word in the title counts three times as much as one in the text, one in a heading twice as much.
async fn by_words_sqlite(
    work: &mut Work,
    scope: &str,
    words: &[String],
    bounds: &Bounds,
) -> Result<Vec<Ranked>, AgentStoreError> {
    let select = format!(
        "SELECT e.number, -bm25(entry_words, 0.0, 3.0, 2.0, 1.0) AS score FROM entry_words \
         JOIN entries e ON e.number = entry_words.rowid WHERE entry_words MATCH $1 AND {} \
         ORDER BY score DESC, e.number LIMIT $4",
        bounds.conditions(work.dialect)
    );
    let any: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let matching = format!(
        "(scope : {scope}) AND ({{title heading body}} : ({}))",
        any.join(" OR ")
    );
    let values = [args![matching], bounds.args()].concat();
    let rows = work.all(select, values).await?;
    rows.iter().map(entry_and_score).collect()
}

/// PostgreSQL's own ranking does not know how rare a word is, so the rank of each word is weighted by its rarity in the
/// project, counted up to a bound. Entries that have only the most common words of a question are ranked only if there are
/// few others.
async fn by_words_postgres(
    work: &mut Work,
    scope: &str,
    words: &[String],
    bounds: &Bounds,
) -> Result<Vec<Ranked>, AgentStoreError> {
    let select = format!(
        "WITH question AS MATERIALIZED (SELECT word::tsquery AS word, place FROM \
             unnest(ARRAY(SELECT jsonb_array_elements_text($5::text::jsonb))) WITH ORDINALITY AS w (word, place)), \
         total AS MATERIALIZED (SELECT count(*) AS entries FROM \
             (SELECT 1 FROM entries WHERE words @@ $1::text::tsquery LIMIT {COUNTED}) AS few), \
         rarity AS MATERIALIZED (SELECT word, place, (SELECT count(*) FROM (SELECT 1 FROM entries \
             WHERE words @@ ($1::text::tsquery && q.word) LIMIT {COUNTED}) AS few) AS entries FROM question q), \
         chosen AS (SELECT word FROM (SELECT word, sum(entries) OVER (ORDER BY entries, place) - entries AS before \
             FROM rarity WHERE entries > 0) AS rarest WHERE before < {ENOUGH}), \
         matching AS MATERIALIZED (SELECT e.number, e.words || ''::tsvector AS words FROM entries e WHERE e.words @@ \
             (SELECT ($1::text || ' & (' || string_agg(word::text, ' | ') || ')')::tsquery FROM chosen) AND {} \
             LIMIT {RANKED}), \
         weights AS MATERIALIZED (SELECT r.word, 0.1 + ln((1 + (t.entries - r.entries + 0.5) / (r.entries + 0.5))::float8) \
             AS weight FROM rarity r, total t WHERE r.entries > 0) \
         SELECT m.number, (SELECT sum(ts_rank('{{0, 0.3, 0.6, 1.0}}', m.words, w.word, 1) * w.weight) FROM weights w) \
         AS score FROM matching m ORDER BY score DESC, m.number LIMIT $4",
        bounds.conditions(work.dialect)
    );
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let scope = format!("'{scope}'");
    let values = [args![scope], bounds.args(), vec![Arg::names(&quoted)]].concat();
    let rows = work.all(select, values).await?;
    rows.iter().map(entry_and_score).collect()
}

pub(crate) fn entry_and_score(row: &AnyRow) -> Result<Ranked, AgentStoreError> {
    Ok((row.get_as("number")?, row.get_as("score")?))
}

/// The condition that an entry is one of the numbers in parameter 1.
fn numbers_in(dialect: Dialect) -> &'static str {
    dialect.pick(
        "e.number IN (SELECT value FROM json_each($1))",
        "e.number = ANY (ARRAY(SELECT jsonb_array_elements_text($1::text::jsonb)::bigint))",
    )
}

/// Reads the entries that were found, in the order in which they were ranked.
async fn in_order<T>(
    work: &mut Work,
    select: String,
    ranked: Vec<Ranked>,
    read: impl Fn(&AnyRow, f64) -> Result<T, AgentStoreError>,
) -> Result<Vec<T>, AgentStoreError> {
    if ranked.is_empty() {
        return Ok(Vec::new());
    }
    let numbers: Vec<i64> = ranked.iter().map(|(number, _)| *number).collect();
    let rows = work.all(select, vec![Arg::json(&numbers)?]).await?;
    let mut by_number = HashMap::new();
    for row in &rows {
        by_number.insert(row.get_as::<i64>("number")?, row);
    }
    ranked
        .into_iter()
        .filter_map(|(number, score)| by_number.get(&number).map(|row| read(row, score)))
        .collect()
}
