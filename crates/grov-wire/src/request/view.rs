//! Views of the index in terms of the Messages API.

use super::edit::{InsertionPoint, ResultPlace};
use super::entry::{BlockEntry, BlockKind, ContentEntry, MessageEntry, Role, SystemEntry, ToolEntry};
use super::index::RequestIndex;
use std::borrow::Cow;

impl RequestIndex {
    /// Returns `system`.
    pub fn system(&self) -> SystemPrompt<'_> {
        SystemPrompt::new(self)
    }

    /// Returns the first tool.
    pub fn first_tool(&self) -> Option<Tool<'_>> {
        self.first_tool.map(|entry| Tool::new(self, entry))
    }

    /// Iterates over the messages in order.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = Message<'_>> + ExactSizeIterator + Clone {
        self.messages
            .iter()
            .enumerate()
            .map(|(number, entry)| Message::new(self, number, entry))
    }

    /// Returns the message with this index.
    pub fn message(&self, number: usize) -> Option<Message<'_>> {
        self.messages
            .get(number)
            .map(|entry| Message::new(self, number, entry))
    }

    /// Returns the last message with the role `user`.
    pub fn newest_user_message(&self) -> Option<Message<'_>> {
        self.messages().rfind(|message| message.role() == Role::User)
    }

    /// Iterates over the tool results of the last message with the role `user`.
    pub fn newest_results(&self) -> impl Iterator<Item = Block<'_>> {
        let blocks = self.newest_user_message().into_iter();
        blocks
            .flat_map(|message| message.blocks())
            .filter(|block| block.kind() == BlockKind::ToolResult)
    }
}

/// The value of `system`.
#[derive(Clone, Debug)]
pub enum SystemPrompt<'a> {
    /// The field is missing.
    Absent,
    /// A plain string.
    Text(Cow<'a, str>),
    /// An array of blocks.
    Blocks(Blocks<'a>),
    /// A value of another type.
    Other,
}

impl<'a> SystemPrompt<'a> {
    pub(super) fn new(index: &'a RequestIndex) -> Self {
        match &index.system {
            SystemEntry::Absent => Self::Absent,
            SystemEntry::Text(span) => Self::Text(index.decode(*span)),
            SystemEntry::Blocks(blocks) => Self::Blocks(Blocks {
                index,
                owner: Owner::System,
                blocks,
                next: 0,
            }),
            SystemEntry::Other => Self::Other,
        }
    }
}

/// A tool definition.
#[derive(Clone, Copy, Debug)]
pub struct Tool<'a> {
    index: &'a RequestIndex,
    entry: ToolEntry,
}

impl<'a> Tool<'a> {
    pub(super) fn new(index: &'a RequestIndex, entry: ToolEntry) -> Self {
        Self { index, entry }
    }

    /// Returns `type`. Tools of the client usually have none.
    pub fn type_name(&self) -> Option<Cow<'a, str>> {
        self.entry.type_name.map(|span| self.index.decode(span))
    }

    /// Returns `name`.
    pub fn name(&self) -> Option<Cow<'a, str>> {
        self.entry.name.map(|span| self.index.decode(span))
    }
}

/// A message of a request.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    index: &'a RequestIndex,
    number: usize,
    entry: &'a MessageEntry,
}

/// The content of a message.
#[derive(Clone, Debug)]
pub enum Content<'a> {
    /// A plain string.
    Text(Cow<'a, str>),
    /// An array of blocks.
    Blocks(Blocks<'a>),
    /// Missing, or a value of another type.
    Other,
}

impl<'a> Message<'a> {
    pub(super) fn new(index: &'a RequestIndex, number: usize, entry: &'a MessageEntry) -> Self {
        Self { index, number, entry }
    }

    /// Returns the index of the message in `messages`.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the role.
    pub fn role(&self) -> Role {
        self.entry.role
    }

    /// Returns the content.
    pub fn content(&self) -> Content<'a> {
        match &self.entry.content {
            ContentEntry::Text(span) => Content::Text(self.index.decode(*span)),
            ContentEntry::Blocks { .. } => Content::Blocks(self.blocks()),
            ContentEntry::Other => Content::Other,
        }
    }

    /// Iterates over the blocks. Empty if the content is a plain string.
    pub fn blocks(&self) -> Blocks<'a> {
        let blocks = match self.entry.content {
            ContentEntry::Blocks { first, count, .. } => self.index.blocks.get(first..first + count),
            ContentEntry::Text(_) | ContentEntry::Other => None,
        };
        Blocks {
            index: self.index,
            owner: Owner::Message(self.number),
            blocks: blocks.unwrap_or_default(),
            next: 0,
        }
    }

    /// Iterates over the texts: the plain string, or the text blocks in order.
    pub fn texts(&self) -> impl Iterator<Item = Cow<'a, str>> + use<'a> {
        let plain = match self.entry.content {
            ContentEntry::Text(span) => Some(self.index.decode(span)),
            ContentEntry::Blocks { .. } | ContentEntry::Other => None,
        };
        plain
            .into_iter()
            .chain(self.blocks().filter_map(|block| block.text()))
    }

    /// Returns the message as raw JSON.
    pub fn raw(&self) -> &'a str {
        self.index.raw(self.entry.span)
    }

    /// Returns the place after the last block, or `None` if the content is neither an array nor a plain string.
    pub fn insertion_point_at_end(&self) -> Option<InsertionPoint> {
        match self.entry.content {
            ContentEntry::Text(_) => Some(InsertionPoint::end(self.number)),
            ContentEntry::Blocks { count: 0, .. } => Some(InsertionPoint::end(self.number)),
            ContentEntry::Blocks { count, .. } => Some(InsertionPoint::after_block(self.number, count - 1)),
            ContentEntry::Other => None,
        }
    }
}

