//! Views: what the index found, in the terms of the Messages API.

use super::edit::{Part, PartKind, Seam};
use super::entry::{BlockEntry, BlockKind, ContentEntry, MessageEntry, Role, SystemEntry, ToolEntry};
use super::index::RequestIndex;
use std::borrow::Cow;

impl RequestIndex {
    /// `system`.
    pub fn system(&self) -> SystemPrompt<'_> {
        SystemPrompt::new(self)
    }

    /// The first tool that is offered.
    pub fn first_tool(&self) -> Option<Tool<'_>> {
        self.first_tool.map(|entry| Tool::new(self, entry))
    }

    /// The messages in their order.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = Message<'_>> + ExactSizeIterator + Clone {
        self.messages
            .iter()
            .enumerate()
            .map(|(number, entry)| Message::new(self, number, entry))
    }

    /// The message of that number, counted from 0.
    pub fn message(&self, number: usize) -> Option<Message<'_>> {
        self.messages
            .get(number)
            .map(|entry| Message::new(self, number, entry))
    }

    /// The last message with the role `user`.
    pub fn newest_user_message(&self) -> Option<Message<'_>> {
        self.messages().rfind(|message| message.role() == Role::User)
    }

    /// The tool results in the newest message of the user.
    pub fn newest_results(&self) -> impl Iterator<Item = Block<'_>> {
        let blocks = self.newest_user_message().into_iter();
        blocks
            .flat_map(|message| message.blocks())
            .filter(|block| block.kind() == BlockKind::ToolResult)
    }
}

/// `system`, in the form that the client chose.
#[derive(Clone, Debug)]
pub enum SystemPrompt<'a> {
    /// There is none.
    Absent,
    /// One string.
    Text(Cow<'a, str>),
    /// An array of blocks.
    Blocks(Blocks<'a>),
    /// Some other type of value.
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

/// A tool that is offered to the model.
#[derive(Clone, Copy, Debug)]
pub struct Tool<'a> {
    index: &'a RequestIndex,
    entry: ToolEntry,
}

impl<'a> Tool<'a> {
    pub(super) fn new(index: &'a RequestIndex, entry: ToolEntry) -> Self {
        Self { index, entry }
    }

    /// `type`, which a client's own tools usually lack.
    pub fn type_name(&self) -> Option<Cow<'a, str>> {
        self.entry.type_name.map(|span| self.index.decode(span))
    }

    /// `name`.
    pub fn name(&self) -> Option<Cow<'a, str>> {
        self.entry.name.map(|span| self.index.decode(span))
    }
}

/// One message.
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
    /// Absent, or some other type of value.
    Other,
}

impl<'a> Message<'a> {
    pub(super) fn new(index: &'a RequestIndex, number: usize, entry: &'a MessageEntry) -> Self {
        Self { index, number, entry }
    }

    /// The message's place in `messages`, counted from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Who speaks.
    pub fn role(&self) -> Role {
        self.entry.role
    }

    /// The content, in the form that the client chose.
    pub fn content(&self) -> Content<'a> {
        match &self.entry.content {
            ContentEntry::Text(span) => Content::Text(self.index.decode(*span)),
            ContentEntry::Blocks { .. } => Content::Blocks(self.blocks()),
            ContentEntry::Other => Content::Other,
        }
    }

    /// The blocks; none where the content is a plain string.
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

    /// The message's texts: its plain string, or its text blocks.
    pub fn texts(&self) -> impl Iterator<Item = Cow<'a, str>> + use<'a> {
        let plain = match self.entry.content {
            ContentEntry::Text(span) => Some(self.index.decode(span)),
            ContentEntry::Blocks { .. } | ContentEntry::Other => None,
        };
        plain
            .into_iter()
            .chain(self.blocks().filter_map(|block| block.text()))
    }

    /// The message as raw JSON.
    pub fn raw(&self) -> &'a str {
        self.index.raw(self.entry.span)
    }

    /// The seam behind the last block, where the content can take more blocks: it is an array or a plain
    /// string.
    pub fn end_seam(&self) -> Option<Seam> {
        match self.entry.content {
            ContentEntry::Text(_) => Some(Seam::end(self.number)),
            ContentEntry::Blocks { count: 0, .. } => Some(Seam::end(self.number)),
            ContentEntry::Blocks { count, .. } => Some(Seam::after_block(self.number, count - 1)),
            ContentEntry::Other => None,
        }
    }

    /// The content, for replacing; `None` where it is absent or of an unknown type.
    pub fn content_part(&self) -> Option<Part> {
        match self.entry.content {
            ContentEntry::Text(_) | ContentEntry::Blocks { .. } => Some(Part(PartKind::Content(self.number))),
            ContentEntry::Other => None,
        }
    }

    /// The whole message, for replacing.
    pub fn part(&self) -> Part {
        Part(PartKind::Message(self.number))
    }
}

