//! Edits: what is to be added or replaced, and the places where that is possible.
//!
//! Places are handed out by the index and name a thing (“behind block 2 of message 5”), not an offset;
//! offsets are looked up in the index that the edit is applied to. So an edit can miss its place, but never
//! hit the middle of something.

use bytes::Bytes;

/// A place between two content blocks of a message, where blocks can be added.
///
/// Seams order as they stand in the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seam {
    pub(super) message: usize,
    pub(super) behind: Behind,
}

/// What a seam is behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Behind {
    /// The block of that number.
    Block(usize),
    /// A message's whole content, which is a plain string or an empty array.
    Content,
}

impl Seam {
    pub(super) fn after_block(message: usize, block: usize) -> Self {
        Self {
            message,
            behind: Behind::Block(block),
        }
    }

    pub(super) fn end(message: usize) -> Self {
        Self {
            message,
            behind: Behind::Content,
        }
    }
}

/// A value of the request that can be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part(pub(super) PartKind);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum PartKind {
    /// The value of a top-level field, by its number.
    Field(usize),
    SystemBlock(usize),
    SystemBlockText(usize),
    Message(usize),
    /// A message's plain string or its array of blocks.
    Content(usize),
    Block(usize, usize),
    BlockText(usize, usize),
}

/// One change to a request. The bytes of both kinds are JSON, checked when the edit is applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Adds a content block.
    Insert {
        /// Where.
        at: Seam,
        /// The block: one JSON object.
        bytes: Bytes,
    },
    /// Puts another value in the place of one.
    Replace {
        /// What is replaced.
        part: Part,
        /// The new value: one JSON value.
        bytes: Bytes,
    },
}

/// A text block that says `text`, for inserting.
pub fn text_block(text: &str) -> Bytes {
    Bytes::from(serde_json::json!({ "type": "text", "text": text }).to_string())
}
