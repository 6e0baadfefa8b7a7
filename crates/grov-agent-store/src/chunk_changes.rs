//! Replaces the chunks of a document by those of its new version. Chunks with the same heading path and text stay.

use crate::column::Columns;
use crate::entries::{self, NewEntry};
use crate::index_words::{EntryKind, EntryWords};
use crate::work::{Arg, Work, args, json_of, without_nul};
use grov_agent::{AgentStoreError, ChunkId, DocumentId, NewChunk, NewDocument};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// Number of chunks that one statement writes.
const BATCH: usize = 250;

/// A chunk of the stored version.
#[derive(Debug)]
pub(crate) struct StoredChunk {
    id: ChunkId,
    heading_path: String,
    text: String,
}

/// Returns the chunks of the stored version in order.
pub(crate) async fn stored(work: &mut Work, id: DocumentId) -> Result<Vec<StoredChunk>, AgentStoreError> {
    const SELECT: &str = "SELECT id, heading_path, text FROM chunks WHERE document_id = $1 ORDER BY ordinal";
    let rows = work.all(SELECT, args![id]).await?;
    rows.iter()
        .map(|row| {
            Ok(StoredChunk {
                id: row.get_as("id")?,
                heading_path: row.get_as("heading_path")?,
                text: row.get_as("text")?,
            })
        })
        .collect()
}

/// A chunk at its place in the new version.
#[derive(Debug)]
struct Placed<'a> {
    id: ChunkId,
    ordinal: usize,
    heading_path: String,
    chunk: &'a NewChunk,
}

/// What changes between two versions.
#[derive(Debug)]
pub(crate) struct Changes<'a> {
    kept: Vec<Placed<'a>>,
    added: Vec<Placed<'a>>,
    gone: Vec<ChunkId>,
}

impl<'a> Changes<'a> {
    /// Matches the chunks. Of several equal ones, the first keeps the first id.
    pub(crate) fn between(before: &[StoredChunk], after: &'a [NewChunk]) -> Result<Self, AgentStoreError> {
        let keys = after.iter().map(key).collect::<Result<Vec<_>, _>>()?;
        let mut stored: HashMap<(&str, &str), VecDeque<ChunkId>> = HashMap::new();
        for chunk in before {
            let key = (chunk.heading_path.as_str(), chunk.text.as_str());
            stored.entry(key).or_default().push_back(chunk.id);
        }
        let (mut kept, mut added) = (Vec::new(), Vec::new());
        for (ordinal, (chunk, (heading_path, text))) in after.iter().zip(&keys).enumerate() {
            let same = stored
                .get_mut(&(heading_path.as_str(), &**text))
                .and_then(VecDeque::pop_front);
            let placed = |id| Placed {
                id,
                ordinal,
                heading_path: heading_path.clone(),
                chunk,
            };
            match same {
                Some(id) => kept.push(placed(id)),
                None => added.push(placed(ChunkId::fresh())),
            }
        }
        let gone = stored.into_values().flatten().collect();
        Ok(Self { kept, added, gone })
    }

    /// Number of chunks that keep their ids.
    pub(crate) fn kept(&self) -> u32 {
        u32::try_from(self.kept.len()).unwrap_or(u32::MAX)
    }
}

/// What makes a chunk the same one: its heading path and its text, as they are stored.
fn key(chunk: &NewChunk) -> Result<(String, Cow<'_, str>), AgentStoreError> {
    Ok((json_of(&chunk.heading_path)?, without_nul(&chunk.text)))
}

/// The words of chunks that are likely to be added, by their places.
pub(crate) type PreparedWords = HashMap<usize, EntryWords>;

/// Splits the chunks that the stored version does not have into words.
pub(crate) async fn prepare_words(
    work: &mut Work,
    before: Option<DocumentId>,
    new: &NewDocument,
) -> Result<PreparedWords, AgentStoreError> {
    let before = match before {
        Some(id) => stored(work, id).await?,
        None => Vec::new(),
    };
    let changes = Changes::between(&before, &new.chunks)?;
    let mut words = HashMap::new();
    for batch in changes.added.chunks(BATCH) {
        words.extend(
            batch
                .iter()
                .map(|placed| (placed.ordinal, words_of(new, placed.chunk))),
        );
        // A large document takes some time; others run meanwhile.
        tokio::task::yield_now().await;
    }
    Ok(words)
}

/// Writes the changes of a document that is stored already.
pub(crate) async fn apply(
    work: &mut Work,
    id: DocumentId,
    new: &NewDocument,
    changes: Changes<'_>,
    mut words: PreparedWords,
) -> Result<(), AgentStoreError> {
    let dialect = work.dialect;
    let gone = format!("DELETE FROM chunks WHERE {}", dialect.is_in("id", 1));
    for batch in changes.gone.chunks(BATCH) {
        work.run(gone.as_str(), vec![Arg::names(batch)]).await?;
    }
    let places = dialect.rows(&[
        ("id", false),
        ("ordinal", true),
        ("range_start", true),
        ("range_end", true),
    ]);
    let update = format!(
        "UPDATE chunks SET ordinal = r.ordinal, range_start = r.range_start, range_end = r.range_end \
         FROM {places} WHERE chunks.id = r.id"
    );
    for batch in changes.kept.chunks(BATCH) {
        let rows: Vec<Value> = batch.iter().map(row).collect();
        work.run(update.as_str(), vec![Arg::json(&rows)?]).await?;
    }
    let whole = dialect.rows(&[
        ("id", false),
        ("ordinal", true),
        ("heading_path", false),
        ("text", false),
        ("range_start", true),
        ("range_end", true),
    ]);
    let insert = format!(
        "INSERT INTO chunks (id, document_id, ordinal, heading_path, text, range_start, range_end) \
         SELECT r.id, $2, r.ordinal, r.heading_path, r.text, r.range_start, r.range_end FROM {whole}"
    );
    for batch in changes.added.chunks(BATCH) {
        let rows: Vec<Value> = batch.iter().map(whole_row).collect();
        work.run(insert.as_str(), vec![Arg::json(&rows)?, Arg::from(id)])
            .await?;
        let entries: Vec<NewEntry> = batch
            .iter()
            .map(|placed| NewEntry {
                id: placed.id.to_string(),
                words: words
                    .remove(&placed.ordinal)
                    .unwrap_or_else(|| words_of(new, placed.chunk)),
            })
            .collect();
        entries::insert(
            work,
            new.project,
            EntryKind::Chunk,
            new.category.as_str(),
            &entries,
        )
        .await?;
    }
    Ok(())
}

fn row(placed: &Placed<'_>) -> Value {
    json!({
        "id": placed.id,
        "ordinal": placed.ordinal,
        "range_start": placed.chunk.range.start,
        "range_end": placed.chunk.range.end,
    })
}

fn whole_row(placed: &Placed<'_>) -> Value {
    let mut row = row(placed);
    row["heading_path"] = Value::from(placed.heading_path.as_str());
    row["text"] = Value::from(&*without_nul(&placed.chunk.text));
    row
}

fn words_of(new: &NewDocument, chunk: &NewChunk) -> EntryWords {
    let heading_path: Vec<String> = chunk.heading_path.iter().map(ToString::to_string).collect();
    EntryWords::of(&new.title, &heading_path, &chunk.text)
}
