//! What is going on: the state of client sessions, their usage, and what was recorded since a point in time.

use crate::{
    AgentId, ClientSessionId, CorrectionLevel, ExchangeKind, Finding, HookSession, StepRow, StoreError,
    TokenUsage,
};
use async_trait::async_trait;
use time::OffsetDateTime;

/// The latest activity of a client session on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionActivity {
    /// The `stop_reason` of the newest response in the main conversation.
    pub stop_reason: Option<String>,
    /// When that response ended.
    pub responded_at: Option<OffsetDateTime>,
    /// When the client reported the end of the session.
    pub ended_at: Option<OffsetDateTime>,
}

/// The ids and projects of a client session, as far as a list needs them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KnownSession {
    /// The session.
    pub client_session_id: ClientSessionId,
    /// The project's key; empty if unknown.
    pub project_path: String,
}

/// Tokens that exchanges used, summed up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeUsage {
    /// The session.
    pub client_session_id: ClientSessionId,
    /// The project's key; empty if unknown.
    pub project_path: String,
    /// The subagent, if it was one.
    pub agent_id: Option<AgentId>,
    /// The kind of the requests.
    pub kind: ExchangeKind,
    /// The model that answered or, if unknown, that was requested.
    pub model: Option<String>,
    /// The start of the UTC day.
    pub day: OffsetDateTime,
    /// Token counts by class.
    pub tokens: TokenUsage,
}

/// Selects exchanges whose usage is summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageFilter {
    /// Only this session.
    pub client_session_id: Option<ClientSessionId>,
    /// Only exchanges that ended at or after this time.
    pub since: Option<OffsetDateTime>,
}

/// Something that was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Identifies it among all changes, for a reader that reads some of them twice.
    pub key: String,
    /// The session.
    pub client_session_id: ClientSessionId,
    /// When it happened.
    pub at: OffsetDateTime,
    /// What happened.
    pub kind: ChangeKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeKind {
    /// The user typed a prompt.
    Prompt {
        /// The text.
        text: String,
    },
    /// The agent acted.
    Action(Box<StepRow>),
    /// An action was judged off the goal.
    Finding {
        /// The command, the files or the folders.
        subject: String,
        /// 1 (far off) to 10 (on goal).
        score: Option<u8>,
        /// The findings, most severe first.
        findings: Vec<Finding>,
    },
    /// The agent was given a correction, or text on the wire.
    Injection {
        /// The level of a correction; `None` for other text.
        level: Option<CorrectionLevel>,
        /// The text, or the content block with it as JSON.
        text: String,
    },
    /// A hook gave memories to the agent, whose text is in the client's history only.
    Memories {
        /// The number of memories given to the session so far.
        total: u64,
    },
    /// A response arrived.
    Usage {
        /// The kind of the request.
        kind: ExchangeKind,
        /// The subagent, if it was one.
        agent_id: Option<AgentId>,
        /// The model.
        model: Option<String>,
        /// Token counts by class.
        tokens: TokenUsage,
    },
}

/// How far a reader has read. Row numbers grow, but the newest one may be used again after its row was removed, so a reader
/// has to tolerate changes that it has seen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeCursor {
    /// The newest prompt.
    pub prompts: i64,
    /// The newest step of the proxy path.
    pub steps: i64,
    /// The newest entry of the drift log.
    pub findings: i64,
    /// The newest step of the hook path.
    pub hook_steps: i64,
    /// The time up to which the rest was read.
    pub at: OffsetDateTime,
}

/// Reads what is going on, on both paths.
#[async_trait]
pub trait ActivityStore: Send + Sync {
    /// Returns the ids of all client sessions, in order.
    async fn known_sessions(&self) -> Result<Vec<KnownSession>, StoreError>;
    /// Returns at most `limit` sessions of the hook path without the engine's state, of one project or of all, last updated
    /// first.
    async fn recent_hook_sessions(
        &self,
        project_path: Option<&str>,
        limit: Option<u32>,
    ) -> Result<Vec<HookSession>, StoreError>;
    /// Returns the latest activity of a session on the wire.
    async fn session_activity(&self, session: &ClientSessionId) -> Result<SessionActivity, StoreError>;
    /// Records that the client reported the end of a session.
    async fn record_session_end(
        &self,
        session: &ClientSessionId,
        at: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Returns the usage of exchanges by session, subagent, kind, model and day.
    async fn exchange_usage(&self, filter: &UsageFilter) -> Result<Vec<ExchangeUsage>, StoreError>;
    /// Returns the cursor from which everything that happened at or after a time is read.
    async fn change_cursor(&self, from: OffsetDateTime) -> Result<ChangeCursor, StoreError>;
    /// Returns what was recorded since a cursor, oldest first, and the new cursor. What was recorded shortly before the
    /// cursor may be returned again, with the same [`Change::key`].
    async fn changes(&self, since: &ChangeCursor) -> Result<(Vec<Change>, ChangeCursor), StoreError>;
}
