//! What developers' machines share through the service: memory items and finished tasks, in the order of their changes.

use crate::{AgentStoreError, MemoryItem, ProjectId};
use async_trait::async_trait;
use grov_domain::{SharedKind, Task};
use grov_redact::Redacted;
use time::OffsetDateTime;

/// A record that machines share.
#[derive(Clone, Debug, PartialEq)]
pub enum SharedRecord {
    /// A memory item.
    Item(Box<MemoryItem>),
    /// A finished task.
    Task(Box<Task>),
}

/// The last change of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedChange {
    /// Its number. Numbers of a project grow with each change.
    pub revision: i64,
    /// The kind of the record.
    pub kind: SharedKind,
    /// Its id.
    pub id: String,
    /// The record; `None` if it was deleted.
    pub record: Option<SharedRecord>,
}

/// Changes of a project, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Feed {
    /// The changes.
    pub changes: Vec<FeedChange>,
    /// The newest revision of the project; 0 if nothing ever changed.
    pub latest: i64,
}

/// What became of a record that a machine sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Put {
    /// It is stored, or was stored already. The revision is that of its last change.
    Stored {
        /// The revision.
        revision: i64,
        /// The item as it is now.
        item: Box<MemoryItem>,
    },
    /// The item was changed by others since the revision that the sender knows. Nothing was stored.
    Conflict,
}

/// Stores what machines share.
#[async_trait]
pub trait SharingStore: Send + Sync {
    /// Returns at most `limit` changes after a revision.
    async fn feed(&self, project: ProjectId, after: i64, limit: u32) -> Result<Feed, AgentStoreError>;
    /// Returns the newest revision of a project; 0 if nothing ever changed.
    async fn latest_revision(&self, project: ProjectId) -> Result<i64, AgentStoreError>;
    /// Stores an item that was decided on a machine, under its id. `base` is the revision of the item that the sender knows.
    /// The same words, state and end again change nothing. An event is never changed.
    async fn put_item(
        &self,
        item: &Redacted<MemoryItem>,
        base: Option<i64>,
        now: OffsetDateTime,
    ) -> Result<Put, AgentStoreError>;
    /// Stores a finished task, or replaces it. Returns the revision of its last change.
    async fn put_task(&self, project: ProjectId, task: &Redacted<Task>) -> Result<i64, AgentStoreError>;
    /// Deletes a record. `false` if there is none.
    async fn delete_shared(
        &self,
        project: ProjectId,
        kind: SharedKind,
        id: &str,
    ) -> Result<bool, AgentStoreError>;
}
