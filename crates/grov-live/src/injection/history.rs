//! A request's history as it is sent: without the beginning that was cut off.

use bytes::Bytes;
use grov_wire::{CutPoint, Edit, Key128, Link, Message, RequestIndex, Skeleton, Speaker};

/// The history of a request as it is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct History<'a> {
    index: &'a RequestIndex,
    /// The parts that are sent.
    links: &'a [Link],
    beginning: Beginning,
}

/// The beginning of a history as it is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Beginning {
    cut: Option<CutHere>,
}

/// A cut in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CutHere {
    at: CutPoint,
    /// The key of the first part that is kept.
    key: Key128,
    /// Blocks of the user message that stands for the beginning.
    user_blocks: usize,
    /// Blocks before the cut, including a system message.
    blocks: usize,
}

impl Beginning {
    /// Returns the beginning of a history that is cut before the part with this key, or `None` if it cannot be cut there.
    pub(super) fn cut_before(index: &RequestIndex, skeleton: &Skeleton, link: &Link) -> Option<Self> {
        let at = index.cut_point_before(skeleton, link)?;
        let cut = CutHere {
            at,
            key: link.key,
            user_blocks: index.opening_reminders().count() + 1,
            blocks: index.opening_blocks(),
        };
        Some(Self { cut: Some(cut) })
    }

    /// Returns the key of the first part after the cut.
    pub(super) fn key(&self) -> Option<Key128> {
        self.cut.map(|cut| cut.key)
    }

    /// Returns the edit that makes the cut, with the block that stands for what is left out.
    pub(super) fn edit(&self, block: Bytes) -> Option<Edit> {
        self.cut.map(|cut| Edit::Cut {
            at: cut.at,
            bytes: block,
        })
    }

    /// Returns the index of the first message of the client that is kept.
    pub(super) fn first_message(&self) -> usize {
        self.cut.map_or(0, |cut| cut.at.message())
    }

    /// Returns the number of blocks before that message.
    pub(super) fn blocks(&self) -> usize {
        self.cut.map_or(0, |cut| cut.blocks)
    }

    /// Returns the last block of the user message that stands for what is left out.
    pub(super) fn user_end(&self) -> Option<usize> {
        self.cut.map(|cut| cut.user_blocks - 1)
    }
}

impl<'a> History<'a> {
    pub(super) fn new(index: &'a RequestIndex, skeleton: &'a Skeleton, beginning: Beginning) -> Self {
        Self {
            index,
            links: skeleton.links_from(beginning.first_message()),
            beginning,
        }
    }

    pub(super) fn index(&self) -> &'a RequestIndex {
        self.index
    }

    pub(super) fn links(&self) -> &'a [Link] {
        self.links
    }

    pub(super) fn beginning(&self) -> Beginning {
        self.beginning
    }

    /// Iterates over the client's messages that are kept.
    pub(super) fn messages(&self) -> impl DoubleEndedIterator<Item = Message<'a>> + use<'a> {
        self.index.messages().skip(self.beginning.first_message())
    }

    /// Returns the part with this key.
    pub(super) fn find(&self, key: Key128) -> Option<&'a Link> {
        self.links.iter().find(|link| link.key == key)
    }

    /// Returns the last part if it is the user's.
    pub(super) fn newest_user_link(&self) -> Option<&'a Link> {
        self.links.last().filter(|link| link.speaker == Speaker::User)
    }
}
