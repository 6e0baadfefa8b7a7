//! What a search asks and what it finds: the data between the stores and the ranking.

use crate::{Category, ChunkId, DocumentId, MemoryItem, ProjectId};
use grov_domain::Embedding;
use std::ops::Range;
use time::OffsetDateTime;

/// Selects what a search may find.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchFilter {
    /// Only documents of these categories; empty for all.
    pub categories: Vec<Category>,
    /// Only items of these types; empty for all.
    pub types: Vec<crate::MemoryType>,
}

/// A chunk that a search found, with what ranking and citing need.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundChunk {
    /// The chunk.
    pub id: ChunkId,
    /// Its document.
    pub document: DocumentId,
    /// The document's title.
    pub title: String,
    /// The document's category.
    pub category: Category,
    /// When the document was changed last.
    pub updated_at: OffsetDateTime,
    /// Titles of the headings above it, outermost first.
    pub heading_path: Vec<String>,
    /// The text.
    pub text: String,
    /// Where the text is in the document, in bytes.
    pub range: Range<u64>,
    /// The score: larger is better. Of a vector search the cosine; of a words search comparable within one list only.
    pub score: f64,
}

/// A memory item that a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundItem {
    /// The item.
    pub item: MemoryItem,
    /// The score: larger is better. Of a vector search the cosine; of a words search comparable within one list only.
    pub score: f64,
}

/// A question of a search, as words or as a vector.
#[derive(Clone, Debug)]
pub enum SearchBy<'a> {
    /// By these words, in the order of their value; at least one has to occur. Lower case, letters and digits only.
    Words(&'a [String]),
    /// By nearness to an embedding of this model.
    Vector {
        /// The name of the model.
        model: &'a str,
        /// The embedding of the question.
        embedding: &'a Embedding,
    },
}

/// What the agent has to know in every chat, whatever is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Situation {
    /// Commitments that are not done, newest first.
    pub open_loops: Vec<MemoryItem>,
    /// The last events, newest first, at most [`RECENT_EVENTS`].
    pub recent_events: Vec<MemoryItem>,
    /// Ideas in force, newest first.
    pub active_ideas: Vec<MemoryItem>,
    /// Accepted rules, oldest first.
    pub rules: Vec<MemoryItem>,
}

/// How many events a [`Situation`] has.
pub const RECENT_EVENTS: u32 = 5;

/// The project of a search, its filter and its size.
#[derive(Clone, Debug)]
pub struct SearchScope<'a> {
    /// The project.
    pub project: ProjectId,
    /// What may be found.
    pub filter: &'a SearchFilter,
    /// The most results.
    pub limit: u32,
    /// The time at which lifetimes are judged.
    pub now: OffsetDateTime,
}
