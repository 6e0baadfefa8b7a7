//! The injection ledger: what was added to which history, so that it is added again, byte for byte, as long as the
//! client sends that history. Whoever is asked twice gives the same answer, "nothing" included.

use crate::{AgentId, ClientSessionId, StoreError, TaskId};
use async_trait::async_trait;
use grov_redact::{Redacted, Redactor};
use std::fmt;
use std::time::Instant;
use time::OffsetDateTime;

/// A message list that grows: the main conversation of a client session, or one of its subagents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lineage {
    /// The client's session.
    pub session: ClientSessionId,
    /// The subagent, if it is one.
    pub agent: Option<AgentId>,
}

/// A hash of a history up to some point. How it is made is the business of whoever reads the wire.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HistoryKey(pub u128);

impl fmt::Debug for HistoryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HistoryKey({:032x})", self.0)
    }
}

/// What was decided for one place of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry<T = String> {
    /// The history up to the part that something is added behind.
    pub anchor: HistoryKey,
    /// The content block that was added, as JSON, byte for byte as it was sent. `None`: nothing is added here.
    pub block: Option<T>,
    /// Memories that the block quotes: forgetting one of them takes the block away.
    pub memories: Vec<TaskId>,
    /// When.
    pub decided_at: OffsetDateTime,
}

impl LedgerEntry {
    /// A copy with the texts of its block redacted.
    pub fn redacted(&self) -> LedgerEntry<Redacted> {
        LedgerEntry {
            anchor: self.anchor,
            block: self.block.as_deref().map(|block| Redactor::shared().json(block)),
            memories: self.memories.clone(),
            decided_at: self.decided_at,
        }
    }
}

/// What a ledger holds of one lineage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerLineage {
    /// The decisions, in no order.
    pub entries: Vec<LedgerEntry>,
    /// An edited request was refused while the original was taken: this lineage is edited no more.
    pub edits_disabled: bool,
    /// The history up to the last thing that the assistant had said at the newest request, `None` if it had not; of a lineage that was taken
    /// over, the latest tip that stands in the history. What was added behind it may never have been cached.
    pub tip: Option<HistoryKey>,
}

/// A lineage that the ledger does not know yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLineage {
    /// Which.
    pub lineage: Lineage,
    /// The project's key, `""` while unknown: a lineage is only continued in the same project.
    pub project_path: String,
    /// The model: its own cache is the one that can be lost first.
    pub model: String,
    /// The keys of the history that it arrives with, from the first part to the last; empty without one.
    pub history: Vec<HistoryKey>,
    /// When it was first seen.
    pub at: OffsetDateTime,
}

/// Where a lineage stood at one of its requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineageTip {
    /// Which.
    pub lineage: Lineage,
    /// The project's key as known by now, `""` while unknown.
    pub project_path: String,
    /// The model asked.
    pub model: String,
    /// The history up to the last thing that the assistant said; `None` before it said anything, also where the user went
    /// back there.
    pub tip: Option<HistoryKey>,
    /// Decisions that nothing is added, not yet kept.
    pub nothing_at: Vec<HistoryKey>,
    /// When.
    pub at: OffsetDateTime,
}

/// A live use of a memory: text in the history of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerUse {
    /// Whose history.
    pub lineage: Lineage,
    /// The model last asked.
    pub model: String,
    /// The memory.
    pub task_id: TaskId,
    /// When the text was added.
    pub added_at: OffsetDateTime,
    /// When the lineage was last seen.
    pub last_seen_at: OffsetDateTime,
    /// Size of the session's newest prompt in tokens, all cache classes; `None` if not known. Up to so much is billed
    /// again when the text goes.
    pub prompt_tokens: Option<u64>,
}

/// Keeps the ledger.
#[async_trait]
pub trait LedgerStore: Send + Sync {
    /// What is kept of a lineage; `None`: it was never seen.
    async fn lineage(&self, lineage: &Lineage) -> Result<Option<LedgerLineage>, StoreError>;
    /// Makes a lineage known. Where its history contains a tip of another lineage of the same project, it takes over that
    /// one's decisions for the places that are in this history, and is barred if that one is: of several, of one that
    /// stood there with the same model, since that model's cache holds what was said; of these of the one whose tip stands
    /// latest in the history, of equals the one whose latest decision does, and of equals then the one last seen. With
    /// another model nothing is cached yet, but the two meet when one of them changes its model. An implementation may
    /// leave out older tips than one that it found. Returns what is kept of the lineage now; one that is known already is
    /// left as it is.
    async fn adopt(&self, new: &NewLineage) -> Result<LedgerLineage, StoreError>;
    /// Keeps a decision, unless one is kept for that place already. Waits until `until` and begins no commit
    /// after it. `false`: nothing was kept, because something is kept there already, because the time was over or
    /// because the lineage is not known.
    async fn decide(
        &self,
        lineage: &Lineage,
        entry: &LedgerEntry<Redacted>,
        until: Instant,
    ) -> Result<bool, StoreError>;
    /// Takes back what was decided for these places: from now on nothing is added there.
    async fn withdraw(&self, lineage: &Lineage, anchors: &[HistoryKey]) -> Result<(), StoreError>;
    /// Records where lineages stand, in one transaction; unknown ones become known.
    async fn note_tips(&self, tips: &[LineageTip]) -> Result<(), StoreError>;
    /// This lineage is edited no more; an unknown one becomes known.
    async fn disable_edits(&self, lineage: &Lineage) -> Result<(), StoreError>;
    /// Lineages that are edited no more, newest first.
    async fn lineages_with_edits_disabled(&self) -> Result<Vec<Lineage>, StoreError>;
    /// Where these memories stand in the history of sessions, last seen first.
    async fn uses(&self, tasks: &[TaskId]) -> Result<Vec<LedgerUse>, StoreError>;
}

/// What a switch is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SwitchScope {
    /// A project, by its key.
    Project(String),
    /// A client session.
    Session(ClientSessionId),
}

/// Turning Grov's words off and on. What is in a history stays there either way.
#[async_trait]
pub trait SwitchStore: Send + Sync {
    /// Turns off or on. Turning on what is on changes nothing.
    async fn switch(&self, scope: &SwitchScope, on: bool) -> Result<(), StoreError>;
    /// Everything that is turned off.
    async fn switched_off(&self) -> Result<Vec<SwitchScope>, StoreError>;
    /// A number that changes whenever another process may have changed what a long-running one holds in memory: a memory
    /// that was forgotten, text taken out of the ledger, a switch.
    async fn revision(&self) -> Result<i64, StoreError>;
}
