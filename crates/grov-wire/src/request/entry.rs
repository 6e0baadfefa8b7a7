//! The entries of the index: kinds and spans of the parts of a request.

use crate::json::{JsonError, Span};
use thiserror::Error;

/// Why a body cannot be indexed. The request can still be forwarded unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IndexError {
    /// The body is not valid JSON.
    #[error("the request body is not valid JSON: {0}")]
    Json(#[from] JsonError),
    /// The body is JSON but not an object.
    #[error("the request body is not a JSON object")]
    NotAnObject,
    /// An object has a key twice. Two parsers could read two different requests.
    #[error("the request body has the key \"{key}\" twice in one object, again at byte {offset}")]
    DuplicateKey {
        /// The key, without escapes.
        key: String,
        /// The byte offset of the second occurrence.
        offset: usize,
    },
}

/// The role of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// `user`: the user, or the client on the user's behalf.
    User,
    /// `assistant`: the model.
    Assistant,
    /// `system`: instructions of the client inside the conversation.
    System,
    /// An unknown role, or none.
    Other,
}

impl Role {
    pub(super) fn from_name(name: &str) -> Self {
        match name {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "system" => Self::System,
            _ => Self::Other,
        }
    }
}

/// The kind of a content block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// `text`.
    Text,
    /// `thinking` or `redacted_thinking`.
    Thinking,
    /// `tool_use`: a call of one of the client's tools.
    ToolUse,
    /// `tool_result`: the result of such a call.
    ToolResult,
    /// Another type, or none. See [`Block::type_name`](super::Block::type_name).
    Other,
}

impl BlockKind {
    pub(super) fn from_name(name: &str) -> Self {
        match name {
            "text" => Self::Text,
            "thinking" | "redacted_thinking" => Self::Thinking,
            "tool_use" => Self::ToolUse,
            "tool_result" => Self::ToolResult,
            _ => Self::Other,
        }
    }
}

/// A top-level field: the spans of its key, without quotes, and of its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) key: Span,
    pub(super) value: Span,
}

#[derive(Clone, Debug, Default)]
pub(super) enum SystemEntry {
    #[default]
    Absent,
    Text(Span),
    Blocks(Vec<BlockEntry>),
    Other,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ToolEntry {
    pub(super) type_name: Option<Span>,
    pub(super) name: Option<Span>,
}

#[derive(Clone, Debug)]
pub(super) struct MessageEntry {
    pub(super) span: Span,
    pub(super) role: Role,
    pub(super) content: ContentEntry,
}

#[derive(Clone, Debug)]
pub(super) enum ContentEntry {
    /// The span of a plain string, without quotes.
    Text(Span),
    /// The span of an array, with brackets, and its range of `RequestIndex::blocks`.
    Blocks { array: Span, first: usize, count: usize },
    /// Absent, or of another type.
    Other,
}

/// One content block of a message or of the system prompt.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockEntry {
    pub(super) span: Span,
    pub(super) kind: BlockKind,
    pub(super) type_name: Option<Span>,
    /// The span of `text` without quotes, if it is a string.
    pub(super) text: Option<Span>,
    /// `id`, or `tool_use_id` of a tool result, if it is a string.
    pub(super) tool_use_id: Option<Span>,
    /// `name`, if it is a string.
    pub(super) name: Option<Span>,
    /// The span of `input`, or of `content` of a tool result.
    pub(super) payload: Option<Span>,
    pub(super) is_error: bool,
    pub(super) cache_control: bool,
}

impl ToolEntry {
    /// Returns the entry with `offset` applied to each offset.
    pub(super) fn moved(&self, offset: impl Fn(u32) -> u32) -> Self {
        let moved = |span: Span| span.moved(&offset);
        Self {
            type_name: self.type_name.map(moved),
            name: self.name.map(moved),
        }
    }
}

impl BlockEntry {
    /// Returns a block of which only the span is known.
    pub(super) fn new(span: Span) -> Self {
        Self {
            span,
            kind: BlockKind::Other,
            type_name: None,
            text: None,
            tool_use_id: None,
            name: None,
            payload: None,
            is_error: false,
            cache_control: false,
        }
    }

    /// Returns the entry with `offset` applied to each offset.
    pub(super) fn moved(&self, offset: impl Fn(u32) -> u32) -> Self {
        let moved = |span: Span| span.moved(&offset);
        Self {
            span: moved(self.span),
            type_name: self.type_name.map(moved),
            text: self.text.map(moved),
            tool_use_id: self.tool_use_id.map(moved),
            name: self.name.map(moved),
            payload: self.payload.map(moved),
            ..*self
        }
    }
}
