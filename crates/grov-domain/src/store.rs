//! The store ports. Nothing here is particular to one database.
//!
//! What is kept was redacted before: every method that keeps free text takes it as [`Redacted`], and what comes back is
//! what was stored. Texts that are looked for are redacted by the implementation, so that they match.

use crate::{
    ClientSessionId, DriftStore, EmbeddingStore, ExchangeRecord, FileReasoning, GoalStore, HookStore,
    LedgerStore, MemorySearch, MemoryStore, OrchestrationStore, SessionId, SessionState, SessionStatus,
    SessionSummary, SpendingStore, StepRow, SwitchStore, Task, TaskId,
};
use async_trait::async_trait;
use grov_redact::Redacted;
use serde::Serialize;
use std::time::Duration;
use time::OffsetDateTime;

/// What can go wrong in a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process holds the store; the same call may succeed later.
    #[error("the store is busy: {0}")]
    Busy(String),
    /// The store cannot be written: read-only file, disk full, permission.
    #[error("the store cannot be written: {0}")]
    NotWritable(String),
    /// The store was written by a newer version of Grov.
    #[error("the store has schema {found}, this version of Grov knows up to {known}; update Grov")]
    NewerSchema {
        /// Schema found.
        found: i64,
        /// Newest schema this program knows.
        known: i64,
    },
    /// The store's file is damaged.
    #[error("the store is damaged: {0}")]
    Corrupt(String),
    /// Anything else.
    #[error("the store failed: {0}")]
    Other(String),
}

impl StoreError {
    /// Whether a retry may succeed without intervention.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Busy(_))
    }
}

/// Recording exchanges.
#[async_trait]
pub trait ExchangeStore: Send + Sync {
    /// Records a batch in one transaction: exchanges, their steps, and the counters of their sessions (rows are
    /// created as needed). Exchanges already recorded are skipped. Returns how many were new.
    async fn append(&self, batch: &[Redacted<ExchangeRecord>]) -> Result<usize, StoreError>;
}

/// Which sessions to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Only this project.
    pub project_path: Option<String>,
    /// Only this status.
    pub status: Option<SessionStatus>,
    /// Only sessions updated at or after this time.
    pub updated_since: Option<OffsetDateTime>,
    /// Only sessions not updated at or after this time.
    pub updated_before: Option<OffsetDateTime>,
    /// At most so many, newest first; `None` for all.
    pub limit: Option<u32>,
}

/// Sessions (one row per task) and their steps.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Creates or replaces one task's row. Counters kept by [`ExchangeStore::append`] are not touched.
    async fn save_session(&self, state: &Redacted<SessionState>) -> Result<(), StoreError>;
    /// One task with its counters.
    async fn session(&self, id: &SessionId) -> Result<Option<SessionSummary>, StoreError>;
    /// Tasks with their counters, newest update first.
    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionSummary>, StoreError>;
    /// All tasks of a client session, oldest first.
    async fn client_session(&self, id: &ClientSessionId) -> Result<Vec<SessionSummary>, StoreError>;
    /// The steps of one task, in order of time.
    async fn steps(&self, id: &SessionId) -> Result<Vec<StepRow>, StoreError>;
    /// The steps of all tasks of a client session, in order of time.
    async fn client_steps(&self, id: &ClientSessionId) -> Result<Vec<StepRow>, StoreError>;
    /// Steps of a project that touched `file_path` and carry reasoning, newest first.
    async fn steps_reasoning_by_path(
        &self,
        project_path: &str,
        file_path: &str,
        limit: u32,
    ) -> Result<Vec<StepRow>, StoreError>;
}

/// Counts for a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectStatus {
    /// Finished tasks.
    pub tasks: u64,
    /// Memory items distilled from tasks. Zero until a later part fills them.
    pub memory_items: u64,
    /// Sessions known.
    pub sessions: u64,
    /// Steps kept.
    pub steps: u64,
    /// Newest finished task.
    pub last_task: Option<Task>,
}

/// Finished tasks: team memory.
#[async_trait]
pub trait TaskStore: Send + Sync {
    /// Saves a task. The same (client session, session) or the same id is replaced, not doubled, and keeps the id it
    /// had. Tasks that served this one (by `parent_session_id`, in the same client session) are linked to it, and it is
    /// linked to the task that it served if that is saved already.
    async fn save_task(&self, task: &Redacted<Task>) -> Result<(), StoreError>;
    /// One task.
    async fn task(&self, id: &TaskId) -> Result<Option<Task>, StoreError>;
    /// Tasks of a project, newest first.
    async fn tasks_for_project(&self, project_path: &str, limit: u32) -> Result<Vec<Task>, StoreError>;
    /// Tasks of a project that touched one of these files, newest first.
    async fn tasks_by_files(
        &self,
        project_path: &str,
        files: &[String],
        limit: u32,
    ) -> Result<Vec<Task>, StoreError>;
    /// Counts and the newest task.
    async fn project_status(&self, project_path: &str) -> Result<ProjectStatus, StoreError>;
}

/// Reasoning about files, written on the hook path.
#[async_trait]
pub trait FileReasoningStore: Send + Sync {
    /// Saves one entry, replacing the one of the same id.
    async fn save_file_reasoning(&self, entry: &Redacted<FileReasoning>) -> Result<(), StoreError>;
    /// Returns the entries whose file path contains `part` literally, newest first.
    async fn file_reasoning(
        &self,
        project_path: &str,
        part: &str,
        limit: u32,
    ) -> Result<Vec<FileReasoning>, StoreError>;
}

