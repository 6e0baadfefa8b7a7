//! Documents and their chunks.

use crate::names::named;
use crate::{ChunkId, DocumentId, ProjectId};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use time::OffsetDateTime;

/// The category of a document. Where documents disagree, an earlier category outranks a later one, except that state tells
/// what is the case at present. Every document outranks memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Category {
    /// Guidelines and processes.
    Rules,
    /// Information about the project, specifications.
    Facts,
    /// The current state; newer outranks older.
    State,
}

named!(Category { Rules => "RULES", Facts => "FACTS", State => "STATE" });

/// Whether the chunks of a document have their embeddings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DocumentStatus {
    /// All chunks are found by every kind of search.
    Ready,
    /// Some chunks are found by their words only, until they are embedded.
    Embedding,
}

named!(DocumentStatus { Ready => "ready", Embedding => "embedding" });

/// A document: its newest version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Document {
    /// The key.
    pub id: DocumentId,
    /// Its project.
    pub project_id: ProjectId,
    /// The title, unique in a project.
    pub title: String,
    /// The category.
    pub category: Category,
    /// Its media type, such as `text/markdown`.
    pub content_type: String,
    /// Counts from 1.
    pub version: u32,
    /// Number of chunks.
    pub chunks: u32,
    /// Size of the text in bytes.
    pub bytes: u64,
    /// SHA-256, in hexadecimal, of what is kept: the text with secrets masked, the text as Markdown for HTML, the file itself for a
    /// PDF without secrets.
    pub sha256: String,
    /// Whether it is embedded.
    pub status: DocumentStatus,
    /// When the first version was stored.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    /// When this version was stored.
    #[serde(with = "time::serde::rfc3339")]
    pub updated_at: OffsetDateTime,
}

/// A stored chunk of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Chunk {
    /// The key.
    pub id: ChunkId,
    /// Its document.
    pub document_id: DocumentId,
    /// Position in the document, from 0.
    pub ordinal: u32,
    /// Titles of the headings above it, outermost first.
    pub heading_path: Vec<String>,
    /// The text.
    pub text: String,
    /// Where the text is in the document's text, in bytes.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub range: Range<u64>,
}
