//! One line of a transcript. Only what is asked for is looked into, and nothing of what is not understood is an error: a
//! newer client may write fields in another shape.

use grov_domain::{AgentId, TokenUsage};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::borrow::Cow;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

type Field<'a> = Option<&'a RawValue>;

/// A line, its fields unread.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    subtype: Field<'a>,
    #[serde(borrow)]
    session_id: Field<'a>,
    #[serde(borrow)]
    agent_id: Field<'a>,
    #[serde(borrow)]
    is_sidechain: Field<'a>,
    #[serde(borrow)]
    is_meta: Field<'a>,
    #[serde(borrow)]
    is_compact_summary: Field<'a>,
    #[serde(borrow)]
    is_visible_in_transcript_only: Field<'a>,
    #[serde(borrow)]
    forked_from: Field<'a>,
    #[serde(borrow)]
    origin: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow)]
    cwd: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
    #[serde(borrow)]
    attachment: Field<'a>,
    #[serde(borrow)]
    compact_metadata: Field<'a>,
    #[serde(borrow)]
    tool_use_result: Field<'a>,
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow)]
    kind: Field<'a>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow)]
    trigger: Field<'a>,
}

impl<'a> Line<'a> {
    /// `None`: no JSON object.
    pub(super) fn parse(line: &'a [u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?;
        // A list would be taken for the fields in their order.
        if !line.trim_ascii_start().starts_with('{') {
            return None;
        }
        serde_json::from_str(line).ok()
    }

    pub(super) fn kind(&self) -> Option<Cow<'a, str>> {
        text(self.kind)
    }

    pub(super) fn subtype(&self) -> Option<Cow<'a, str>> {
        text(self.subtype)
    }

    pub(super) fn cwd(&self) -> Option<Cow<'a, str>> {
        text(self.cwd)
    }

    pub(super) fn timestamp(&self) -> Option<OffsetDateTime> {
        OffsetDateTime::parse(&text(self.timestamp)?, &Rfc3339).ok()
    }

    /// The subagent whose line it is.
    pub(super) fn agent(&self) -> Option<AgentId> {
        match text(self.agent_id) {
            Some(agent) => Some(AgentId::new(agent)),
            // Clients of old put subagents into the main file without a name.
            None => is(self.is_sidechain).then(|| AgentId::new("sidechain")),
        }
    }

    /// Whether it was copied from the transcript of another session.
    pub(super) fn is_inherited(&self, session: Option<&str>) -> bool {
        let is_foreign = |own: &str| text(self.session_id).is_some_and(|session| session != own);
        self.forked_from.is_some_and(|value| value.get() != "null") || session.is_some_and(is_foreign)
    }

    /// Whether a person may have typed what is in it.
    pub(super) fn is_typed(&self) -> bool {
        let origin = self
            .origin
            .and_then(|origin| serde_json::from_str::<Kind<'_>>(origin.get()).ok());
        let is_human = origin
            .and_then(|origin| text(origin.kind))
            .is_none_or(|kind| kind == "human");
        is_human
            && self.agent().is_none()
            && !is(self.is_meta)
            && !is(self.is_compact_summary)
            && !is(self.is_visible_in_transcript_only)
    }

    pub(super) fn message(&self) -> Option<Message<'a>> {
        object(self.message)
    }

    pub(super) fn attachment(&self) -> Option<Attachment<'a>> {
        object(self.attachment)
    }

    pub(super) fn compaction_trigger(&self) -> Option<Cow<'a, str>> {
        let metadata: Metadata<'a> = object(self.compact_metadata)?;
        text(metadata.trigger)
    }

    /// What the tool told the client, where that is an object of this shape.
    pub(super) fn result<T: Deserialize<'a>>(&self) -> Option<T> {
        object(self.tool_use_result)
    }
}

/// A message of either side.
#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    model: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    usage: Field<'a>,
}

#[derive(Deserialize)]
struct RawUsage<'a> {
    #[serde(borrow)]
    input_tokens: Field<'a>,
    #[serde(borrow)]
    output_tokens: Field<'a>,
    #[serde(borrow)]
    cache_creation_input_tokens: Field<'a>,
    #[serde(borrow)]
    cache_read_input_tokens: Field<'a>,
    #[serde(borrow)]
    cache_creation: Field<'a>,
}

