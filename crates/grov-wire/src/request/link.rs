//! One part of a history, and the key of the history up to it.

use super::edit::Seam;
use std::fmt;
use xxhash_rust::xxh3::xxh3_128;

/// A hash of a history up to some point. Not for security: an adversary can make two histories collide.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key128(pub(super) u128);

impl Key128 {
    /// The key as a number.
    pub fn as_u128(self) -> u128 {
        self.0
    }

    /// The key that was written down as that number.
    pub fn from_u128(number: u128) -> Self {
        Self(number)
    }

    /// The key of a history that continues this one by one part.
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

/// What a part of the chain is; hashed before it, so that parts of different kinds never look alike. Stored
/// keys depend on these numbers.
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

/// Who said a part of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// The user, or a tool on the user's machine.
    User,
    /// The model.
    Assistant,
}

/// One part of the history, and the key of the history up to and including it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Number of the message.
    pub message: usize,
    /// Number of the block behind which something can be added that belongs to this part: the block itself,
    /// or the last tool result of the message where that comes later. `None` where the content is a plain
    /// string.
    pub block: Option<usize>,
    /// Who speaks.
    pub speaker: Speaker,
    /// The key.
    pub key: Key128,
}

impl Link {
    /// The seam directly behind this part.
    pub fn seam(&self) -> Seam {
        match self.block {
            Some(block) => Seam::after_block(self.message, block),
            None => Seam::end(self.message),
        }
    }
}
