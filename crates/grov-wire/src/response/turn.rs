//! The result of parsing a response.

use crate::coding::DecodeFault;

/// A parsed response of the model, from [`ResponseTap::finish`](super::ResponseTap::finish).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// The message's id (`msg_…`).
    pub id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The message's role; `assistant` in practice.
    pub role: Option<String>,
    /// The content blocks, ordered by index.
    pub blocks: Vec<Block>,
    /// Why the model stopped, such as `end_turn`, `tool_use` or `max_tokens`.
    pub stop_reason: Option<String>,
    /// The stop sequence that the model reached, if any.
    pub stop_sequence: Option<String>,
    /// Tokens and calls of server tools. Zero if the response did not report them.
    pub usage: Usage,
    /// The error that the upstream reported as a status, a body or an event.
    pub error: Option<ApiError>,
    /// How the response ended.
    pub end: TurnEnd,
    /// Deviations from the protocol.
    pub irregularities: Irregularities,
    /// Events and deltas of unknown types, oldest first, at most 64 of at most 16 KiB each. Further ones are only counted in
    /// [`Irregularities`].
    pub unrecognised: Vec<Unrecognised>,
}

impl Turn {
    /// Returns whether the model said nothing: no text, no thinking and no call.
    pub fn is_empty(&self) -> bool {
        let is_blank = |block: &Block| matches!(block, Block::Text { text, .. } if text.trim().is_empty());
        self.blocks.iter().all(is_blank)
    }
}

/// A content block of a response.
///
/// `complete` is whether the end of the block was received. Otherwise the text is the part that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Text for the user.
    Text {
        /// The text.
        text: String,
        /// Whether the end of the block was received.
        complete: bool,
    },
    /// The model's reasoning, without its signature.
    Thinking {
        /// The reasoning.
        text: String,
        /// Whether the end of the block was received.
        complete: bool,
    },
    /// Reasoning that the upstream encrypted. Its content is dropped.
    RedactedThinking {
        /// Whether the end of the block was received.
        complete: bool,
    },
    /// A call of one of the client's tools.
    ToolUse {
        /// The call's id (`toolu_…`).
        id: String,
        /// The tool's name.
        name: String,
        /// The input as JSON text, exactly as the model wrote it. It may be truncated even in a complete block, if
        /// `stop_reason` is `max_tokens`.
        input: String,
        /// Whether the end of the block was received.
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
        /// Whether the end of the block was received.
        complete: bool,
    },
    /// Any other kind of block.
    Other {
        /// The block's `type`.
        kind: String,
        /// The JSON of the block, then each delta on a separate line, as received.
        json: String,
        /// Whether the end of the block was received.
        complete: bool,
    },
}

impl Block {
    /// Returns whether the end of the block was received.
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

    pub(crate) fn complete_mut(&mut self) -> &mut bool {
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

/// Tokens by billing class, and calls of server tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Uncached input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens read from the prompt cache.
    pub cache_read: u64,
    /// Input tokens written to the prompt cache, for all lifetimes.
    pub cache_creation: u64,
    /// The part of `cache_creation` with a lifetime of 5 minutes.
    pub cache_creation_5m: u64,
    /// The part of `cache_creation` with a lifetime of 1 hour.
    pub cache_creation_1h: u64,
    /// Web searches by the upstream.
    pub web_search_requests: u64,
    /// Web pages that the upstream fetched.
    pub web_fetch_requests: u64,
}

/// An error that the upstream reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// `type` of the error, such as `overloaded_error`, or `http_502` for a status without a readable body.
    pub kind: String,
    /// `message` of the error, or an empty string.
    pub message: String,
}

/// How a response ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurnEnd {
    /// The message is complete: `message_stop` was received, or the body was one JSON message.
    Complete,
    /// The upstream reported an error, see [`Turn::error`].
    Error,
    /// The response ended before the message did.
    #[default]
    Truncated,
    /// The response is not a message, but for example HTML or another JSON document.
    NotAMessage,
    /// Parsing stopped before the end, see [`Irregularities::decoding`]. The client may have received a complete message.
    Unobserved,
}

/// Deviations of a response from the protocol. All are zero, `false` or `None` for a regular response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Irregularities {
    /// Events that were skipped because they are not JSON or lack a required field. 1 for such a JSON body.
    pub malformed: u32,
    /// Events that were skipped because they are larger than [`MAX_EVENT_BYTES`](super::MAX_EVENT_BYTES).
    pub oversized: u32,
    /// Events of unknown types.
    pub unknown_events: u32,
    /// Deltas of unknown types for blocks of known types.
    pub unknown_deltas: u32,
    /// Events at a wrong place: a second start, a delta without a block, or an event after the end.
    pub misplaced: u32,
    /// Whether the stream ended inside an event.
    pub cut_mid_event: bool,
    /// Why the content coding could not be decoded to the end.
    pub decoding: Option<DecodeFault>,
}

/// An event or delta of an unknown type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrecognised {
    /// `type`, or the name of the event if the JSON has none.
    pub kind: String,
    /// The JSON as received.
    pub json: String,
}
