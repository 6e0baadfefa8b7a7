//! Parses the JSON of events, messages and errors leniently: a field of the wrong type counts as absent.

use super::turn::{ApiError, Block, Usage};
use crate::json::unescaped;
use memchr::memmem;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The raw text of a JSON value, without white space around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Raw<'a>(pub(super) &'a str);

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&'a RawValue>::deserialize(deserializer).map(|raw| Self(raw.get()))
    }
}

/// An event of the stream, with the fields of all types of events.
#[derive(Debug, Default, Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Envelope<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Option<Raw<'a>>,
    pub(super) index: Option<Raw<'a>>,
    pub(super) delta: Option<Raw<'a>>,
    pub(super) content_block: Option<Raw<'a>>,
    pub(super) message: Option<Raw<'a>>,
    pub(super) usage: Option<Raw<'a>>,
    pub(super) error: Option<Raw<'a>>,
}

/// A message: a JSON body, or the part of it in `message_start`.
#[derive(Debug, Default, Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Message<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Option<Raw<'a>>,
    pub(super) id: Option<Raw<'a>>,
    pub(super) model: Option<Raw<'a>>,
    pub(super) role: Option<Raw<'a>>,
    pub(super) content: Option<Raw<'a>>,
    pub(super) stop_reason: Option<Raw<'a>>,
    pub(super) stop_sequence: Option<Raw<'a>>,
    pub(super) usage: Option<Raw<'a>>,
    pub(super) error: Option<Raw<'a>>,
}

/// A delta of a block (such as `text_delta`) or of the message (such as `stop_reason`).
#[derive(Debug, Default, Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Delta<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Option<Raw<'a>>,
    pub(super) text: Option<Raw<'a>>,
    pub(super) thinking: Option<Raw<'a>>,
    pub(super) partial_json: Option<Raw<'a>>,
    pub(super) stop_reason: Option<Raw<'a>>,
    pub(super) stop_sequence: Option<Raw<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct RawBlock<'a> {
    #[serde(rename = "type")]
    kind: Option<Raw<'a>>,
    text: Option<Raw<'a>>,
    thinking: Option<Raw<'a>>,
    id: Option<Raw<'a>>,
    name: Option<Raw<'a>>,
    input: Option<Raw<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct RawUsage<'a> {
    input_tokens: Option<Raw<'a>>,
    output_tokens: Option<Raw<'a>>,
    cache_read_input_tokens: Option<Raw<'a>>,
    cache_creation_input_tokens: Option<Raw<'a>>,
    cache_creation: Option<Raw<'a>>,
    server_tool_use: Option<Raw<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct RawCacheCreation<'a> {
    ephemeral_5m_input_tokens: Option<Raw<'a>>,
    ephemeral_1h_input_tokens: Option<Raw<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct RawServerToolUse<'a> {
    web_search_requests: Option<Raw<'a>>,
    web_fetch_requests: Option<Raw<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct RawError<'a> {
    #[serde(rename = "type")]
    kind: Option<Raw<'a>>,
    message: Option<Raw<'a>>,
}

/// Parses a JSON object. Serde alone would also accept an array for a struct.
pub(super) fn object<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, Malformed> {
    if json.trim_ascii_start().first() != Some(&b'{') {
        return Err(Malformed {
            is_cut: json.trim_ascii().is_empty(),
        });
    }
    // One UTF-8 check of the document is faster than serde's check of each raw part.
    let read = match simdutf8::basic::from_utf8(json) {
        Ok(text) => serde_json::from_str(text),
        // The invalid bytes may be in a part that is not read.
        Err(_) => serde_json::from_slice(json),
    };
    read.map_err(|error| Malformed {
        is_cut: error.is_eof(),
    })
}

/// JSON that could not be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    /// Whether it is the beginning of a JSON document.
    pub(super) is_cut: bool,
}

/// Parses an object inside a document. Returns `None` if the value has another type.
pub(super) fn inner<'a, T: Deserialize<'a>>(raw: Option<Raw<'a>>) -> Option<T> {
    let Raw(json) = raw?;
    json.trim_ascii_start()
        .starts_with('{')
        .then(|| serde_json::from_str(json).ok())
        .flatten()
}

