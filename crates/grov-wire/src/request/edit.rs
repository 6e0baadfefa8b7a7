//! Edits of a request, and the places where they apply.
//!
//! A place names a thing ("after block 2 of message 5"), not an offset. Offsets are looked up in the index that the edit is
//! applied to, so an edit can miss its place but cannot hit the middle of a value.

use bytes::Bytes;

/// A place in a message where content blocks can be inserted: after a block, or at the end of the content.
///
/// Insertion points are ordered as in the request. They come from
/// [`Message::insertion_point_at_end`](super::Message::insertion_point_at_end),
/// [`Block::insertion_point_after`](super::Block::insertion_point_after) and
/// [`Link::insertion_point`](super::Link::insertion_point).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InsertionPoint {
    pub(super) message: usize,
    pub(super) position: Position,
}

/// A position in the content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Position {
    /// After the block with this index.
    AfterBlock(usize),
    /// After content that is a plain string or an empty array.
    End,
}

impl InsertionPoint {
    pub(super) fn after_block(message: usize, block: usize) -> Self {
        Self {
            message,
            position: Position::AfterBlock(block),
        }
    }

    pub(super) fn end(message: usize) -> Self {
        Self {
            message,
            position: Position::End,
        }
    }
}

/// A place where the beginning of a conversation can be left out: before a message of the assistant.
///
/// Comes from [`RequestIndex::cut_point`](super::RequestIndex::cut_point).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CutPoint {
    /// The first message that is kept.
    pub(super) message: usize,
}

impl CutPoint {
    /// Returns the index of the first message that is kept, apart from the opening.
    pub fn message(self) -> usize {
        self.message
    }
}

/// The content of a tool result, which can be replaced.
///
/// Comes from [`Block::result_place`](super::Block::result_place).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResultPlace {
    pub(super) message: usize,
    pub(super) block: usize,
}

/// A change of a request, applied by [`Splice::apply`](super::Splice::apply), which also checks the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Inserts a content block.
    Insert {
        /// The place.
        at: InsertionPoint,
        /// The block: one JSON object, for example from [`text_block`].
        bytes: Bytes,
    },
    /// Leaves out the beginning of the conversation.
    ///
    /// What stays of it: the system reminders of the first message, the given block after them, and the system message that
    /// follows the first message, if there is one. Other edits before the cut are dropped.
    Cut {
        /// The place.
        at: CutPoint,
        /// The block that stands for what is left out: one JSON object, for example from [`text_block`].
        bytes: Bytes,
    },
    /// Replaces the content of a tool result.
    ReplaceResult {
        /// The place.
        at: ResultPlace,
        /// The content: a JSON string or array.
        bytes: Bytes,
    },
}

impl Edit {
    /// Returns the insertion of a block.
    pub fn insert(at: InsertionPoint, block: impl Into<Bytes>) -> Self {
        Self::Insert {
            at,
            bytes: block.into(),
        }
    }

    /// Returns the new bytes.
    pub fn bytes(&self) -> &Bytes {
        match self {
            Self::Insert { bytes, .. } | Self::Cut { bytes, .. } | Self::ReplaceResult { bytes, .. } => bytes,
        }
    }

    /// Returns the index of the message that it changes; for a cut, of the first message that is kept.
    pub(super) fn message(&self) -> usize {
        match self {
            Self::Insert { at, .. } => at.message,
            Self::Cut { at, .. } => at.message,
            Self::ReplaceResult { at, .. } => at.message,
        }
    }
}

/// Returns a text block as JSON, for [`Edit`].
///
/// ```
/// let block = grov_wire::text_block("a \"b\"");
/// assert!(grov_wire::json::validate(&block).is_ok());
/// ```
pub fn text_block(text: &str) -> Bytes {
    Bytes::from(serde_json::json!({ "type": "text", "text": text }).to_string())
}
