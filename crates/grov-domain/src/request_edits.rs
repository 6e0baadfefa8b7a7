//! What Grov changed of a request, without the content: what was added is in the injection ledger.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

/// The changes of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestEdits {
    /// Length of the client's body, in bytes.
    pub original: u64,
    /// Length of the body as it was sent.
    pub sent: u64,
    /// Messages in the client's body.
    pub messages: u64,
    /// Where the client's last prompt-cache breakpoint ends in its body: what is before it may be read from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_to: Option<u64>,
    /// Where it ends in the body as it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_to_as_sent: Option<u64>,
    /// Whether the upstream refused the changed request, so that the client's was sent after it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
    /// Changes at the beginning that are not listed, because there are too many.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted: u64,
    /// The changes, in the order of their places.
    pub changes: Vec<RequestChange>,
}

/// A place at which bytes were added, left out or replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestChange {
    /// The place in the client's body, in bytes.
    pub at: u64,
    /// The message that it is in, counted from 1; `None` outside of messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
    /// Bytes of the client's body that were left out there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub removed: u64,
    /// What was added, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<AddedPiece>,
}

/// A part of what was added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddedPiece {
    /// Brackets, commas and names around a block, as they were sent.
    Json(String),
    /// A block that the ledger has.
    Block {
        /// The [`block_key`] of its bytes.
        key: String,
        /// Its length.
        bytes: u64,
    },
}

impl AddedPiece {
    /// Returns its length, in bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Json(json) => json.len() as u64,
            Self::Block { bytes, .. } => *bytes,
        }
    }

    /// Returns whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl RequestEdits {
    /// Returns whether the prefix that an earlier request of the conversation cached has the same changes here. Places do not count: the
    /// client moves its breakpoints, and so what follows them. `None` if the records do not say.
    pub fn repeats(&self, before: &Self) -> Option<bool> {
        if self.unlisted > 0 || before.unlisted > 0 {
            return None;
        }
        if self.refused != before.refused {
            return Some(false);
        }
        let is_cached = |change: &&RequestChange| before.cached_to.is_some_and(|end| change.at < end);
        let mut cached = before.changes.iter().filter(is_cached);
        // Later messages were not in the earlier request.
        let is_older =
            |change: &&RequestChange| change.message.is_none_or(|message| message <= before.messages);
        let older: Vec<&RequestChange> = self.changes.iter().filter(is_older).collect();
        let has =
            |changes: &[&RequestChange], one: &RequestChange| changes.iter().any(|other| other.is_like(one));
        let known: Vec<&RequestChange> = before.changes.iter().collect();
        Some(cached.all(|change| has(&older, change)) && older.iter().all(|change| has(&known, change)))
    }
}

impl RequestChange {
    /// Whether the same was added to the same message.
    fn is_like(&self, other: &Self) -> bool {
        self.message == other.message && self.added == other.added
    }

    /// Returns how many bytes were added.
    pub fn added_bytes(&self) -> u64 {
        self.added.iter().map(AddedPiece::len).sum()
    }
}

/// Returns where a prefix of the client's body ends in the body as it was sent. What is added at its end is not part of it.
pub fn end_as_sent(end: u64, changes: &[RequestChange]) -> u64 {
    let before = changes.iter().filter(|change| change.at < end);
    before.fold(end, |end, change| {
        (end + change.added_bytes()).saturating_sub(change.removed)
    })
}

/// Returns the key by which an added block is found in the ledger: a hash of its bytes, not for security.
pub fn block_key(block: &[u8]) -> String {
    format!("{:032x}", xxh3_128(block))
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_before_the_breakpoint_moves_it() {
        let change = |at, removed, bytes| RequestChange {
            at,
            removed,
            added: vec![
                AddedPiece::Json(",".to_owned()),
                AddedPiece::Block {
                    key: block_key(b"{}"),
                    bytes,
                },
            ],
            message: None,
        };
        let changes = [change(10, 0, 49), change(60, 21, 0), change(100, 0, 7)];
        assert_eq!(end_as_sent(100, &changes), 130);
        assert_eq!(end_as_sent(10, &changes), 10);
    }

    #[test]
    fn what_was_cached_is_repeated_or_not() {
        let change = |at, message, key: &str| RequestChange {
            at,
            message: Some(message),
            removed: 0,
            added: vec![AddedPiece::Block {
                key: key.to_owned(),
                bytes: 9,
            }],
        };
        let edits = |messages, cached_to, changes: Vec<RequestChange>| RequestEdits {
            messages,
            cached_to: Some(cached_to),
            changes,
            ..RequestEdits::default()
        };
        let first = edits(2, 569, vec![change(569, 1, "a")]);
        // The client removed the breakpoint of the first message.
        let second = edits(4, 7189, vec![change(532, 1, "a"), change(7189, 4, "b")]);
        assert_eq!(second.repeats(&first), Some(true));
        assert_eq!(
            edits(6, 7690, vec![change(532, 1, "a")]).repeats(&second),
            Some(true)
        );
        assert_eq!(
            edits(6, 7690, vec![change(532, 1, "x")]).repeats(&second),
            Some(false)
        );
        assert_eq!(edits(6, 7690, Vec::new()).repeats(&second), Some(false));
        // What followed the breakpoint was not cached.
        assert_eq!(edits(4, 7189, Vec::new()).repeats(&first), Some(true));
        let refused = RequestEdits {
            refused: true,
            ..second.clone()
        };
        assert_eq!(refused.repeats(&first), Some(false));
        let many = RequestEdits {
            unlisted: 1,
            ..second
        };
        assert_eq!(many.repeats(&first), None);
    }

    #[test]
    fn a_record_is_small_and_read_again() {
        let edits = RequestEdits {
            original: 100,
            sent: 108,
            messages: 3,
            changes: vec![RequestChange {
                at: 90,
                message: Some(3),
                removed: 0,
                added: vec![AddedPiece::Json(",".to_owned())],
            }],
            ..RequestEdits::default()
        };
        let json = serde_json::to_string(&edits).unwrap();
        assert_eq!(
            json,
            r#"{"original":100,"sent":108,"messages":3,"changes":[{"at":90,"message":3,"added":[{"json":","}]}]}"#
        );
        assert_eq!(serde_json::from_str::<RequestEdits>(&json).unwrap(), edits);
    }
}
