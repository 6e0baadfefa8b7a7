//! What a person says of findings.

use crate::{DriftEventId, StoreError};
use async_trait::async_trait;
use time::OffsetDateTime;

/// A person's verdict on a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingMark {
    /// The event in the drift log, or the action of the hook path.
    pub event_id: DriftEventId,
    /// The rule of its gravest finding; `judge` if only a model objected.
    pub rule: String,
    /// Whether the action was off the goal.
    pub is_right: bool,
    /// When it was marked.
    pub at: OffsetDateTime,
}

/// Stores marks. They are kept when their events are deleted.
#[async_trait]
pub trait FindingMarkStore: Send + Sync {
    /// Saves a mark; replaces that of the same event.
    async fn mark_finding(&self, mark: &FindingMark) -> Result<(), StoreError>;
    /// Removes the mark of an event.
    async fn unmark_finding(&self, event: &DriftEventId) -> Result<(), StoreError>;
    /// Returns all marks.
    async fn finding_marks(&self) -> Result<Vec<FindingMark>, StoreError>;
}