/// Returns a string without escapes.
pub(super) fn text<'a>(raw: Option<Raw<'a>>) -> Option<Cow<'a, str>> {
    let Raw(json) = raw?;
    let between_quotes = json.strip_prefix('"')?.strip_suffix('"')?;
    if !between_quotes.contains('\\') {
        return Some(Cow::Borrowed(between_quotes));
    }
    if memmem::find(between_quotes.as_bytes(), b"\\u").is_some() {
        // serde rejects lone surrogates.
        return serde_json::from_str(json).ok().map(Cow::Owned);
    }
    Some(unescaped(between_quotes))
}

pub(super) fn owned_text(raw: Option<Raw<'_>>) -> Option<String> {
    text(raw).map(Cow::into_owned)
}

/// Returns a count. Some gateways write `12.0`.
pub(super) fn count(raw: Option<Raw<'_>>) -> Option<u64> {
    let Raw(json) = raw?;
    json.parse().ok().or_else(|| {
        let number: f64 = json.parse().ok()?;
        // Above 2^53 a float is not exact.
        (number.fract() == 0.0 && (0.0..9.0e15).contains(&number)).then_some(number as u64)
    })
}

impl Usage {
    /// Sets the counts that `raw` contains. The counts in a stream are cumulative, so the newest ones replace earlier ones.
    pub(super) fn update(&mut self, raw: Option<Raw<'_>>) {
        if let Some(usage) = inner::<RawUsage<'_>>(raw) {
            let lifetimes: RawCacheCreation<'_> = inner(usage.cache_creation).unwrap_or_default();
            let tools: RawServerToolUse<'_> = inner(usage.server_tool_use).unwrap_or_default();
            let set = |target: &mut u64, raw| *target = count(raw).unwrap_or(*target);
            set(&mut self.input, usage.input_tokens);
            set(&mut self.output, usage.output_tokens);
            set(&mut self.cache_read, usage.cache_read_input_tokens);
            set(&mut self.cache_creation, usage.cache_creation_input_tokens);
            set(&mut self.cache_creation_5m, lifetimes.ephemeral_5m_input_tokens);
            set(&mut self.cache_creation_1h, lifetimes.ephemeral_1h_input_tokens);
            set(&mut self.web_search_requests, tools.web_search_requests);
            set(&mut self.web_fetch_requests, tools.web_fetch_requests);
        }
    }
}

impl ApiError {
    /// Returns an error for an error object that cannot be read.
    pub(super) fn unreadable() -> Self {
        Self {
            kind: "error".to_owned(),
            message: String::new(),
        }
    }

    /// Parses an error object (`{"type":…,"message":…}`), or the plain string that some gateways send instead.
    pub(super) fn read(raw: Option<Raw<'_>>) -> Option<Self> {
        if let Some(message) = owned_text(raw) {
            return Some(Self {
                kind: "error".to_owned(),
                message,
            });
        }
        let error: RawError<'_> = inner(raw)?;
        let kind = owned_text(error.kind);
        let message = owned_text(error.message);
        if kind.is_none() && message.is_none() {
            return None;
        }
        Some(Self {
            kind: kind.unwrap_or_else(|| "error".to_owned()),
            message: message.unwrap_or_default(),
        })
    }
}

/// Parses a content block. `complete` is `true` for a JSON body and `false` for the start of a block in a stream.
pub(super) fn block(raw: Raw<'_>, complete: bool) -> Option<Block> {
    let block: RawBlock<'_> = inner(Some(raw))?;
    let text_of = |raw| owned_text(raw).unwrap_or_default();
    let input_of = |raw: Option<Raw<'_>>| raw.map_or_else(String::new, |Raw(json)| json.to_owned());
    let kind = text(block.kind)?;
    Some(match &*kind {
        "text" => Block::Text {
            text: text_of(block.text),
            complete,
        },
        "thinking" => Block::Thinking {
            text: text_of(block.thinking),
            complete,
        },
        "redacted_thinking" => Block::RedactedThinking { complete },
        "tool_use" => Block::ToolUse {
            id: text_of(block.id),
            name: text_of(block.name),
            input: input_of(block.input),
            complete,
        },
        "server_tool_use" => Block::ServerToolUse {
            id: text_of(block.id),
            name: text_of(block.name),
            input: input_of(block.input),
            complete,
        },
        _ => Block::Other {
            kind: kind.into_owned(),
            json: raw.0.to_owned(),
            complete,
        },
    })
}
