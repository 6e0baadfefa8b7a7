//! What is left out of histories: beginnings that a summary replaces, and results of tools that a line replaces. Like the
//! decisions of the ledger, they are repeated byte for byte in every later request of the history.

use crate::{ClientSessionId, HistoryKey, Lineage, StoreError};
use async_trait::async_trait;
use grov_redact::Redacted;
use serde::Serialize;
use std::time::Instant;
use time::OffsetDateTime;

/// A beginning that is left out of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryCut<T = String> {
    /// The key of the history up to and including the first part that is kept.
    pub anchor: HistoryKey,
    /// The content block that stands for the beginning, as JSON, byte for byte as it is sent.
    pub block: T,
    /// Time of the decision.
    pub decided_at: OffsetDateTime,
    /// Time of the first request without the beginning; `None` before.
    pub applied_at: Option<OffsetDateTime>,
    /// Whether the size of the context after it is from a response.
    pub is_measured: bool,
    /// What it saves.
    pub effect: CutEffect,
}

/// What leaving out a beginning costs and saves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutEffect {
    /// Size of the context before, in tokens.
    pub tokens_before: u64,
    /// Size of the context after, in tokens: an estimate until the first response.
    pub tokens_after: u64,
    /// The cost of writing the new prefix to the prompt cache instead of reading it, in millionths of a USD; `None` without a
    /// price.
    pub cost: Option<u64>,
    /// What the next ten requests cost less, in millionths of a USD; `None` without a price.
    pub saving: Option<u64>,
}

/// A tool result whose content is replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrimmedResult<T = String> {
    /// The id of the tool call.
    pub tool_use_id: String,
    /// The content, as JSON, byte for byte as it is sent.
    pub content: T,
    /// Time of the decision.
    pub decided_at: OffsetDateTime,
}

/// Everything that is left out of a lineage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineageCuts {
    /// The beginnings, in any order. The one whose anchor is latest in a history counts.
    pub cuts: Vec<HistoryCut>,
    /// The results, in any order.
    pub trims: Vec<TrimmedResult>,
}

/// A change of a stored cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutNote {
    /// A request was sent without the beginning.
    Applied(OffsetDateTime),
    /// The size of the context in the first response, in tokens.
    Measured(u64),
    /// Another cut took its place before it was applied.
    Dropped,
}

/// The clears of a client session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClearSummary {
    /// The client session.
    #[serde(skip)]
    pub client_session_id: ClientSessionId,
    /// How often its context was cleared.
    pub count: u64,
    /// Time of the last clear.
    #[serde(with = "time::serde::rfc3339")]
    pub last_clear_at: OffsetDateTime,
    /// Size of the context before the last clear, in tokens.
    pub tokens_before: u64,
    /// Size of the context after it, in tokens.
    pub tokens_after: u64,
    /// Whether `tokens_after` is from a response. Otherwise it is an estimate.
    pub is_measured: bool,
    /// The cost of the last clear in millionths of a USD.
    pub cost_micro_usd: Option<u64>,
    /// What it saves in ten requests, in millionths of a USD.
    pub saving_micro_usd: Option<u64>,
}

/// Stores what is left out of histories.
#[async_trait]
pub trait CutStore: Send + Sync {
    /// Returns what is left out of a lineage. Empty for an unknown lineage.
    async fn cuts(&self, lineage: &Lineage) -> Result<LineageCuts, StoreError>;
    /// Saves a cut that is not applied yet. Returns `false` if nothing was saved: there is a cut at that place, or the lineage
    /// is unknown.
    async fn save_cut(&self, lineage: &Lineage, cut: &HistoryCut<Redacted>) -> Result<bool, StoreError>;
    /// Changes a cut. Applying it also sets `last_clear_at` of the session's newest task.
    async fn note_cut(&self, lineage: &Lineage, anchor: HistoryKey, note: CutNote) -> Result<(), StoreError>;
    /// Saves trimmed results, all or none. Waits at most until `until` and does not commit after it. Returns `false` if
    /// nothing was saved.
    async fn save_trims(
        &self,
        lineage: &Lineage,
        trims: &[TrimmedResult<Redacted>],
        until: Instant,
    ) -> Result<bool, StoreError>;
    /// Removes trimmed results.
    async fn remove_trims(&self, lineage: &Lineage, tool_use_ids: &[String]) -> Result<(), StoreError>;
    /// Returns the clears of these client sessions, of all sessions if the list is empty. Sessions without a clear are not
    /// included. The session that was cleared last is first.
    async fn clears(&self, sessions: &[ClientSessionId]) -> Result<Vec<ClearSummary>, StoreError>;
    /// Returns the time of the newest request of any lineage.
    async fn last_request(&self) -> Result<Option<OffsetDateTime>, StoreError>;
}
