//! What came out of one response: the blocks, the tokens, how it ended.

use super::coding::DecodeFault;

/// One answer of the model, as far as it was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// The message's id (`msg_…`).
    pub id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The message's role; `assistant` in practice.
    pub role: Option<String>,
    /// The content blocks in the order of their index.
    pub blocks: Vec<Block>,
    /// Why the model stopped: `end_turn`, `tool_use`, `max_tokens`, …
    pub stop_reason: Option<String>,
    /// The stop sequence that was met, if one was.
    pub stop_sequence: Option<String>,
    /// Tokens and server-side tool calls, zero where the response did not say.
    pub usage: Usage,
    /// The error the upstream reported, as a status, a body or an event in the stream.
    pub error: Option<ApiError>,
    /// How the response ended.
    pub end: TurnEnd,
    /// What was odd about the response.
    pub irregularities: Irregularities,
    /// Events and deltas of kinds this version does not know, as sent, oldest first and bounded in number and
    /// size; the rest is only counted in [`Irregularities`].
    pub unrecognised: Vec<Unrecognised>,
}

/// One content block.
///
/// `complete` is set when the block's end was seen. In a block cut short the text is what arrived before the cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Text for the user.
    Text {
        /// The text.
        text: String,
        /// The block's end was seen.
        complete: bool,
    },
    /// The model's reasoning; its signature is not kept.
    Thinking {
        /// The reasoning.
        text: String,
        /// The block's end was seen.
        complete: bool,
    },
    /// Reasoning that the upstream encrypted; nothing of it is kept.
    RedactedThinking {
        /// The block's end was seen.
        complete: bool,
    },
    /// A call of one of the client's tools.
    ToolUse {
        /// The call's id (`toolu_…`).
        id: String,
        /// The tool's name.
        name: String,
        /// The input as JSON text, exactly as the model wrote it. It may be cut short although the block is
        /// complete, when the model ran out of tokens (`stop_reason` says so).
        input: String,
        /// The block's end was seen.
        complete: bool,
    },
    /// A call of a tool that runs at the upstream (web search, code execution).
    ServerToolUse {
        /// The call's id (`srvtoolu_…`).
        id: String,
        /// The tool's name.
        name: String,
        /// The input as JSON text.
        input: String,
        /// The block's end was seen.
        complete: bool,
    },
    /// Any other kind of block.
    Other {
        /// The block's `type`.
        kind: String,
        /// The block's JSON as sent; behind it, one to a line, the deltas that followed.
        json: String,
        /// The block's end was seen.
        complete: bool,
    },
}

impl Block {
    /// Whether the block's end was seen.
    pub fn is_complete(&self) -> bool {
        match self {
            Self::Text { complete, .. }
            | Self::Thinking { complete, .. }
            | Self::RedactedThinking { complete }
            | Self::ToolUse { complete, .. }
            | Self::ServerToolUse { complete, .. }
            | Self::Other { complete, .. } => *complete,
        }
    }

    pub(super) fn complete_mut(&mut self) -> &mut bool {
        match self {
            Self::Text { complete, .. }
            | Self::Thinking { complete, .. }
            | Self::RedactedThinking { complete }
            | Self::ToolUse { complete, .. }
            | Self::ServerToolUse { complete, .. }
            | Self::Other { complete, .. } => complete,
        }
    }
}

/// Tokens by the class they are billed in, and calls of server-side tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Uncached input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens read from the prompt cache.
    pub cache_read: u64,
    /// Input tokens written to the prompt cache, all lifetimes together.
    pub cache_creation: u64,
    /// The part of `cache_creation` that is kept for five minutes.
    pub cache_creation_5m: u64,
    /// The part of `cache_creation` that is kept for an hour.
    pub cache_creation_1h: u64,
    /// Web searches made by the upstream.
    pub web_search_requests: u64,
    /// Web pages fetched by the upstream.
    pub web_fetch_requests: u64,
}

/// An error that the upstream reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The error's `type`, such as `overloaded_error`; `http_502` for a bare status without a readable error body.
    pub kind: String,
    /// The error's message, empty if there was none.
    pub message: String,
}

/// How a response ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurnEnd {
    /// The message is whole: `message_stop` was seen, or the body was one JSON message.
    Complete,
    /// The upstream reported an error: [`Turn::error`] says which.
    Error,
    /// The response ended before the message did.
    #[default]
    Truncated,
    /// The response arrived but holds no message: HTML, another JSON document, an answer to another call.
    NotAMessage,
    /// Observation stopped before the end; the client may have received a whole message.
    /// [`Irregularities::decoding`] says why.
    Unobserved,
}

/// What was odd about a response. All zero for a response as the protocol has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Irregularities {
    /// Events, or a whole body, that are no JSON or lack what their kind needs. They were skipped.
    pub malformed: u32,
    /// Events larger than [`MAX_EVENT_BYTES`](super::MAX_EVENT_BYTES). They were skipped.
    pub oversized: u32,
    /// Events of a kind this version does not know.
    pub unknown_events: u32,
    /// Deltas of a kind this version does not know, on blocks of a kind it does know.
    pub unknown_deltas: u32,
    /// Events that do not fit where they stand: a second start, a delta without a block, anything after the end.
    pub misplaced: u32,
    /// The stream ended inside an event.
    pub cut_mid_event: bool,
    /// Why the content encoding could not be decoded to the end.
    pub decoding: Option<DecodeFault>,
}

/// An event or delta of a kind this version does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrecognised {
    /// Its `type`, or the event's name where the JSON has none.
    pub kind: String,
    /// Its JSON, as sent.
    pub json: String,
}
