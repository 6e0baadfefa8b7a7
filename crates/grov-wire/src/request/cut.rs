//! Leaving out the beginning of a conversation: where that is possible, and what stays of it.
//!
//! The API wants every tool result directly after the message with its call, and the first message to be the user's. A history
//! that begins with one message of the user and continues with a message of the assistant keeps both rules, because all results
//! before that message belong to calls that are left out as well.

use super::edit::CutPoint;
use super::entry::{BlockKind, Role};
use super::index::RequestIndex;
use super::link::Link;
use super::reminder::is_system_reminder;
use super::skeleton::Skeleton;
use super::view::{Block, Content, Message};

impl RequestIndex {
    /// Returns the place before a message if the conversation can be cut there: the message is the assistant's, the message
    /// before it and the first message are the user's, apart from system messages between them.
    pub fn cut_point(&self, message: usize) -> Option<CutPoint> {
        let role = |number: usize| self.messages.get(number).map(|message| message.role);
        let before = (0..message)
            .rev()
            .find_map(|number| role(number).filter(|role| *role != Role::System));
        let is_possible = role(message) == Some(Role::Assistant)
            && before == Some(Role::User)
            && role(0) == Some(Role::User);
        is_possible.then_some(CutPoint { message })
    }

    /// Returns the place before the message that contains a part of the history, if the conversation can be cut there and the
    /// part is the first one of that message.
    pub fn cut_point_before(&self, skeleton: &Skeleton, link: &Link) -> Option<CutPoint> {
        let is_first = skeleton.links_from(link.message).first() == Some(link);
        self.cut_point(link.message).filter(|_| is_first)
    }

    /// Iterates over the system reminders of the first message, which stay at its place after a cut.
    pub fn opening_reminders(&self) -> impl Iterator<Item = Block<'_>> {
        let first = self.message(0).filter(|message| message.role() == Role::User);
        let blocks = first.into_iter().flat_map(|message| message.blocks());
        blocks.filter(|block| {
            block.kind() == BlockKind::Text && block.text().is_some_and(|text| is_system_reminder(&text))
        })
    }

    /// Returns the system message that directly follows the first message. It stays after a cut.
    pub fn opening_system(&self) -> Option<Message<'_>> {
        self.message(1).filter(|message| message.role() == Role::System)
    }

    /// Returns the number of blocks in front of a cut: those that stay of the opening, and the one that stands for what is left
    /// out.
    pub fn opening_blocks(&self) -> usize {
        let system = match self.opening_system().map(|message| message.content()) {
            Some(Content::Blocks(blocks)) => blocks.len(),
            Some(Content::Text(_) | Content::Other) => 1,
            None => 0,
        };
        self.opening_reminders().count() + 1 + system
    }
}