#[derive(Deserialize)]
struct RawCreation<'a> {
    #[serde(borrow)]
    ephemeral_1h_input_tokens: Field<'a>,
    #[serde(borrow)]
    ephemeral_5m_input_tokens: Field<'a>,
}

impl<'a> Message<'a> {
    pub(super) fn id(&self) -> Option<Cow<'a, str>> {
        text(self.id)
    }

    pub(super) fn model(&self) -> Option<Cow<'a, str>> {
        text(self.model)
    }

    /// The content, where it is a plain text.
    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        text(self.content)
    }

    /// The content, where it is blocks.
    pub(super) fn blocks(&self) -> Vec<Block<'a>> {
        blocks(self.content)
    }

    pub(super) fn usage(&self) -> Option<TokenUsage> {
        let usage: RawUsage<'a> = object(self.usage)?;
        let number = |field: Field<'a>| value::<u64>(field).unwrap_or_default();
        let creation: Option<RawCreation<'a>> = object(usage.cache_creation);
        Some(TokenUsage {
            input: number(usage.input_tokens),
            cache_read: number(usage.cache_read_input_tokens),
            cache_creation: number(usage.cache_creation_input_tokens),
            cache_creation_5m: creation
                .as_ref()
                .map_or(0, |creation| number(creation.ephemeral_5m_input_tokens)),
            cache_creation_1h: creation
                .as_ref()
                .map_or(0, |creation| number(creation.ephemeral_1h_input_tokens)),
            output: number(usage.output_tokens),
        })
    }
}

/// A block of a message's content.
#[derive(Deserialize)]
pub(super) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    input: Field<'a>,
    #[serde(borrow)]
    tool_use_id: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    is_error: Field<'a>,
}

impl<'a> Block<'a> {
    pub(super) fn kind(&self) -> Option<Cow<'a, str>> {
        text(self.kind)
    }

    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        text(self.text)
    }

    pub(super) fn id(&self) -> Option<Cow<'a, str>> {
        text(self.id)
    }

    pub(super) fn name(&self) -> Option<Cow<'a, str>> {
        text(self.name)
    }

    pub(super) fn input(&self) -> Option<&'a str> {
        self.input.map(RawValue::get)
    }

    pub(super) fn tool_use_id(&self) -> Option<Cow<'a, str>> {
        text(self.tool_use_id)
    }

    pub(super) fn is_error(&self) -> bool {
        is(self.is_error)
    }

    /// The last text that a tool put out.
    pub(super) fn output(&self) -> Option<Cow<'a, str>> {
        if let Some(text) = text(self.content) {
            return Some(text);
        }
        let blocks = blocks(self.content);
        let mut texts = blocks.iter().rev();
        texts.find_map(Block::text)
    }
}

/// What the client attached to the conversation.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Attachment<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    prompt: Field<'a>,
    #[serde(borrow)]
    command_mode: Field<'a>,
}

impl<'a> Attachment<'a> {
    pub(super) fn kind(&self) -> Option<Cow<'a, str>> {
        text(self.kind)
    }

    pub(super) fn prompt(&self) -> Option<Cow<'a, str>> {
        text(self.prompt)
    }

    pub(super) fn prompt_blocks(&self) -> Option<&'a RawValue> {
        self.prompt
    }

    pub(super) fn mode(&self) -> Option<Cow<'a, str>> {
        text(self.command_mode)
    }
}

/// The blocks of a list; none where it is something else. A block that is none is passed over.
pub(super) fn blocks(field: Option<&RawValue>) -> Vec<Block<'_>> {
    let Some(list) = field.filter(|value| value.get().starts_with('[')) else {
        return Vec::new();
    };
    let list: Vec<&RawValue> = serde_json::from_str(list.get()).unwrap_or_default();
    list.into_iter().filter_map(|block| object(Some(block))).collect()
}

/// An object of some shape.
fn object<'a, T: Deserialize<'a>>(field: Field<'a>) -> Option<T> {
    let value = field?.get();
    if !value.starts_with('{') {
        return None;
    }
    serde_json::from_str(value).ok()
}

fn value<T: DeserializeOwned>(field: Field<'_>) -> Option<T> {
    serde_json::from_str(field?.get()).ok()
}

fn is(field: Field<'_>) -> bool {
    value(field).unwrap_or(false)
}

/// A borrowed text where nothing in it is escaped.
fn text(field: Field<'_>) -> Option<Cow<'_, str>> {
    let raw = field?.get();
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str::<String>(raw).ok().map(Cow::Owned)
}
