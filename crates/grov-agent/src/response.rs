//! The answer of the agent: exactly one of act, ask, or no operation.

mod render;

pub(crate) use render::render;

use crate::{MemoryItem, ToolCall};
use serde::{Deserialize, Serialize};

/// What a citation points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// A chunk of a document.
    Chunk,
    /// A memory item.
    Memory,
}

/// A quotation of what the answer rests on. The quote is in the source, character for character.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Citation {
    /// What it points to.
    pub kind: SourceKind,
    /// The id of the chunk or item.
    pub id: String,
    /// The document's title, or the item's type.
    pub title: String,
    /// Headings above the chunk, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heading_path: Vec<String>,
    /// The words that are quoted.
    pub quote: String,
}

/// What the agent decided.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "decision", rename_all = "UPPERCASE")]
pub enum Decision {
    /// Requests tool calls.
    Act {
        /// The calls, already stored.
        tool_calls: Vec<ToolCall>,
        /// What the caller is told.
        message: String,
    },
    /// Asks a question.
    Ask {
        /// The question.
        question: String,
        /// Answers to choose from.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        options: Vec<String>,
        /// Why it asks.
        reason: String,
    },
    /// Answers without a tool.
    Noop {
        /// The answer.
        answer: String,
    },
}

/// The answer of the agent, `response_json` of the API.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Response {
    /// What it decided.
    #[serde(flatten)]
    pub decision: Decision,
    /// What it rests on.
    pub citations: Vec<Citation>,
    /// Memory that it proposes, already stored.
    pub memory_proposals: Vec<MemoryItem>,
}
