//! The skeleton of a history: what stays the same of it when the client sends it again.
//!
//! Between two requests of one conversation the client rewrites much of what it already sent: it moves cache
//! breakpoints, turns a lone text block into a plain string, re-serialises tool inputs, clears results, folds
//! reminders into results or moves them into system messages, and orders parallel results as they came in.
//! What stays are the ids of tool calls and the words that were said. A [`Skeleton`] is a chain of hashes
//! over these, so that equal keys mean equal histories up to that point.

use super::entry::{BlockKind, Role};
use super::index::RequestIndex;
use super::link::{Key128, Link, PartTag, Speaker};
use super::reminder::without_system_reminders;
use super::view::{Block, Content, Message};
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_128;

/// The chain of one request's history.
///
/// Parts are: each text and each tool call of the assistant; the set of tool results of a user message; each
/// text of a user message that is no reminder. Texts are trimmed and empty ones left out. Nothing else
/// counts, so a message of reminders alone, or one with the role `system`, leaves the chain as it is. Message
/// boundaries do not count either: two user messages in a row say the same as one that holds both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skeleton {
    root: Key128,
    links: Vec<Link>,
}

impl Skeleton {
    fn of(index: &RequestIndex) -> Self {
        let root = Key128(xxh3_128(b"grov history skeleton, form 1"));
        let mut skeleton = Self {
            root,
            links: Vec::with_capacity(index.messages.len() * 2),
        };
        let mut known = 0;
        if let Some(beginning) = &index.read_before.0 {
            skeleton.links.extend_from_slice(beginning.links());
            known = beginning.count();
        }
        let mut results = Results::default();
        for message in index.messages().skip(known) {
            match message.role() {
                Role::Assistant => skeleton.hear_assistant(message),
                Role::User => skeleton.hear_user(message, &mut results),
                Role::System | Role::Other => {}
            }
        }
        skeleton
    }

    /// The parts in their order.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The parts in their order, kept without the rest.
    pub(super) fn into_links(self) -> Vec<Link> {
        self.links
    }

    /// The key of the whole history.
    pub fn tip(&self) -> Key128 {
        self.links.last().map_or(self.root, |link| link.key)
    }

    /// The key of the history up to the last thing that the assistant said; `None` before it has said
    /// anything.
    pub fn tip_at_last_assistant(&self) -> Option<Key128> {
        self.links
            .iter()
            .rfind(|link| link.speaker == Speaker::Assistant)
            .map(|link| link.key)
    }

    /// The newest part, if the user's: where something new can be said in this turn.
    pub fn newest_user_link(&self) -> Option<&Link> {
        self.links.last().filter(|link| link.speaker == Speaker::User)
    }

    /// The part up to which the history has that key.
    pub fn find(&self, key: Key128) -> Option<&Link> {
        self.links.iter().find(|link| link.key == key)
    }

    fn hear_assistant(&mut self, message: Message<'_>) {
        if let Content::Text(text) = message.content() {
            self.hear_text(PartTag::AssistantText, message, None, text.trim());
        }
        for block in message.blocks() {
            let place = Some(block.number());
            if let Some(text) = block.text() {
                self.hear_text(PartTag::AssistantText, message, place, text.trim());
            }
            if block.kind() == BlockKind::ToolUse {
                let id = block.tool_use_id().unwrap_or_default();
                self.hear(PartTag::ToolUse, message, place, id.as_bytes());
            }
        }
    }

    fn hear_user<'i>(&mut self, message: Message<'i>, results: &mut Results<'i>) {
        if let Content::Text(text) = message.content() {
            self.hear_text(PartTag::UserText, message, None, &without_system_reminders(text));
        }
        let is_result = |block: &Block<'_>| block.kind() == BlockKind::ToolResult;
        let last_result = message.blocks().rfind(is_result).map(|block| block.number());
        if last_result.is_some() {
            let ids = message.blocks().filter(is_result);
            let set = results.set(ids.map(|block| block.tool_use_id().unwrap_or_default()));
            self.hear(PartTag::ToolResults, message, last_result, set);
        }
        for block in message.blocks() {
            if let Some(text) = block.text() {
                let place = Some(block.number()).max(last_result);
                self.hear_text(PartTag::UserText, message, place, &without_system_reminders(text));
            }
        }
    }

    fn hear_text(&mut self, part: PartTag, message: Message<'_>, block: Option<usize>, text: &str) {
        if !text.is_empty() {
            self.hear(part, message, block, text.as_bytes());
        }
    }

    fn hear(&mut self, part: PartTag, message: Message<'_>, block: Option<usize>, content: &[u8]) {
        let key = self.tip().then(part, content);
        self.links.push(Link {
            message: message.number(),
            block,
            speaker: part.speaker(),
            key,
        });
    }
}

/// Room for the ids of one message's tool results, used again for the next: a history has hundreds of them.
#[derive(Default)]
struct Results<'i> {
    ids: Vec<Cow<'i, str>>,
    set: Vec<u8>,
}

impl<'i> Results<'i> {
    /// The bytes that stand for a set of ids: the same whatever their order, and different for different sets.
    fn set(&mut self, ids: impl Iterator<Item = Cow<'i, str>>) -> &[u8] {
        self.ids.clear();
        self.ids.extend(ids);
        self.ids.sort_unstable();
        self.ids.dedup();
        self.set.clear();
        for id in &self.ids {
            self.set.extend_from_slice(&(id.len() as u64).to_le_bytes());
            self.set.extend_from_slice(id.as_bytes());
        }
        &self.set
    }
}

impl RequestIndex {
    /// The skeleton of this request's history. Computed at each call.
    pub fn skeleton(&self) -> Skeleton {
        Skeleton::of(self)
    }
}
