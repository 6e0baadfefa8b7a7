//! What is noted of each part of a request while it is read: spans, and what kind of thing is there.

use crate::json::{JsonError, Span};
use thiserror::Error;

/// Why a body has no index. The request can still be passed on as it came.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IndexError {
    /// The body is no JSON.
    #[error("the request body cannot be read: {0}; it is passed on untouched")]
    Json(#[from] JsonError),
    /// The body is JSON, but no object.
    #[error("the request body is no JSON object; it is passed on untouched")]
    NotAnObject,
    /// A key stands twice in one object, so that two readers may see two different requests.
    #[error(
        "the key \"{key}\" stands twice in one object, again at byte {offset}; the request is passed on untouched"
    )]
    DuplicateKey {
        /// The key, without escapes.
        key: String,
        /// Where it stands again.
        offset: usize,
    },
}

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The user, or the client in the user's name.
    User,
    /// The model.
    Assistant,
    /// The client, in the middle of the conversation.
    System,
    /// A role that this version does not know, or none.
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

/// What a content block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// Plain text.
    Text,
    /// The model's thinking, redacted or not.
    Thinking,
    /// A call of one of the client's tools.
    ToolUse,
    /// The result of such a call.
    ToolResult,
    /// Any other type, or none; see [`Block::type_name`](super::Block::type_name).
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

/// A top-level field: its key between the quotes and its whole value.
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
    /// A plain string: the span between its quotes.
    Text(Span),
    /// An array: its span with the brackets, and its blocks as a range of `RequestIndex::blocks`.
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
    /// `text`, if it is a string: the span between its quotes.
    pub(super) text: Option<Span>,
    /// `id`, or `tool_use_id` of a tool result, if a string.
    pub(super) tool_use_id: Option<Span>,
    /// `name`, if a string.
    pub(super) name: Option<Span>,
    /// `input`, or `content` of a tool result: the whole value.
    pub(super) payload: Option<Span>,
    pub(super) is_error: bool,
    pub(super) cache_control: bool,
}

impl ToolEntry {
    /// The same tool where every offset is another.
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

    /// The same block where every offset is another.
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
