//! The skeleton of a message history: the part that stays the same when the client sends the history again.
//!
//! From one request to the next, the client rewrites messages that it already sent. It moves cache breakpoints, turns a single
//! text block into a plain string, serializes tool inputs again, clears results, moves reminders into results or system
//! messages, and reorders parallel results. The ids of tool calls and the texts stay. A [`Skeleton`] is a chain of hashes over
//! these, so that equal keys mean equal histories up to that point.

use super::entry::{BlockKind, Role};
use super::index::RequestIndex;
use super::link::{Key128, Link, PartTag, Speaker};
use super::reminder::without_system_reminders;
use super::view::{Block, Content, Message};
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_128;

/// The hash chain of a request's message history.
///
/// It has one [`Link`] for each text and each tool call of the assistant, for the set of tool results of a user message, and for
/// each text of a user message that is not a system reminder. Texts are trimmed, and empty texts are skipped. Nothing else
/// counts: a message with only reminders or with the role `system` adds no link. Message boundaries do not count either: two
/// user messages in a row have the same links as one message with both contents.
///
/// ```
/// use grov_wire::RequestIndex;
///
/// let skeleton = |body: &'static str| RequestIndex::parse(&body.into()).map(|index| index.skeleton());
/// let string = skeleton(r#"{"messages":[{"role":"user","content":"hi"}]}"#)?;
/// let blocks = skeleton(r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}"#)?;
/// assert_eq!(string.tip(), blocks.tip());
/// # Ok::<(), grov_wire::IndexError>(())
/// ```
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
        if let Some(beginning) = &index.shared_prefix.0 {
            skeleton.links.extend_from_slice(beginning.links());
            known = beginning.count();
        }
        let mut results = Results::default();
        for message in index.messages().skip(known) {
            match message.role() {
                Role::Assistant => skeleton.push_assistant(message),
                Role::User => skeleton.push_user(message, &mut results),
                Role::System | Role::Other => {}
            }
        }
        skeleton
    }

    /// Returns the links in order.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Returns the links in order.
    pub(super) fn into_links(self) -> Vec<Link> {
        self.links
    }

    /// Returns the key of the whole history.
    pub fn tip(&self) -> Key128 {
        self.links.last().map_or(self.root, |link| link.key)
    }

    /// Returns the key of the history up to the last part of the assistant, or `None` if there is none.
    pub fn tip_at_last_assistant(&self) -> Option<Key128> {
        self.links
            .iter()
            .rfind(|link| link.speaker == Speaker::Assistant)
            .map(|link| link.key)
    }

    /// Returns the last link if it is the user's: the place for content of the current turn.
    pub fn newest_user_link(&self) -> Option<&Link> {
        self.links.last().filter(|link| link.speaker == Speaker::User)
    }

    /// Returns the link with this key.
    pub fn find(&self, key: Key128) -> Option<&Link> {
        self.links.iter().find(|link| link.key == key)
    }

    /// Returns the links of the messages from the one with this index on.
    pub fn links_from(&self, message: usize) -> &[Link] {
        let start = self.links.partition_point(|link| link.message < message);
        self.links.get(start..).unwrap_or_default()
    }

    fn push_assistant(&mut self, message: Message<'_>) {
        if let Content::Text(text) = message.content() {
            self.push_text(PartTag::AssistantText, message, None, text.trim());
        }
        for block in message.blocks() {
            let place = Some(block.number());
            if let Some(text) = block.text() {
                self.push_text(PartTag::AssistantText, message, place, text.trim());
            }
            if block.kind() == BlockKind::ToolUse {
                let id = block.tool_use_id().unwrap_or_default();
                self.push(PartTag::ToolUse, message, place, id.as_bytes());
            }
        }
    }

    fn push_user<'i>(&mut self, message: Message<'i>, results: &mut Results<'i>) {
        if let Content::Text(text) = message.content() {
            self.push_text(PartTag::UserText, message, None, &without_system_reminders(text));
        }
        let is_result = |block: &Block<'_>| block.kind() == BlockKind::ToolResult;
        let last_result = message.blocks().rfind(is_result).map(|block| block.number());
        if last_result.is_some() {
            let ids = message.blocks().filter(is_result);
            let set = results.set(ids.map(|block| block.tool_use_id().unwrap_or_default()));
            self.push(PartTag::ToolResults, message, last_result, set);
        }
        for block in message.blocks() {
            if let Some(text) = block.text() {
                let place = Some(block.number()).max(last_result);
                self.push_text(PartTag::UserText, message, place, &without_system_reminders(text));
            }
        }
    }

    fn push_text(&mut self, part: PartTag, message: Message<'_>, block: Option<usize>, text: &str) {
        if !text.is_empty() {
            self.push(part, message, block, text.as_bytes());
        }
    }

    fn push(&mut self, part: PartTag, message: Message<'_>, block: Option<usize>, content: &[u8]) {
        let key = self.tip().then(part, content);
        self.links.push(Link {
            message: message.number(),
            block,
            speaker: part.speaker(),
            key,
        });
    }
}

/// Reusable buffers for the ids of a message's tool results.
#[derive(Default)]
struct Results<'i> {
    ids: Vec<Cow<'i, str>>,
    set: Vec<u8>,
}

impl<'i> Results<'i> {
    /// Returns bytes that identify a set of ids, independent of their order.
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
    /// Computes the skeleton of the message history. Hashes all texts on each call.
    pub fn skeleton(&self) -> Skeleton {
        Skeleton::of(self)
    }
}