/// The blocks of a message or of the system prompt, in order.
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

/// One content block.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    index: &'a RequestIndex,
    owner: Owner,
    number: usize,
    entry: &'a BlockEntry,
}

impl<'a> Block<'a> {
    /// The block's place in its message or system prompt, counted from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// What it is.
    pub fn kind(&self) -> BlockKind {
        self.entry.kind
    }

    /// `type`.
    pub fn type_name(&self) -> Option<Cow<'a, str>> {
        self.entry.type_name.map(|span| self.index.decode(span))
    }

    /// The text of a text block.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        let span = self.entry.text.filter(|_| self.kind() == BlockKind::Text)?;
        Some(self.index.decode(span))
    }

    /// The id of the tool call that this block is or answers.
    pub fn tool_use_id(&self) -> Option<Cow<'a, str>> {
        self.entry.tool_use_id.map(|span| self.index.decode(span))
    }

    /// The name of the tool that is called.
    pub fn tool_name(&self) -> Option<Cow<'a, str>> {
        let span = self.entry.name.filter(|_| self.kind() == BlockKind::ToolUse)?;
        Some(self.index.decode(span))
    }

    /// The input of a tool call as raw JSON.
    pub fn input(&self) -> Option<&'a str> {
        let span = self.entry.payload.filter(|_| self.kind() == BlockKind::ToolUse)?;
        Some(self.index.raw(span))
    }

    /// The content of a tool result as raw JSON: a string or an array of blocks.
    pub fn result_content(&self) -> Option<&'a str> {
        let span = self
            .entry
            .payload
            .filter(|_| self.kind() == BlockKind::ToolResult)?;
        Some(self.index.raw(span))
    }

    /// Whether a tool result reports an error.
    pub fn is_error(&self) -> bool {
        self.entry.is_error
    }

    /// Whether the block carries a prompt-cache breakpoint.
    pub fn has_cache_control(&self) -> bool {
        self.entry.cache_control
    }

    /// The block as raw JSON.
    pub fn raw(&self) -> &'a str {
        self.index.raw(self.entry.span)
    }

    /// The seam directly behind this block of a message; none in the system prompt, to which nothing is ever
    /// added.
    pub fn seam_after(&self) -> Option<Seam> {
        match self.owner {
            Owner::Message(message) => Some(Seam::after_block(message, self.number)),
            Owner::System => None,
        }
    }

    /// The whole block, for replacing.
    pub fn part(&self) -> Part {
        match self.owner {
            Owner::Message(message) => Part(PartKind::Block(message, self.number)),
            Owner::System => Part(PartKind::SystemBlock(self.number)),
        }
    }

    /// The text as a JSON string, for replacing.
    pub fn text_part(&self) -> Option<Part> {
        self.entry.text?;
        Some(match self.owner {
            Owner::Message(message) => Part(PartKind::BlockText(message, self.number)),
            Owner::System => Part(PartKind::SystemBlockText(self.number)),
        })
    }
}
