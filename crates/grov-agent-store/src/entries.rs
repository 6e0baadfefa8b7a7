//! Entries: what a search finds, with the words under which it is found.

use crate::dialect::Dialect;
use crate::index_words::{EntryKind, EntryWords, scope_word};
use crate::work::{Arg, Work, args};
use grov_agent::{AgentStoreError, MemoryItem, ProjectId};
use serde_json::{Value, json};

/// Number of entries that one statement inserts.
const BATCH: usize = 250;

/// An entry to insert: the id of its chunk or item, and its words.
#[derive(Debug)]
pub(crate) struct NewEntry {
    pub(crate) id: String,
    pub(crate) words: EntryWords,
}

/// Inserts the entries of chunks or items that are stored already.
pub(crate) async fn insert(
    work: &mut Work,
    project: ProjectId,
    kind: EntryKind,
    label: &str,
    entries: &[NewEntry],
) -> Result<(), AgentStoreError> {
    let owner = match kind {
        EntryKind::Chunk => "chunk_id",
        EntryKind::Item => "item_id",
    };
    let scope = scope_word(project, kind);
    let dialect = work.dialect;
    for batch in entries.chunks(BATCH) {
        let rows: Vec<Value> = batch.iter().map(|entry| row(entry, &scope, dialect)).collect();
        let rows = Arg::json(&rows)?;
        let project_and_label = args![kind.as_str(), project, label];
        match dialect {
            Dialect::Sqlite => {
                let source = dialect.rows(&[("id", false)]);
                let insert = format!(
                    "INSERT INTO entries (kind, project_id, label, {owner}) SELECT $2, $3, $4, r.id FROM {source}"
                );
                let values = [vec![rows.clone()], project_and_label].concat();
                work.run(insert, values).await?;
                let source = dialect.rows(&[
                    ("id", false),
                    ("title", false),
                    ("heading", false),
                    ("body", false),
                ]);
                let insert = format!(
                    "INSERT INTO entry_words (rowid, scope, title, heading, body) \
                     SELECT e.number, $2, r.title, r.heading, r.body FROM {source} JOIN entries e ON e.{owner} = r.id"
                );
                work.run(insert, vec![rows, Arg::from(&scope)]).await?;
            }
            Dialect::Postgres => {
                let source = dialect.rows(&[("id", false), ("words", false)]);
                let insert = format!(
                    "INSERT INTO entries (kind, project_id, label, {owner}, words) \
                     SELECT $2, $3, $4, r.id, r.words::tsvector FROM {source}"
                );
                work.run(insert, [vec![rows], project_and_label].concat()).await?;
            }
        }
    }
    Ok(())
}

fn row(entry: &NewEntry, scope: &str, dialect: Dialect) -> Value {
    let words = &entry.words;
    match dialect {
        Dialect::Sqlite => json!({
            "id": entry.id,
            "title": words.title.join(" "),
            "heading": words.heading.join(" "),
            "body": words.body.join(" "),
        }),
        Dialect::Postgres => json!({ "id": entry.id, "words": words.to_tsvector(scope) }),
    }
}

/// Inserts the entry of a stored item, or replaces it together with its embeddings.
pub(crate) async fn index_item(work: &mut Work, item: &MemoryItem) -> Result<(), AgentStoreError> {
    work.run("DELETE FROM entries WHERE item_id = $1", args![item.id])
        .await?;
    let entry = NewEntry {
        id: item.id.to_string(),
        words: EntryWords::of("", &[], &item.content),
    };
    insert(
        work,
        item.project_id,
        EntryKind::Item,
        item.kind.as_str(),
        &[entry],
    )
    .await
}
