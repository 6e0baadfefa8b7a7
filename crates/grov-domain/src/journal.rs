//! The journal of a client session, newest first, as pages show it.

use crate::{
    AgentId, ClientSessionId, ExchangeId, ExchangeKind, HookStep, Outcome, RequestEdits, SessionId, StepRow,
    StoreError, TokenUsage,
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
    /// What Grov changed of the request; `None` if it was sent as the client made it.
    pub edits: Option<RequestEdits>,
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

/// A request that read less from the prompt cache than the request before it had there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheDrop {
    /// The client session.
    pub client_session_id: ClientSessionId,
    /// The request.
    pub exchange: JournalExchange,
    /// The model of the request before it.
    pub before_model: Option<String>,
    /// When that arrived, which is when its prefix was last used.
    pub before_started_at: OffsetDateTime,
    /// Tokens of its prompt in all classes.
    pub before_prompt: u64,
    /// Tokens of its prompt that were read from the cache or written to it.
    pub before_cached: u64,
    /// Tokens that it wrote to live for an hour.
    pub before_hourly: u64,
    /// What Grov changed of it.
    pub before_edits: Option<RequestEdits>,
}

/// Reads journals.
#[async_trait]
pub trait JournalStore: Send + Sync {
    /// Returns the sessions of the proxy path with the times of their newest activity, newest first, at most `limit`.
    async fn newest_sessions(&self, limit: u32)
    -> Result<Vec<(ClientSessionId, OffsetDateTime)>, StoreError>;
    /// Returns what happened in a session before a time, or up to now: of each kind the newest, at most `limit`.
    async fn journal(
        &self,
        session: &ClientSessionId,
        before: Option<OffsetDateTime>,
        limit: u32,
    ) -> Result<Journal, StoreError>;
    /// Returns a request of a session.
    async fn exchange(
        &self,
        session: &ClientSessionId,
        id: &ExchangeId,
    ) -> Result<Option<JournalExchange>, StoreError>;
    /// Returns the requests of conversations since a time that read at least `tokens` less from the prompt cache than the
    /// request before them had there, newest first, at most `limit`. Requests that did not complete do not count.
    async fn cache_drops(
        &self,
        since: Option<OffsetDateTime>,
        tokens: u64,
        limit: u32,
    ) -> Result<Vec<CacheDrop>, StoreError>;
}
