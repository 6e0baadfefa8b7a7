//! The index of a request: the spans of its parts, found in one pass.

use super::cache::SharedPrefix;
use super::entry::{BlockEntry, Field, MessageEntry, SystemEntry, ToolEntry};
use crate::json::{self, Span};
use bytes::Bytes;
use std::borrow::Cow;

/// The structure of a request to the Messages API.
///
/// The index shares the body and stores spans into it. Strings are unescaped when they are read. A value of an unexpected type
/// counts as absent, and an unknown block type or role is `Other`: the index does not validate, the upstream does.
///
/// ```
/// use grov_wire::RequestIndex;
///
/// let body = br#"{"model":"m","messages":[{"role":"user","content":"fix the bug"}]}"#.as_slice().into();
/// let index = RequestIndex::parse(&body)?;
/// assert_eq!(index.model().as_deref(), Some("m"));
/// let message = index.newest_user_message().ok_or("no message")?;
/// assert_eq!(message.texts().collect::<Vec<_>>(), ["fix the bug"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// The blocks of all messages in order.
    pub(super) blocks: Vec<BlockEntry>,
    /// The messages that came from the cache.
    pub(super) shared_prefix: SharedPrefix,
}

impl RequestIndex {
    /// Returns the body.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Iterates over the top-level fields in order: the key, and the value as raw JSON.
    pub fn fields(&self) -> impl Iterator<Item = (Cow<'_, str>, &str)> {
        self.fields
            .iter()
            .map(|field| (self.decode(field.key), self.raw(field.value)))
    }

    /// Returns the value of a top-level field as raw JSON.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.find_field(name)
            .and_then(|number| self.fields.get(number))
            .map(|field| self.raw(field.value))
    }

    /// Returns `model`.
    pub fn model(&self) -> Option<Cow<'_, str>> {
        self.model.map(|span| self.decode(span))
    }

    /// Returns whether `stream` is `true`.
    pub fn stream(&self) -> bool {
        self.stream
    }

    /// Returns `max_tokens`.
    pub fn max_tokens(&self) -> Option<u64> {
        self.max_tokens
    }

    /// Returns `metadata.user_id`. Claude Code sends a JSON document in this string.
    pub fn metadata_user_id(&self) -> Option<Cow<'_, str>> {
        self.user_id.map(|span| self.decode(span))
    }

    /// Iterates over the texts of the system prompt: its string, or its text blocks in order.
    pub fn system_texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let (text, blocks) = match &self.system {
            SystemEntry::Text(span) => (Some(*span), &[][..]),
            SystemEntry::Blocks(blocks) => (None, blocks.as_slice()),
            SystemEntry::Absent | SystemEntry::Other => (None, &[][..]),
        };
        let texts = blocks.iter().filter_map(|block| block.text);
        text.into_iter().chain(texts).map(|span| self.decode(span))
    }

    /// Returns the number of tools.
    pub fn tool_count(&self) -> usize {
        self.tools
    }

    /// Returns `output_config.format.type`.
    pub fn output_format(&self) -> Option<Cow<'_, str>> {
        self.output_format.map(|span| self.decode(span))
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
