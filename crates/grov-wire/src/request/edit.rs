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

/// The insertion of a content block into a request, applied by [`Splice::apply`](super::Splice::apply), which also checks
/// the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The place.
    pub at: InsertionPoint,
    /// The block: one JSON object, for example from [`text_block`].
    pub bytes: Bytes,
}

/// Returns a text block as JSON, for [`Edit::bytes`].
///
/// ```
/// let block = grov_wire::text_block("a \"b\"");
/// assert!(grov_wire::json::validate(&block).is_ok());
/// ```
pub fn text_block(text: &str) -> Bytes {
    Bytes::from(serde_json::json!({ "type": "text", "text": text }).to_string())
}
