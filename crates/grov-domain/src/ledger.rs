//! The injection ledger: text that was added to a history, so that it is added again, byte for byte, while the client
//! sends that history. The decision for a place never changes, including the decision to add nothing.

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

/// A hash of a history up to some point, computed by the reader of the wire format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HistoryKey(pub u128);

impl fmt::Debug for HistoryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HistoryKey({:032x})", self.0)
    }
}

/// The decision for one place of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry<T = String> {
    /// The history up to the part after which text is added.
    pub anchor: HistoryKey,
    /// The content block that was added, as JSON, byte for byte as it was sent; `None` to add nothing.
    pub block: Option<T>,
    /// Memories quoted in the block. Forgetting one of them removes the block.
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

/// The ledger's data of a lineage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerLineage {
    /// The decisions, in any order.
    pub entries: Vec<LedgerEntry>,
    /// Whether edits are disabled, because an edited request was refused and the original was accepted.
    pub edits_disabled: bool,
    /// The history up to the last assistant message of the newest request; `None` without one. For an adopted lineage,
    /// the latest tip in this history. Blocks added after it may never have been cached.
    pub tip: Option<HistoryKey>,
}

/// A lineage that the ledger does not know yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLineage {
    /// Which.
    pub lineage: Lineage,
    /// The project's key, `""` if unknown. A lineage is only continued in the same project.
    pub project_path: String,
    /// The model, whose cache is at stake.
    pub model: String,
    /// The keys of the history that it arrives with, from the first part to the last; empty without one.
    pub history: Vec<HistoryKey>,
    /// When it was first seen.
    pub at: OffsetDateTime,
}

/// The position of a lineage at one of its requests.
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

/// A use of a memory: text in the history of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerUse {
    /// The lineage.
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

/// Stores the ledger.
#[async_trait]
pub trait LedgerStore: Send + Sync {
    /// Returns the data of a lineage; `None` if it is unknown.
    async fn lineage(&self, lineage: &Lineage) -> Result<Option<LedgerLineage>, StoreError>;
    /// Makes a lineage known. Where its history contains a tip of another lineage of the same project, it takes over that
    /// one's decisions for the places that are in this history, and is barred if that one is: of several, of one that
    /// stood there with the same model, since that model's cache holds what was said; of these of the one whose tip stands
    /// latest in the history, of equals the one whose latest decision does, and of equals then the one last seen. With
    /// another model nothing is cached yet, but the two meet when one of them changes its model. An implementation may
    /// leave out older tips than one that it found. Returns what is kept of the lineage now; one that is known already is
    /// left as it is.
    async fn adopt(&self, new: &NewLineage) -> Result<LedgerLineage, StoreError>;
    /// Saves a decision unless there is one for that place. Waits until `until` and starts no commit after it. Returns
    /// `false` if nothing was saved: there is a decision already, the time was over, or the lineage is unknown.
    async fn decide(
        &self,
        lineage: &Lineage,
        entry: &LedgerEntry<Redacted>,
        until: Instant,
    ) -> Result<bool, StoreError>;
    /// Reverts the decisions for these places: nothing is added there from now on.
    async fn withdraw(&self, lineage: &Lineage, anchors: &[HistoryKey]) -> Result<(), StoreError>;
    /// Saves the tips of lineages in one transaction; unknown lineages become known.
    async fn note_tips(&self, tips: &[LineageTip]) -> Result<(), StoreError>;
    /// Disables edits for a lineage; an unknown one becomes known.
    async fn disable_edits(&self, lineage: &Lineage) -> Result<(), StoreError>;
    /// Returns where these memories are used in histories, last seen first.
    async fn uses(&self, tasks: &[TaskId]) -> Result<Vec<LedgerUse>, StoreError>;
}

/// The scope of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SwitchScope {
    /// A project, by its key.
    Project(String),
    /// A client session.
    Session(ClientSessionId),
}

/// Switches injection off and on. Text in histories stays in either case.
#[async_trait]
pub trait SwitchStore: Send + Sync {
    /// Switches a scope on or off. Repeating it changes nothing.
    async fn switch(&self, scope: &SwitchScope, on: bool) -> Result<(), StoreError>;
    /// Returns the scopes that are switched off.
    async fn switched_off(&self) -> Result<Vec<SwitchScope>, StoreError>;
    /// Returns a number that changes when another process may have changed data that a long-running one caches: a
    /// forgotten memory, text removed from the ledger, a switch.
    async fn revision(&self) -> Result<i64, StoreError>;
}
