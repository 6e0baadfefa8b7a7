//! The index of one request: spans of everything that anybody asks for, found in one pass.

use super::edit::{Part, PartKind};
use super::entry::{BlockEntry, Field, MessageEntry, SystemEntry, ToolEntry};
use super::known::ReadBefore;
use crate::json::{self, Span};
use bytes::Bytes;
use std::borrow::Cow;

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

impl RequestIndex {
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

    /// `output_config.format.type`.
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
