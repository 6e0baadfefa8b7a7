//! Records of context windows: how full they are, what must survive in them, and what compactions lost.

use crate::macros::named;
use crate::{ClientSessionId, JudgedBy, StoreError};
use async_trait::async_trait;
use grov_redact::Redacted;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// How full the context window of a session's main conversation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextReading {
    /// The session.
    pub client_session_id: ClientSessionId,
    /// The model of the newest response.
    pub model: Option<String>,
    /// Tokens in the window after the newest response.
    pub tokens: u64,
    /// Size of the window in tokens.
    pub window_tokens: u64,
    /// How the size is known.
    pub window_source: String,
    /// What fills the window, as JSON. The store masks secrets in it and does not interpret it.
    pub content: Option<String>,
    /// Time of the newest response.
    pub measured_at: OffsetDateTime,
}

/// The prepared summary of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedSummary {
    /// The session.
    pub client_session_id: ClientSessionId,
    /// What it says, as JSON. The store masks secrets in it and does not interpret it.
    pub points: Option<String>,
    /// Who wrote it.
    pub written_by: JudgedBy,
    /// The number of prompts of the session at that time.
    pub prompts: u64,
    /// When it was written.
    pub made_at: OffsetDateTime,
}

/// The kind of something that a session must not lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PointKind {
    /// The goal, or the user's newest instruction.
    Goal,
    /// A limit that the user set.
    Constraint,
    /// A decision with its reason.
    Decision,
    /// What is left to do, or an open question.
    OpenEnd,
    /// A changed file.
    File,
    /// The state of the work.
    State,
    /// The next action.
    Next,
}

named!(PointKind {
    Goal => "goal", Constraint => "constraint", Decision => "decision", OpenEnd => "open_end",
    File => "file", State => "state", Next => "next",
});

/// Something that a session must not lose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionPoint {
    /// Its kind.
    pub kind: PointKind,
    /// What it says.
    pub text: String,
}

/// A compaction of a session by its client: what the client's summary kept and lost, and what Grov gave back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// The session.
    pub client_session_id: ClientSessionId,
    /// The key, unique in the session.
    pub id: String,
    /// Whether the client's summary was compared. If not, all points are in `lost`.
    pub is_compared: bool,
    /// Tokens in the window before it, if known.
    pub tokens_before: Option<u64>,
    /// Points that the summary contains.
    pub kept: Vec<SessionPoint>,
    /// Points that it does not contain.
    pub lost: Vec<SessionPoint>,
    /// Lost points that the agent was given again.
    pub restored: Vec<SessionPoint>,
    /// When they were given; `None` while they wait.
    pub restored_at: Option<OffsetDateTime>,
    /// The time of the compaction.
    pub at: OffsetDateTime,
}

/// Stores records of context windows. A saved record replaces the one with the same key.
#[async_trait]
pub trait ContextStore: Send + Sync {
    /// Saves how full a window is.
    async fn save_context_reading(&self, reading: &Redacted<ContextReading>) -> Result<(), StoreError>;
    /// Returns how full the window of a session is.
    async fn context_reading(&self, session: &ClientSessionId) -> Result<Option<ContextReading>, StoreError>;
    /// Saves a prepared summary.
    async fn save_prepared_summary(&self, summary: &Redacted<PreparedSummary>) -> Result<(), StoreError>;
    /// Returns the prepared summary of a session.
    async fn prepared_summary(
        &self,
        session: &ClientSessionId,
    ) -> Result<Option<PreparedSummary>, StoreError>;
    /// Saves a compaction.
    async fn save_compaction(&self, compaction: &Redacted<Compaction>) -> Result<(), StoreError>;
    /// Returns at most `limit` compactions of a session, newest first.
    async fn compactions(&self, session: &ClientSessionId, limit: u32)
    -> Result<Vec<Compaction>, StoreError>;
}
