//! The link between a project on this machine and a project of the agent service, and the port to its state.

use crate::macros::named;
use crate::{InboxItem, MemoryItem, MemoryItemId, MemoryScope, ProjectId, StoreError, Task};
use async_trait::async_trait;
use grov_redact::{FreeText, Redacted};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

/// What machines share through the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SharedKind {
    /// A memory item that a person decided about.
    Item,
    /// The record of a finished task.
    Task,
}

named!(SharedKind { Item => "item", Task => "task" });

/// Whether a link is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// It is used.
    On,
    /// The service refuses its key. A new key is needed.
    Stopped,
}

named!(LinkState { On => "on", Stopped => "stopped" });

/// The link of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The project on this machine. Other directories with the same remote belong to it.
    pub scope: MemoryScope,
    /// The base URL of the service, without a slash at its end.
    pub url: String,
    /// The project of the service.
    pub remote_project: ProjectId,
    /// The newest revision of the service that this machine has.
    pub cursor: i64,
    /// Whether it is used.
    pub state: LinkState,
    /// What is wrong with it at present.
    pub fault: Option<String>,
    /// When the service answered last.
    pub last_sync: Option<OffsetDateTime>,
    /// When it was linked.
    pub linked_at: OffsetDateTime,
}

impl FreeText for Link {
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        let Self {
            scope: _,
            url,
            remote_project: _,
            cursor: _,
            state: _,
            fault,
            last_sync: _,
            linked_at: _,
        } = self;
        visit(url);
        fault.each_text(visit);
    }
}

/// A record to send.
#[derive(Clone, Debug, PartialEq)]
pub enum LocalRecord {
    /// An item.
    Item(Box<InboxItem>),
    /// A task.
    Task(Box<Task>),
}

/// A change to send.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing {
    /// The kind of the record.
    pub kind: SharedKind,
    /// Its id.
    pub id: String,
    /// Tells a later change of the same record apart.
    pub version: i64,
    /// The revision of the record that this machine knows.
    pub base: Option<i64>,
    /// The record as it is now; `None` if it was deleted.
    pub record: Option<LocalRecord>,
}

/// A record of the service.
#[derive(Clone, Debug, PartialEq)]
pub enum RemoteRecord {
    /// An item.
    Item(Box<MemoryItem>),
    /// A task.
    Task(Box<Task>),
}

/// A change that arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct Incoming {
    /// Its number.
    pub revision: i64,
    /// The kind of the record.
    pub kind: SharedKind,
    /// Its id.
    pub id: String,
    /// The record; `None` if it was deleted.
    pub record: Option<RemoteRecord>,
}

impl FreeText for Incoming {
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        let Self {
            revision: _,
            kind: _,
            id: _,
            record,
        } = self;
        match record {
            Some(RemoteRecord::Item(item)) => item.each_text(visit),
            Some(RemoteRecord::Task(task)) => task.each_text(visit),
            None => {}
        }
    }
}

/// An item that was changed here and by others.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// The item here, which is in force here.
    pub here: InboxItem,
    /// The item of the service.
    pub there: MemoryItem,
}

/// Numbers of a link, to be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Changes that wait to be sent.
    pub pending_out: u64,
    /// Items that were changed on both sides.
    pub conflicts: u64,
}

/// A fingerprint of what an item says, its state and its end, with which a machine recognises its own change.
pub fn item_fingerprint(item: &MemoryItem) -> String {
    let end = item.expires_at.map(OffsetDateTime::unix_timestamp);
    let said = format!("{}\n{}\n{end:?}\n{}", item.kind, item.status, item.content);
    let hash = Sha256::digest(said);
    hash[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Stores links, what they have to send, and what arrived.
#[async_trait]
pub trait LinkStore: Send + Sync {
    /// Returns all links.
    async fn links(&self) -> Result<Vec<Link>, StoreError>;
    /// Creates or replaces the link of a project, and puts what others do not have yet into its outbox. A link to another
    /// service or project starts again.
    async fn save_link(&self, link: &Redacted<Link>) -> Result<(), StoreError>;
    /// Removes the link of a project with its outbox. Memory stays. `false` if there is none.
    async fn remove_link(&self, project_path: &str) -> Result<bool, StoreError>;
    /// Records how the last contact of a link went. Keeps `last_sync` if it is `None`.
    async fn note_link(
        &self,
        project_path: &str,
        state: LinkState,
        fault: Option<&Redacted<String>>,
        last_sync: Option<OffsetDateTime>,
    ) -> Result<(), StoreError>;
    /// Returns at most `limit` changes to send, oldest first. Their content is noted, so that it is recognised when it comes
    /// back.
    async fn outgoing(&self, project_path: &str, limit: u32) -> Result<Vec<Outgoing>, StoreError>;
    /// Removes a change that was sent, unless a later one replaced it. `revision` is that of the service, if it has one.
    async fn sent(
        &self,
        project_path: &str,
        sent: &Outgoing,
        revision: Option<i64>,
    ) -> Result<(), StoreError>;
    /// Applies changes of the service in one transaction, and moves the cursor. A change of an item that waits to be sent with
    /// other words is a conflict: it is kept aside.
    async fn receive(
        &self,
        link: &Link,
        changes: &[Redacted<Incoming>],
        cursor: i64,
        now: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Starts a link again from the beginning: all is read and sent again. For a service that lost its data.
    async fn restart_link(&self, project_path: &str) -> Result<(), StoreError>;
    /// Counts what waits.
    async fn link_counts(&self, project_path: &str) -> Result<LinkCounts, StoreError>;
    /// Returns the items of a link that were changed on both sides.
    async fn conflicts(&self, project_path: &str) -> Result<Vec<Conflict>, StoreError>;
    /// Settles a conflict with the words of this machine, which are sent, or with those of the service. `false` if there is none.
    async fn settle_conflict(
        &self,
        id: MemoryItemId,
        keep_here: bool,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError>;
    /// Whether a hook wrote something since this time.
    async fn is_active_since(&self, time: OffsetDateTime) -> Result<bool, StoreError>;
}
