//! The index of one request: spans of everything that anybody asks for, found in one pass.

use super::edit::{Part, PartKind};
use super::known::{KnownRequests, ReadBefore};
use super::parse;
use super::view::{Block, BlockKind, Message, Role, SystemPrompt, Tool};
use crate::json::{self, JsonError, Scanner, Span};
use bytes::Bytes;
use std::borrow::Cow;
use thiserror::Error;

/// Why a body has no index. The request can still be passed on as it came.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IndexError {
    /// The body is no JSON.
    #[error("the request body cannot be read: {0}; it is passed on untouched")]
    Json(#[from] JsonError),
    /// The body is JSON, but no object.
    #[error("the request body is no JSON object; it is passed on untouched")]
    NotAnObject,
    /// A key stands twice in one object, so that two readers may see two different requests.
    #[error(
        "the key \"{key}\" stands twice in one object, again at byte {offset}; the request is passed on untouched"
    )]
    DuplicateKey {
        /// The key, without escapes.
        key: String,
        /// Where it stands again.
        offset: usize,
    },
}

/// The structure of one Messages request, over the request's own bytes.
///
/// Holds the body (shared, not copied) and spans into it; text is unescaped when it is asked for. Values of
/// an unexpected type count as absent, unknown block types and roles are kept as `Other`: the index
/// describes, the upstream judges.
#[derive(Clone, Debug)]
pub struct RequestIndex {
    pub(super) body: Bytes,
    pub(super) fields: Vec<Field>,
    pub(super) model: Option<Span>,
    pub(super) stream: bool,
    pub(super) max_tokens: Option<u64>,
    pub(super) user_id: Option<Span>,
    pub(super) system: SystemEntry,
    pub(super) tools: usize,
    pub(super) first_tool: Option<ToolEntry>,
    pub(super) output_format: Option<Span>,
    pub(super) messages: Vec<MessageEntry>,
    /// The blocks of all messages, one after the other.
    pub(super) blocks: Vec<BlockEntry>,
    /// The messages that were known before.
    pub(super) read_before: ReadBefore,
}

/// A top-level field: its key between the quotes and its whole value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) key: Span,
    pub(super) value: Span,
}

#[derive(Clone, Debug, Default)]
pub(super) enum SystemEntry {
    #[default]
    Absent,
    Text(Span),
    Blocks(Vec<BlockEntry>),
    Other,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ToolEntry {
    pub(super) type_name: Option<Span>,
    pub(super) name: Option<Span>,
}

#[derive(Clone, Debug)]
pub(super) struct MessageEntry {
    pub(super) span: Span,
    pub(super) role: Role,
    pub(super) content: ContentEntry,
}

#[derive(Clone, Debug)]
pub(super) enum ContentEntry {
    /// A plain string: the span between its quotes.
    Text(Span),
    /// An array: its span with the brackets, and its blocks as a range of [`RequestIndex::blocks`].
    Blocks { array: Span, first: usize, count: usize },
    /// Absent, or of another type.
    Other,
}

/// One content block of a message or of the system prompt.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockEntry {
    pub(super) span: Span,
    pub(super) kind: BlockKind,
    pub(super) type_name: Option<Span>,
    /// `text`, if it is a string: the span between its quotes.
    pub(super) text: Option<Span>,
    /// `id`, or `tool_use_id` of a tool result, if a string.
    pub(super) tool_use_id: Option<Span>,
    /// `name`, if a string.
    pub(super) name: Option<Span>,
    /// `input`, or `content` of a tool result: the whole value.
    pub(super) payload: Option<Span>,
    pub(super) is_error: bool,
    pub(super) cache_control: bool,
}

impl ToolEntry {
    /// The same tool where every offset is another.
    pub(super) fn moved(&self, offset: impl Fn(u32) -> u32) -> Self {
        let moved = |span: Span| span.moved(&offset);
        Self {
            type_name: self.type_name.map(moved),
            name: self.name.map(moved),
        }
    }
}

impl BlockEntry {
    /// The same block where every offset is another.
    pub(super) fn moved(&self, offset: impl Fn(u32) -> u32) -> Self {
        let moved = |span: Span| span.moved(&offset);
        Self {
            span: moved(self.span),
            type_name: self.type_name.map(moved),
            text: self.text.map(moved),
            tool_use_id: self.tool_use_id.map(moved),
            name: self.name.map(moved),
            payload: self.payload.map(moved),
            ..*self
        }
    }
}

