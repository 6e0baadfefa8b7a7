//! Exchanges: one request to the model and its response, as recorded.

use crate::macros::named;
use crate::{
    Action, AgentId, ClientSessionId, DriftState, ExchangeId, Project, RequestEdits, SessionId, StepId,
    StepOutcome, StepVerdict,
};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// Token counts by billing class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Uncached input.
    pub input: u64,
    /// Input read from the prompt cache.
    pub cache_read: u64,
    /// Input written to the prompt cache, in total.
    pub cache_creation: u64,
    /// The part of `cache_creation` with a lifetime of five minutes.
    pub cache_creation_5m: u64,
    /// The part of `cache_creation` with a lifetime of one hour.
    pub cache_creation_1h: u64,
    /// Output.
    pub output: u64,
}

impl TokenUsage {
    /// Returns the sum by class, saturating.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_creation: self.cache_creation.saturating_add(other.cache_creation),
            cache_creation_5m: self.cache_creation_5m.saturating_add(other.cache_creation_5m),
            cache_creation_1h: self.cache_creation_1h.saturating_add(other.cache_creation_1h),
            output: self.output.saturating_add(other.output),
        }
    }
}

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExchangeKind {
    /// A step of the main conversation.
    Main,
    /// A step of a subagent.
    Subagent,
    /// A request outside of the conversation; never a turn.
    Side(SideRequest),
}

/// The purpose of a request outside of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideRequest {
    /// A title for the session.
    Title,
    /// A suggestion of the next prompt.
    Suggestion,
    /// A summary of the conversation, to free context.
    Compaction,
    /// A web search or fetch inside a tool call.
    WebTool,
    /// Not a turn, of unknown purpose.
    Other,
}

impl ExchangeKind {
    /// Returns the name under which the kind is stored.
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

    /// Returns the kind that is stored under this name.
    pub fn from_name(name: &str) -> Option<Self> {
        const ALL: [ExchangeKind; 7] = [
            ExchangeKind::Main,
            ExchangeKind::Subagent,
            ExchangeKind::Side(SideRequest::Title),
            ExchangeKind::Side(SideRequest::Suggestion),
            ExchangeKind::Side(SideRequest::Compaction),
            ExchangeKind::Side(SideRequest::WebTool),
            ExchangeKind::Side(SideRequest::Other),
        ];
        ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Whether it belongs to the main conversation or a subagent.
    pub fn is_turn(self) -> bool {
        matches!(self, Self::Main | Self::Subagent)
    }
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The response arrived completely.
    Complete,
    /// The upstream ended the response early.
    Truncated,
    /// The client disconnected before the end.
    ClientGone,
    /// The upstream returned an error, as a status or as an event in the stream.
    UpstreamError,
}

named!(Outcome {
    Complete => "complete", Truncated => "truncated", ClientGone => "client_gone",
    UpstreamError => "upstream_error",
});

/// A prompt of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// The text, without reminders of the client.
    pub text: String,
    /// Whether it was typed while a turn was running, and so arrived within the tool loop.
    pub queued: bool,
}

/// An action to be recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The key, derived from the exchange, so that recording it twice gives one row.
    pub id: StepId,
    /// The action.
    pub action: Action,
    /// The assistant's last text before the action, at most 1,000 characters.
    pub reasoning: Option<String>,
    /// Search terms: file stems and identifiers.
    pub keywords: Vec<String>,
    /// Whether it carries a decision: a change of files, or text that states one.
    pub is_key_decision: bool,
    /// When the response with the action ended.
    pub timestamp: OffsetDateTime,
    /// The verdict of the rules; `None` if it was not assessed.
    #[serde(default)]
    pub verdict: Option<StepVerdict>,
}

/// The result of an earlier action that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepResult {
    /// The tool call.
    pub tool_use_id: String,
    /// How it ended.
    pub outcome: StepOutcome,
}

/// A request and its response, to be stored. Recording the same exchange twice changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangeRecord {
    /// The key.
    pub id: ExchangeId,
    /// The task it belongs to.
    pub session_id: SessionId,
    /// The client's session.
    pub client_session_id: ClientSessionId,
    /// The subagent, if it was one.
    pub agent_id: Option<AgentId>,
    /// The kind of the request.
    pub kind: ExchangeKind,
    /// The project.
    pub project: Project,
    /// The project's git user, hashed if configured so.
    pub user: Option<String>,
    /// The model that answered or, if unknown, that was requested.
    pub model: Option<String>,
    /// When the request arrived.
    pub started_at: OffsetDateTime,
    /// When the response ended.
    pub ended_at: OffsetDateTime,
    /// The new prompts in this request: none within a tool loop, otherwise usually one.
    pub prompts: Vec<Prompt>,
    /// The actions of the response, and actions of an earlier interrupted response that ran.
    pub steps: Vec<Step>,
    /// The results of earlier actions that did not succeed.
    #[serde(default)]
    pub failures: Vec<StepResult>,
    /// Token counts.
    pub usage: TokenUsage,
    /// The response's `stop_reason`.
    pub stop_reason: Option<String>,
    /// The outcome.
    pub outcome: Outcome,
    /// The drift state after the exchange, if it changed.
    #[serde(default)]
    pub drift: Option<DriftState>,
    /// What Grov changed of the request; `None` if it was sent as the client made it.
    #[serde(default)]
    pub edits: Option<RequestEdits>,
}
