//! One line of a transcript.
//!
//! Fields are parsed when they are read. A field of an unexpected type counts as absent, because newer clients may
//! change its type.

use grov_domain::{AgentId, TokenUsage};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A JSON object whose values are not parsed yet.
#[derive(Deserialize)]
struct Fields<'a>(#[serde(borrow)] HashMap<Cow<'a, str>, &'a RawValue>);

impl<'a> Fields<'a> {
    fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.0.get(name).copied()
    }

    fn value<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.raw(name)?.get()).ok()
    }

    /// A JSON string, borrowed if it contains no escapes.
    fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        let raw = self.raw(name)?.get();
        let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
        if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
            return Some(Cow::Borrowed(inner));
        }
        serde_json::from_str::<String>(raw).ok().map(Cow::Owned)
    }

    fn is(&self, name: &str) -> bool {
        self.value(name).unwrap_or(false)
    }

    fn object<T: Deserialize<'a>>(&self, name: &str) -> Option<T> {
        object(self.raw(name)?)
    }

    /// The objects of a list; empty if the field is not a list.
    fn blocks(&self, name: &str) -> Vec<Block<'a>> {
        let Some(list) = self.raw(name).filter(|value| value.get().starts_with('[')) else {
            return Vec::new();
        };
        let list: Vec<&RawValue> = serde_json::from_str(list.get()).unwrap_or_default();
        list.into_iter().filter_map(object).collect()
    }
}

/// Serde can also deserialize a struct from a list, so lists are refused here.
fn object<'a, T: Deserialize<'a>>(value: &'a RawValue) -> Option<T> {
    let text = value.get();
    text.starts_with('{').then(|| serde_json::from_str(text).ok())?
}

/// A line of a transcript.
pub(super) struct Line<'a>(Fields<'a>);

impl<'a> Line<'a> {
    /// `None` if the line is not a JSON object.
    pub(super) fn parse(line: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok().map(Self)
    }

    pub(super) fn kind(&self) -> Option<Cow<'a, str>> {
        self.0.text("type")
    }

    /// The title of the session, if the line has one that a model wrote.
    pub(super) fn title(&self) -> Option<Cow<'a, str>> {
        (self.kind()? == super::newest_title::TITLE).then(|| self.0.text("aiTitle"))?
    }

    pub(super) fn subtype(&self) -> Option<Cow<'a, str>> {
        self.0.text("subtype")
    }

    pub(super) fn cwd(&self) -> Option<Cow<'a, str>> {
        self.0.text("cwd")
    }

    pub(super) fn timestamp(&self) -> Option<OffsetDateTime> {
        OffsetDateTime::parse(&self.0.text("timestamp")?, &Rfc3339).ok()
    }

    /// The subagent that the line belongs to; `None` for the main conversation.
    pub(super) fn agent(&self) -> Option<AgentId> {
        match self.0.text("agentId") {
            Some(agent) => Some(AgentId::new(agent)),
            // Old clients write subagents into the main file without an id.
            None => self.0.is("isSidechain").then(|| AgentId::new("sidechain")),
        }
    }

    /// Whether the line was copied from the transcript of another session.
    pub(super) fn is_inherited(&self, session: Option<&str>) -> bool {
        let is_foreign = |own: &str| self.0.text("sessionId").is_some_and(|session| session != own);
        let is_forked = self
            .0
            .raw("forkedFrom")
            .is_some_and(|value| value.get() != "null");
        is_forked || session.is_some_and(is_foreign)
    }

    /// Whether the user may have typed the text of the line.
    pub(super) fn is_typed(&self) -> bool {
        let origin: Option<Fields<'a>> = self.0.object("origin");
        let is_human = origin
            .and_then(|origin| origin.text("kind"))
            .is_none_or(|kind| kind == "human");
        let is_marked = ["isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"]
            .iter()
            .any(|mark| self.0.is(mark));
        is_human && self.agent().is_none() && !is_marked
    }

    /// Whether the line is the summary of a compaction, in the main conversation.
    pub(super) fn is_summary(&self) -> bool {
        self.0.is("isCompactSummary") && self.agent().is_none()
    }

    pub(super) fn message(&self) -> Option<Message<'a>> {
        self.0.object("message").map(Message)
    }

    /// The text blocks of a prompt that the user typed while a turn was running.
    pub(super) fn queued_prompt(&self) -> Option<Vec<Cow<'a, str>>> {
        let attachment: Fields<'a> = self.0.object("attachment")?;
        let is_prompt = attachment.text("type").as_deref() == Some("queued_command")
            && attachment.text("commandMode").is_none_or(|mode| mode == "prompt")
            && self.agent().is_none();
        is_prompt.then(|| match attachment.text("prompt") {
            Some(prompt) => vec![prompt],
            None => attachment
                .blocks("prompt")
                .iter()
                .filter_map(Block::text)
                .collect(),
        })
    }

    pub(super) fn compaction_trigger(&self) -> Option<Cow<'a, str>> {
        let metadata: Fields<'a> = self.0.object("compactMetadata")?;
        metadata.text("trigger")
    }

    /// The tool's structured result, if it is an object of type `T`.
    pub(super) fn result<T: Deserialize<'a>>(&self) -> Option<T> {
        self.0.object("toolUseResult")
    }
}