/// How long records are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Steps and exchanges of sessions that are completed or abandoned, after their last update. Default 24 h.
    pub completed_sessions: Duration,
    /// Drift log. Default 30 days.
    pub drift_log: Duration,
    /// Sessions still active but not updated for so long count as over. Default 30 days.
    pub idle_sessions: Duration,
    /// Grov's own model calls. Default 90 days.
    pub spending: Duration,
    /// What was added to histories that were not seen again for so long. Default 30 days: the client forgets its
    /// sessions then.
    pub ledger: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        const HOUR: u64 = 3600;
        Self {
            completed_sessions: Duration::from_secs(24 * HOUR),
            drift_log: Duration::from_secs(30 * 24 * HOUR),
            idle_sessions: Duration::from_secs(30 * 24 * HOUR),
            spending: Duration::from_secs(90 * 24 * HOUR),
            ledger: Duration::from_secs(30 * 24 * HOUR),
        }
    }
}

/// What pruning removed (or would remove).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PruneReport {
    /// Session rows.
    pub sessions: u64,
    /// Exchange rows.
    pub exchanges: u64,
    /// Step rows.
    pub steps: u64,
    /// Drift log rows.
    pub drift_events: u64,
    /// Drift states.
    pub drift_states: u64,
    /// Corrections.
    pub corrections: u64,
    /// Contract edits.
    pub goal_edits: u64,
    /// Sessions of hooks.
    pub hook_sessions: u64,
    /// Actions in sessions of hooks.
    pub hook_steps: u64,
    /// Checks in sessions of hooks.
    pub hook_checks: u64,
    /// Decisions of the guard.
    pub guarded: u64,
    /// Rows of the spending ledger.
    pub llm_calls: u64,
    /// Lineages of the injection ledger, with their blocks.
    pub lineages: u64,
}

/// One table's size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableStats {
    /// Name.
    pub table: String,
    /// Rows.
    pub rows: u64,
}

/// A store's size and state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StoreStats {
    /// What it is: `sqlite`, …
    pub backend: String,
    /// Where it is, without credentials.
    pub location: String,
    /// Schema version.
    pub schema_version: i64,
    /// Bytes on disk, side files included.
    pub bytes: u64,
    /// Records waiting in the spool.
    pub spooled: u64,
    /// Rows per table.
    pub tables: Vec<TableStats>,
}

/// Maintains a store.
#[async_trait]
pub trait MaintenanceStore: Send + Sync {
    /// Size and state.
    async fn stats(&self) -> Result<StoreStats, StoreError>;
    /// Removes what is older than `retention`, measured from `now`; with `dry_run` only counts. Finished tasks are
    /// never removed.
    async fn prune(
        &self,
        retention: &Retention,
        now: OffsetDateTime,
        dry_run: bool,
    ) -> Result<PruneReport, StoreError>;
    /// Removes secrets from rows written before schema 10, if that was not done yet. Takes seconds for a large store and
    /// blocks other writers for part of that time. After a failure, for example because another process reads, the next call
    /// continues.
    async fn scrub_secrets(&self) -> Result<(), StoreError>;
}

/// A store on a connection of its own.
#[async_trait]
pub trait StoreConnection: Store {
    /// What is read from now on is read of one moment, until [`StoreConnection::end_reading`]. Nothing may be written until
    /// then.
    async fn begin_reading(&self) -> Result<(), StoreError>;
    /// Ends what [`StoreConnection::begin_reading`] began.
    async fn end_reading(&self) -> Result<(), StoreError>;
    /// Ends the connection in order. Optional: a store that is merely dropped loses nothing.
    async fn close(&self) -> Result<(), StoreError>;
}

/// Opens stores. Waits at most `timeout` for other processes that hold the store, or the store's default with `None`.
#[async_trait]
pub trait StoreOpener: Send + Sync {
    /// Opens the store for writing; creates it if there is none.
    async fn open(&self, timeout: Option<Duration>) -> Result<Box<dyn StoreConnection>, StoreError>;
    /// Opens the store for reading; `None` if there is none.
    async fn open_existing(
        &self,
        timeout: Option<Duration>,
    ) -> Result<Option<Box<dyn StoreConnection>>, StoreError>;
}

/// Everything a complete backend offers.
pub trait Store:
    ExchangeStore
    + SessionStore
    + OrchestrationStore
    + TaskStore
    + MemorySearch
    + MemoryStore
    + EmbeddingStore
    + LedgerStore
    + SwitchStore
    + DriftStore
    + GoalStore
    + FileReasoningStore
    + HookStore
    + SpendingStore
    + MaintenanceStore
{
}

impl<T> Store for T where
    T: ExchangeStore
        + SessionStore
        + OrchestrationStore
        + TaskStore
        + MemorySearch
        + MemoryStore
        + EmbeddingStore
        + LedgerStore
        + SwitchStore
        + DriftStore
        + GoalStore
        + FileReasoningStore
        + HookStore
        + SpendingStore
        + MaintenanceStore
{
}

/// State of a record sink, for health and metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SinkHealth {
    /// Records accepted and not yet stored.
    pub queued: u64,
    /// Records stored since start.
    pub stored: u64,
    /// Records waiting in the spool file.
    pub spooled: u64,
    /// Records that could be neither stored nor spooled.
    pub lost: u64,
    /// The newest fault, gone after the next success.
    pub last_error: Option<String>,
}

/// Takes records off the path of a request: returns at once, never blocks, never fails.
pub trait RecordSink: Send + Sync {
    /// Accepts one record for storing within a second.
    fn submit(&self, record: Redacted<ExchangeRecord>);
    /// Returns the health of the sink.
    fn health(&self) -> SinkHealth;
}