/// Iterates over the blocks of a message or of the system prompt, in order.
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    index: &'a RequestIndex,
    owner: Owner,
    blocks: &'a [BlockEntry],
    next: usize,
}

#[derive(Clone, Copy, Debug)]
enum Owner {
    System,
    Message(usize),
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Block<'a>;

    fn next(&mut self) -> Option<Block<'a>> {
        let (entry, rest) = self.blocks.split_first()?;
        let block = Block {
            index: self.index,
            owner: self.owner,
            number: self.next,
            entry,
        };
        self.blocks = rest;
        self.next += 1;
        Some(block)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.blocks.len(), Some(self.blocks.len()))
    }
}

impl ExactSizeIterator for Blocks<'_> {}

impl<'a> DoubleEndedIterator for Blocks<'a> {
    fn next_back(&mut self) -> Option<Block<'a>> {
        let (entry, rest) = self.blocks.split_last()?;
        self.blocks = rest;
        Some(Block {
            index: self.index,
            owner: self.owner,
            number: self.next + rest.len(),
            entry,
        })
    }
}

/// A content block of a message or of the system prompt.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    index: &'a RequestIndex,
    owner: Owner,
    number: usize,
    entry: &'a BlockEntry,
}

impl<'a> Block<'a> {
    /// Returns the index of the block in its message or system prompt.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the kind.
    pub fn kind(&self) -> BlockKind {
        self.entry.kind
    }

    /// Returns `type`.
    pub fn type_name(&self) -> Option<Cow<'a, str>> {
        self.entry.type_name.map(|span| self.index.decode(span))
    }

    /// Returns the text, or `None` if it is not a text block.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        let span = self.entry.text.filter(|_| self.kind() == BlockKind::Text)?;
        Some(self.index.decode(span))
    }

    /// Returns `id` of a tool call, or `tool_use_id` of a tool result.
    pub fn tool_use_id(&self) -> Option<Cow<'a, str>> {
        self.entry.tool_use_id.map(|span| self.index.decode(span))
    }

    /// Returns the name of the called tool, or `None` if it is not a tool call.
    pub fn tool_name(&self) -> Option<Cow<'a, str>> {
        let span = self.entry.name.filter(|_| self.kind() == BlockKind::ToolUse)?;
        Some(self.index.decode(span))
    }

    /// Returns the input of a tool call as raw JSON.
    pub fn input(&self) -> Option<&'a str> {
        let span = self.entry.payload.filter(|_| self.kind() == BlockKind::ToolUse)?;
        Some(self.index.raw(span))
    }

    /// Returns the content of a tool result as raw JSON: a string or an array of blocks.
    pub fn result_content(&self) -> Option<&'a str> {
        let span = self
            .entry
            .payload
            .filter(|_| self.kind() == BlockKind::ToolResult)?;
        Some(self.index.raw(span))
    }

    /// Returns whether `is_error` is `true`.
    pub fn is_error(&self) -> bool {
        self.entry.is_error
    }

    /// Returns whether the block has a prompt-cache breakpoint: `cache_control` is not `null`.
    pub fn has_cache_control(&self) -> bool {
        self.entry.cache_control
    }

    /// Returns the block as raw JSON.
    pub fn raw(&self) -> &'a str {
        self.index.raw(self.entry.span)
    }

    /// Returns the place directly after this block, or `None` for a block of the system prompt, where nothing can be inserted.
    pub fn insertion_point_after(&self) -> Option<InsertionPoint> {
        match self.owner {
            Owner::Message(message) => Some(InsertionPoint::after_block(message, self.number)),
            Owner::System => None,
        }
    }
    /// Returns the content of a tool result as a place that can be replaced, or `None` if it has none.
    pub fn result_place(&self) -> Option<ResultPlace> {
        let message = match self.owner {
            Owner::Message(message) => message,
            Owner::System => return None,
        };
        self.result_content().map(|_| ResultPlace {
            message,
            block: self.number,
        })
    }
}