/// A message of the user or of the assistant.
pub(super) struct Message<'a>(Fields<'a>);

impl<'a> Message<'a> {
    pub(super) fn id(&self) -> Option<Cow<'a, str>> {
        self.0.text("id")
    }

    pub(super) fn model(&self) -> Option<Cow<'a, str>> {
        self.0.text("model")
    }

    /// The content, if it is a plain string.
    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        self.0.text("content")
    }

    /// The content, if it is a list of blocks.
    pub(super) fn blocks(&self) -> Vec<Block<'a>> {
        self.0.blocks("content")
    }

    pub(super) fn usage(&self) -> Option<TokenUsage> {
        let usage: Fields<'a> = self.0.object("usage")?;
        let creation: Option<Fields<'a>> = usage.object("cache_creation");
        let created = |name| {
            creation
                .as_ref()
                .and_then(|creation| creation.value(name))
                .unwrap_or_default()
        };
        let tokens = |name| usage.value(name).unwrap_or_default();
        Some(TokenUsage {
            input: tokens("input_tokens"),
            cache_read: tokens("cache_read_input_tokens"),
            cache_creation: tokens("cache_creation_input_tokens"),
            cache_creation_5m: created("ephemeral_5m_input_tokens"),
            cache_creation_1h: created("ephemeral_1h_input_tokens"),
            output: tokens("output_tokens"),
        })
    }
}

/// A block of a message's content.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Block<'a>(#[serde(borrow)] Fields<'a>);

impl<'a> Block<'a> {
    /// A field as JSON.
    pub(super) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.0.raw(name)
    }

    pub(super) fn kind(&self) -> Option<Cow<'a, str>> {
        self.0.text("type")
    }

    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        self.0.text("text")
    }

    pub(super) fn id(&self) -> Option<Cow<'a, str>> {
        self.0.text("id")
    }

    pub(super) fn name(&self) -> Option<Cow<'a, str>> {
        self.0.text("name")
    }

    pub(super) fn input(&self) -> Option<&'a str> {
        self.0.raw("input").map(RawValue::get)
    }

    pub(super) fn tool_use_id(&self) -> Option<Cow<'a, str>> {
        self.0.text("tool_use_id")
    }

    pub(super) fn is_error(&self) -> bool {
        self.0.is("is_error")
    }

    /// The output of a tool: the content, or the last text block in it.
    pub(super) fn output(&self) -> Option<Cow<'a, str>> {
        let last = || self.0.blocks("content").iter().rev().find_map(Block::text);
        self.0.text("content").or_else(last)
    }
}
