//! The injection ledger: records the text that was added to a history, so that it is added again, byte for byte, to each
//! later request with that history. A decision never changes, including the decision to add nothing.

use crate::{AgentId, ClientSessionId, StoreError, TaskId};
use async_trait::async_trait;
use grov_redact::{Redacted, Redactor};
use std::fmt;
use std::time::Instant;
use time::OffsetDateTime;

/// A growing message list: the main conversation of a client session, or one of its subagents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lineage {
    /// The client session.
    pub session: ClientSessionId,
    /// The subagent, if it is one.
    pub agent: Option<AgentId>,
}

/// A hash of a history up to a point, computed by the parser of the wire format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HistoryKey(pub u128);

impl fmt::Debug for HistoryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HistoryKey({:032x})", self.0)
    }
}

/// The decision for a place in a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry<T = String> {
    /// The key of the history up to the part after which text is added.
    pub anchor: HistoryKey,
    /// The content block that was added, as JSON, byte for byte as it was sent; `None` to add nothing.
    pub block: Option<T>,
    /// Memories quoted in the block. Forgetting one of them removes the block.
    pub memories: Vec<TaskId>,
    /// Time of the decision.
    pub decided_at: OffsetDateTime,
}

impl LedgerEntry {
    /// Returns a copy whose block is redacted.
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
    /// The key of the history up to the last assistant message of the newest request; `None` without one. For an adopted
    /// lineage, the latest tip within its history. Blocks added after the tip may never have been cached.
    pub tip: Option<HistoryKey>,
}

/// A lineage that is not in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLineage {
    /// The lineage.
    pub lineage: Lineage,
    /// The project's key, `""` if unknown. A lineage can only continue one of the same project.
    pub project_path: String,
    /// The model, which has the prompt cache.
    pub model: String,
    /// The keys of all parts of its history, in order; empty without a history.
    pub history: Vec<HistoryKey>,
    /// Time of its first request.
    pub at: OffsetDateTime,
}

/// The position of a lineage at one of its requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineageTip {
    /// The lineage.
    pub lineage: Lineage,
    /// The project's key, `""` if unknown.
    pub project_path: String,
    /// The requested model.
    pub model: String,
    /// The key of the history up to the last assistant message; `None` without one, which can also be the case after the
    /// user rewinds.
    pub tip: Option<HistoryKey>,
    /// Places where nothing is added, which are not stored yet.
    pub nothing_at: Vec<HistoryKey>,
    /// Time of the request.
    pub at: OffsetDateTime,
}

/// A use of a memory in the history of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerUse {
    /// The lineage.
    pub lineage: Lineage,
    /// The last requested model.
    pub model: String,
    /// The memory.
    pub task_id: TaskId,
    /// Time when the text was added.
    pub added_at: OffsetDateTime,
    /// Time of the last request of the lineage.
    pub last_seen_at: OffsetDateTime,
    /// Size of the session's newest prompt in tokens of all cache classes; `None` if unknown. At most this many tokens are
    /// billed again if the text is removed.
    pub prompt_tokens: Option<u64>,
}

/// Stores the ledger.
#[async_trait]
pub trait LedgerStore: Send + Sync {
    /// Returns the data of a lineage; `None` if it is unknown.
    async fn lineage(&self, lineage: &Lineage) -> Result<Option<LedgerLineage>, StoreError>;
    /// Adds a lineage and returns its data. A known lineage is not changed.
    ///
    /// If the history of the new lineage contains a tip of another lineage of the same project, the new one continues
    /// that lineage: it copies the decisions for places in this history, and whether edits are disabled. Among several
    /// candidates, the choice is made by these criteria, in this order: the same model, whose cache has the added text;
    /// the latest tip in the history; the latest decision in the history; the last request. An implementation may ignore
    /// tips that are older than one it found.
    async fn adopt(&self, new: &NewLineage) -> Result<LedgerLineage, StoreError>;
    /// Saves a decision unless there is one for that place. Waits at most until `until` and does not commit after it.
    /// Returns `false` if nothing was saved: there is a decision already, the time was up, or the lineage is unknown.
    async fn decide(
        &self,
        lineage: &Lineage,
        entry: &LedgerEntry<Redacted>,
        until: Instant,
    ) -> Result<bool, StoreError>;
    /// Replaces the decisions for these places: nothing is added there from now on.
    async fn withdraw(&self, lineage: &Lineage, anchors: &[HistoryKey]) -> Result<(), StoreError>;
    /// Saves the tips of lineages in one transaction. Unknown lineages are added.
    async fn note_tips(&self, tips: &[LineageTip]) -> Result<(), StoreError>;
    /// Disables edits for a lineage. An unknown lineage is added.
    async fn disable_edits(&self, lineage: &Lineage) -> Result<(), StoreError>;
    /// Returns the uses of these memories in histories, last request first.
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

/// Switches injection off and on. Text that is already in histories is not affected.
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
