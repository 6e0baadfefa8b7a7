//! Exchanges: one request to the model and its response, as recorded.

use crate::macros::named;
use crate::{
    Action, AgentId, ClientSessionId, DriftState, ExchangeId, Project, SessionId, StepId, StepVerdict,
};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// Tokens by the class they are billed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Uncached input.
    pub input: u64,
    /// Input read from the prompt cache.
    pub cache_read: u64,
    /// Input written to the prompt cache, all lifetimes together.
    pub cache_creation: u64,
    /// The part of `cache_creation` that is kept for five minutes.
    pub cache_creation_5m: u64,
    /// The part of `cache_creation` that is kept for an hour.
    pub cache_creation_1h: u64,
    /// Output.
    pub output: u64,
}

/// What a request was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExchangeKind {
    /// A step of the main conversation.
    Main,
    /// A step of a subagent.
    Subagent,
    /// A request that the client makes beside the conversation; never a turn.
    Side(SideRequest),
}

/// The requests that the client makes beside the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideRequest {
    /// Naming the session.
    Title,
    /// Suggesting the next prompt.
    Suggestion,
    /// Summing up the conversation to make room.
    Compaction,
    /// A web search or fetch nested inside a tool call.
    WebTool,
    /// Recognised as no turn, purpose unknown.
    Other,
}

impl ExchangeKind {
    /// The name under which the kind is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Subagent => "subagent",
            Self::Side(SideRequest::Title) => "title",
            Self::Side(SideRequest::Suggestion) => "suggestion",
            Self::Side(SideRequest::Compaction) => "compaction",
            Self::Side(SideRequest::WebTool) => "web_tool",
            Self::Side(SideRequest::Other) => "side",
        }
    }

    /// Whether this is a turn of the main conversation or of a subagent.
    pub fn is_turn(self) -> bool {
        matches!(self, Self::Main | Self::Subagent)
    }
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The response arrived whole.
    Complete,
    /// The upstream ended or broke the response early.
    Truncated,
    /// The client went away before the end.
    ClientGone,
    /// The upstream answered with an error, as a status or as an event in the stream.
    UpstreamError,
}

named!(Outcome {
    Complete => "complete", Truncated => "truncated", ClientGone => "client_gone",
    UpstreamError => "upstream_error",
});

/// Something the user typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// The text, without the client's own reminders.
    pub text: String,
    /// Typed while a turn was running, so it arrived inside the tool loop.
    pub queued: bool,
}

/// One action to be recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Derived from the exchange: recording twice yields one row.
    pub id: StepId,
    /// What was done.
    pub action: Action,
    /// The assistant's text nearest before the action, bounded to 1,000 characters.
    pub reasoning: Option<String>,
    /// Words that a later search may use: file stems, identifiers.
    pub keywords: Vec<String>,
    /// Whether the action carries a decision (a change of files, or text that states one).
    pub is_key_decision: bool,
    /// When the response that holds the action ended.
    pub timestamp: OffsetDateTime,
    /// What was found of it at once; `None` where nobody looked.
    #[serde(default)]
    pub verdict: Option<StepVerdict>,
}

/// One request and its response, ready to be stored. Recording the same exchange twice changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangeRecord {
    /// Identity of the record.
    pub id: ExchangeId,
    /// The task it belongs to.
    pub session_id: SessionId,
    /// The client's session.
    pub client_session_id: ClientSessionId,
    /// The subagent, if it was one.
    pub agent_id: Option<AgentId>,
    /// What the request was for.
    pub kind: ExchangeKind,
    /// The project.
    pub project: Project,
    /// Who works: the project's git user, hashed if so configured.
    pub user: Option<String>,
    /// The model that answered, or was asked.
    pub model: Option<String>,
    /// When the request arrived.
    pub started_at: OffsetDateTime,
    /// When the response ended.
    pub ended_at: OffsetDateTime,
    /// What the user typed and this request was the first to carry. Usually empty (tool loop) or one.
    pub prompts: Vec<Prompt>,
    /// The actions of the response, and those of an earlier broken one that turned out to have run.
    pub steps: Vec<Step>,
    /// Tokens.
    pub usage: TokenUsage,
    /// The response's `stop_reason`.
    pub stop_reason: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// Where the session stands after it, where that has changed.
    #[serde(default)]
    pub drift: Option<DriftState>,
}
