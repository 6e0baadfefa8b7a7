//! The parts of a message history and their keys.

use super::edit::InsertionPoint;
use std::fmt;
use xxhash_rust::xxh3::xxh3_128;

/// A 128-bit hash of a message history up to some point.
///
/// It is not cryptographic: an attacker can construct two histories with the same key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key128(pub(super) u128);

impl Key128 {
    /// Returns the key as a number, for storing.
    pub fn as_u128(self) -> u128 {
        self.0
    }

    /// Returns the key with this number, see [`Key128::as_u128`].
    pub fn from_u128(number: u128) -> Self {
        Self(number)
    }

    /// Returns the key of this history extended by one part.
    pub(super) fn then(self, part: PartTag, content: &[u8]) -> Self {
        let mut link = [0; 41];
        let (before, rest) = link.split_at_mut(16);
        let (tag, rest) = rest.split_at_mut(1);
        let (length, digest) = rest.split_at_mut(8);
        before.copy_from_slice(&self.0.to_le_bytes());
        tag.copy_from_slice(&[part as u8]);
        length.copy_from_slice(&(content.len() as u64).to_le_bytes());
        digest.copy_from_slice(&xxh3_128(content).to_le_bytes());
        Self(xxh3_128(&link))
    }
}

impl fmt::Display for Key128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Key128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key128({self})")
    }
}

/// The kind of a part. It is hashed with the content, so that parts of different kinds have different keys. Stored keys depend
/// on these numbers.
#[derive(Clone, Copy)]
pub(super) enum PartTag {
    AssistantText = 1,
    ToolUse = 2,
    ToolResults = 3,
    UserText = 4,
}

impl PartTag {
    pub(super) fn speaker(self) -> Speaker {
        match self {
            Self::AssistantText | Self::ToolUse => Speaker::Assistant,
            Self::ToolResults | Self::UserText => Speaker::User,
        }
    }
}

/// The side that wrote a part of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// The user, or a tool on the user's machine.
    User,
    /// The model.
    Assistant,
}

/// One part of a message history, with the key of the history up to and including it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The index of the message.
    pub message: usize,
    /// The index of the block after which content for this part can be inserted: the block itself, or the last tool result of
    /// the message if that comes later. `None` if the content is a plain string.
    pub block: Option<usize>,
    /// The side that wrote it.
    pub speaker: Speaker,
    /// The key of the history up to and including this part.
    pub key: Key128,
}

impl Link {
    /// Returns the place directly after this part.
    pub fn insertion_point(&self) -> InsertionPoint {
        match self.block {
            Some(block) => InsertionPoint::after_block(self.message, block),
            None => InsertionPoint::end(self.message),
        }
    }
}