impl RequestIndex {
    /// Indexes a request body in one pass. The index shares `body`'s memory.
    ///
    /// # Errors
    /// Where the body is no UTF-8 JSON object, is longer than 4 GiB, or holds a key twice in an object that
    /// is read here. The body should then be passed on as it is.
    pub fn parse(body: &Bytes) -> Result<Self, IndexError> {
        parse::request(body, None)
    }

    /// The same, where requests of the same clients may have come before. What is found does not depend on that; the body may
    /// be kept for those that come after.
    ///
    /// # Errors
    /// As [`RequestIndex::parse`].
    pub fn parse_knowing(body: &Bytes, known: &KnownRequests) -> Result<Self, IndexError> {
        parse::request(body, Some(known))
    }

    /// The body that was indexed.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The top-level fields in their order: key, and value as raw JSON.
    pub fn fields(&self) -> impl Iterator<Item = (Cow<'_, str>, &str)> {
        self.fields
            .iter()
            .map(|field| (self.decode(field.key), self.raw(field.value)))
    }

    /// The value of a top-level field as raw JSON.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.find_field(name)
            .and_then(|number| self.fields.get(number))
            .map(|field| self.raw(field.value))
    }

    /// The value of a top-level field, for replacing.
    pub fn field_part(&self, name: &str) -> Option<Part> {
        self.find_field(name).map(|number| Part(PartKind::Field(number)))
    }

    /// `model`.
    pub fn model(&self) -> Option<Cow<'_, str>> {
        self.model.map(|span| self.decode(span))
    }

    /// Whether the answer is to be streamed: `stream` is `true`.
    pub fn stream(&self) -> bool {
        self.stream
    }

    /// `max_tokens`.
    pub fn max_tokens(&self) -> Option<u64> {
        self.max_tokens
    }

    /// `metadata.user_id`, which from Claude Code is a JSON document in a string.
    pub fn metadata_user_id(&self) -> Option<Cow<'_, str>> {
        self.user_id.map(|span| self.decode(span))
    }

    /// The `session_id` inside the JSON document that `metadata.user_id` holds.
    pub fn metadata_session_id(&self) -> Option<String> {
        parse::session_id(&self.metadata_user_id()?)
    }

    /// `system`.
    pub fn system(&self) -> SystemPrompt<'_> {
        SystemPrompt::new(self)
    }

    /// The texts of the system prompt, in order, whatever its form.
    pub fn system_texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let (text, blocks) = match &self.system {
            SystemEntry::Text(span) => (Some(*span), &[][..]),
            SystemEntry::Blocks(blocks) => (None, blocks.as_slice()),
            SystemEntry::Absent | SystemEntry::Other => (None, &[][..]),
        };
        let texts = blocks.iter().filter_map(|block| block.text);
        text.into_iter().chain(texts).map(|span| self.decode(span))
    }

    /// How many tools are offered.
    pub fn tool_count(&self) -> usize {
        self.tools
    }

    /// The first tool that is offered.
    pub fn first_tool(&self) -> Option<Tool<'_>> {
        self.first_tool.map(|entry| Tool::new(self, entry))
    }

    /// Whether `tool_choice` is given.
    pub fn has_tool_choice(&self) -> bool {
        self.find_field("tool_choice").is_some()
    }

    /// `output_config.format.type`.
    pub fn output_format(&self) -> Option<Cow<'_, str>> {
        self.output_format.map(|span| self.decode(span))
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

    /// The messages with the role `system` that come after the last assistant message: what a newer client
    /// adds to the turn that is about to begin, a prompt typed in the middle of a tool loop among it.
    pub fn trailing_system_messages(&self) -> impl Iterator<Item = Message<'_>> {
        let start = self
            .messages()
            .rposition(|message| message.role() == Role::Assistant)
            .map_or(0, |last| last + 1);
        self.messages()
            .skip(start)
            .filter(|message| message.role() == Role::System)
    }

    pub(super) fn find_field(&self, name: &str) -> Option<usize> {
        self.fields
            .iter()
            .position(|field| self.decode(field.key) == name)
    }

    pub(super) fn decode(&self, span: Span) -> Cow<'_, str> {
        json::decode(&self.body, span)
    }

    pub(super) fn raw(&self, span: Span) -> &str {
        json::raw(&self.body, span)
    }
}

/// Opens a scanner and enters the document's object.
pub(super) fn enter_document(document: &[u8]) -> Result<Scanner<'_>, IndexError> {
    let mut scanner = Scanner::new(document)?;
    if scanner.kind() != json::Kind::Object {
        // A fault of grammar is the better message.
        scanner.skip_value()?;
        scanner.finish()?;
        return Err(IndexError::NotAnObject);
    }
    scanner.enter();
    Ok(scanner)
}
