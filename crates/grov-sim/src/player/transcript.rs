//! The transcript of a scripted client.

use crate::json::Json;
use bytes::Bytes;
use grov_domain::{ExchangeKind, TokenUsage};
use std::time::Duration;

/// One HTTP request of the client; each retry is a separate one.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// Its purpose.
    pub kind: ExchangeKind,
    /// The subagent, if it was one.
    pub agent_id: Option<String>,
    /// The body, as sent; empty if bodies are not kept.
    pub sent: Bytes,
    /// Whether it asked for a stream.
    pub stream: bool,
    /// The status; `None` if no response began.
    pub status: Option<u16>,
    /// The response's `request-id`, which identifies its record in the simulation.
    pub request_id: Option<String>,
    /// Whether the answer is complete.
    pub complete: bool,
    /// Tokens, as the answer states them.
    pub usage: TokenUsage,
    /// The answer's `stop_reason`.
    pub stop_reason: Option<String>,
    /// Time from the end of the request to the first byte of the answer.
    pub first_byte: Option<Duration>,
    /// The error, if it failed.
    pub error: Option<String>,
}

/// One executed tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedAction {
    /// The subagent that called, if it was one.
    pub agent_id: Option<String>,
    /// The call's id.
    pub tool_use_id: String,
    /// The tool.
    pub tool: String,
    /// The input, as the client sends it back.
    pub input: Json,
    /// The result's text.
    pub result: String,
    /// Whether it failed.
    pub is_error: bool,
}

/// One prompt and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The typed text.
    pub prompt: String,
    /// The text that ended the turn.
    pub answer: String,
    /// The error that ended it instead.
    pub error: Option<String>,
}

/// Everything that happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// The session's id.
    pub session_id: String,
    /// Status of the probe before the first request.
    pub probe_status: Option<u16>,
    /// The prompts.
    pub turns: Vec<Turn>,
    /// The tool calls, in the order in which they ended.
    pub actions: Vec<PlayedAction>,
    /// The requests, in the order in which they were sent; a title's comes after those of its turn.
    pub exchanges: Vec<Exchange>,
    /// The title, if one was asked for.
    pub title: Option<String>,
    /// The newest suggested prompt.
    pub suggestion: Option<String>,
}

impl Transcript {
    /// The first error, if there was one.
    pub fn first_error(&self) -> Option<&str> {
        self.turns.iter().find_map(|turn| turn.error.as_deref())
    }

    /// The tokens of all answers together.
    pub fn usage(&self) -> TokenUsage {
        self.exchanges
            .iter()
            .fold(TokenUsage::default(), |sum, exchange| TokenUsage {
                input: sum.input + exchange.usage.input,
                cache_read: sum.cache_read + exchange.usage.cache_read,
                cache_creation: sum.cache_creation + exchange.usage.cache_creation,
                cache_creation_5m: sum.cache_creation_5m + exchange.usage.cache_creation_5m,
                cache_creation_1h: sum.cache_creation_1h + exchange.usage.cache_creation_1h,
                output: sum.output + exchange.usage.output,
            })
    }
}
