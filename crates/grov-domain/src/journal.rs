//! The journal of a client session, newest first, as pages show it.

use crate::{
    AgentId, ClientSessionId, ExchangeId, ExchangeKind, HookStep, Outcome, SessionId, StepRow, StoreError,
    TokenUsage,
};
use async_trait::async_trait;
use time::OffsetDateTime;

/// A prompt in a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalPrompt {
    /// When it was sent.
    pub at: OffsetDateTime,
    /// The text.
    pub text: String,
    /// Whether it was typed while a turn was running.
    pub queued: bool,
}

/// A request with its response in a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalExchange {
    /// The key.
    pub id: ExchangeId,
    /// The task.
    pub session_id: SessionId,
    /// The subagent, if it was one.
    pub agent_id: Option<AgentId>,
    /// The kind.
    pub kind: ExchangeKind,
    /// The model.
    pub model: Option<String>,
    /// Why the response ended.
    pub stop_reason: Option<String>,
    /// How the exchange ended.
    pub outcome: Outcome,
    /// When the request arrived.
    pub started_at: OffsetDateTime,
    /// When the response ended.
    pub ended_at: OffsetDateTime,
    /// Token counts by class.
    pub tokens: TokenUsage,
}

/// Part of a session's journal. Each list is newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Journal {
    /// Prompts on the proxy path.
    pub prompts: Vec<JournalPrompt>,
    /// Actions on the proxy path.
    pub steps: Vec<StepRow>,
    /// Actions on the hook path.
    pub hook_steps: Vec<HookStep>,
    /// Requests.
    pub exchanges: Vec<JournalExchange>,
}

/// Reads journals.
#[async_trait]
pub trait JournalStore: Send + Sync {
    /// Returns what happened in a session before a time, or up to now: of each kind the newest, at most `limit`.
    async fn journal(
        &self,
        session: &ClientSessionId,
        before: Option<OffsetDateTime>,
        limit: u32,
    ) -> Result<Journal, StoreError>;
}
