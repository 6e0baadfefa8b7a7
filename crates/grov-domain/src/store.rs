//! The store ports, independent of the database.
//!
//! Methods that store free text take it as [`Redacted`]. Implementations redact the texts of queries, so that they match
//! what was stored.

use crate::{
    ActivityStore, ClientSessionId, ContextStore, CutStore, DriftStore, EmbeddingStore, ExchangeRecord,
    FileReasoning, FindingMarkStore, GoalStore, HookStore, ItemStore, JournalStore, LedgerStore, LimitStore,
    LinkStore, MemorySearch, MemoryStore, OrchestrationStore, RoutedUsageStore, SessionId, SessionState,
    SessionStatus, SessionSummary, SpendingStore, StepRow, SwitchStore, Task, TaskId,
};
use async_trait::async_trait;
use grov_redact::Redacted;
use serde::Serialize;
use std::time::Duration;
use time::OffsetDateTime;

/// An error of a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process has locked the store. The same call may succeed later.
    #[error("the store is busy: {0}")]
    Busy(String),
    /// The store cannot be written: the file is read-only, the disk is full, or permission is denied.
    #[error("the store cannot be written: {0}")]
    NotWritable(String),
    /// The store was written by a newer version of Grov.
    #[error("the store has schema {found}, this version of Grov knows up to {known}; update Grov")]
    NewerSchema {
        /// The schema of the store.
        found: i64,
        /// The newest schema that this program supports.
        known: i64,
    },
    /// The store's file is damaged.
    #[error("the store is damaged: {0}")]
    Corrupt(String),
    /// Any other error.
    #[error("the store failed: {0}")]
    Other(String),
}

impl StoreError {
    /// Whether a retry may succeed without intervention.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Busy(_))
    }
}

/// Records exchanges.
#[async_trait]
pub trait ExchangeStore: Send + Sync {
    /// Records a batch in one transaction: exchanges, their steps, and the counters of their sessions, whose rows are
    /// created as needed. Recorded exchanges are skipped. Returns the number of new ones.
    async fn append(&self, batch: &[Redacted<ExchangeRecord>]) -> Result<usize, StoreError>;
}

/// Selects sessions.
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
    /// Maximum number, newest first; `None` for all.
    pub limit: Option<u32>,
}

/// Stores sessions, with one row per task, and reads their steps.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Creates or replaces the row of a task. The counters of [`ExchangeStore::append`] are not changed.
    async fn save_session(&self, state: &Redacted<SessionState>) -> Result<(), StoreError>;
    /// Returns a task with its counters; `None` if it does not exist.
    async fn session(&self, id: &SessionId) -> Result<Option<SessionSummary>, StoreError>;
    /// Returns tasks with their counters, last updated first.
    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionSummary>, StoreError>;
    /// Returns all tasks of a client session, oldest first.
    async fn client_session(&self, id: &ClientSessionId) -> Result<Vec<SessionSummary>, StoreError>;
    /// Returns the steps of a task in chronological order.
    async fn steps(&self, id: &SessionId) -> Result<Vec<StepRow>, StoreError>;
    /// Returns the steps of all tasks of a client session in chronological order.
    async fn client_steps(&self, id: &ClientSessionId) -> Result<Vec<StepRow>, StoreError>;
    /// Returns at most `limit` steps of a project that touched `file_path` and have a reasoning, newest first.
    async fn steps_reasoning_by_path(
        &self,
        project_path: &str,
        file_path: &str,
        limit: u32,
    ) -> Result<Vec<StepRow>, StoreError>;
}

/// Statistics of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectStatus {
    /// Number of saved tasks.
    pub tasks: u64,
    /// Number of memory items derived from tasks. Always zero in this version.
    pub memory_items: u64,
    /// Number of sessions.
    pub sessions: u64,
    /// Number of stored steps.
    pub steps: u64,
    /// The newest saved task.
    pub last_task: Option<Task>,
}

/// Stores saved tasks, which are the team memory.
#[async_trait]
pub trait TaskStore: Send + Sync {
    /// Saves a task. It replaces the task with the same client session and session, whose id is kept, or with the same id.
    /// What a person changed in that task ([`Task::edits`]) is applied to the new one.
    /// Saved subtasks (by `parent_session_id`, in the same client session) are linked to it, and it is linked to its parent
    /// if that is saved.
    async fn save_task(&self, task: &Redacted<Task>) -> Result<(), StoreError>;
    /// Returns a task; `None` if it does not exist.
    async fn task(&self, id: &TaskId) -> Result<Option<Task>, StoreError>;
    /// Returns the tasks of a client session, newest first.
    async fn tasks_of_session(&self, client_session: &ClientSessionId) -> Result<Vec<Task>, StoreError>;
    /// Returns at most `limit` tasks of a project, newest first.
    async fn tasks_for_project(&self, project_path: &str, limit: u32) -> Result<Vec<Task>, StoreError>;
    /// Returns at most `limit` tasks of a project that touched one of these files, newest first.
    async fn tasks_by_files(
        &self,
        project_path: &str,
        files: &[String],
        limit: u32,
    ) -> Result<Vec<Task>, StoreError>;
    /// Returns statistics of a project.
    async fn project_status(&self, project_path: &str) -> Result<ProjectStatus, StoreError>;
}

/// Stores reasoning about files, which the hook path captures.
#[async_trait]
pub trait FileReasoningStore: Send + Sync {
    /// Saves an entry; replaces the one with the same id.
    async fn save_file_reasoning(&self, entry: &Redacted<FileReasoning>) -> Result<(), StoreError>;
    /// Returns the entries whose file path contains `part` literally, newest first.
    async fn file_reasoning(
        &self,
        project_path: &str,
        part: &str,
        limit: u32,
    ) -> Result<Vec<FileReasoning>, StoreError>;
}

/// Retention times of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// For steps and exchanges of completed and abandoned sessions, after their last update. Default: 24 hours.
    pub completed_sessions: Duration,
    /// For the drift log. Default: 30 days.
    pub drift_log: Duration,
    /// After this time without an update, an active session counts as ended. Default: 30 days.
    pub idle_sessions: Duration,
    /// For Grov's own model calls. Default: 90 days.
    pub spending: Duration,
    /// For the injection ledger, after the last request with the history. Default: 30 days, after which the client deletes
    /// its sessions.
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

/// The number of rows that pruning deleted or, in a dry run, would delete.
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
    /// Hook sessions.
    pub hook_sessions: u64,
    /// Actions of hook sessions.
    pub hook_steps: u64,
    /// Checks of hook sessions.
    pub hook_checks: u64,
    /// Decisions of the guard.
    pub guarded: u64,
    /// Rows of the spending ledger.
    pub llm_calls: u64,
    /// Lineages of the injection ledger, with their blocks.
    pub lineages: u64,
}

/// The size of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableStats {
    /// Name.
    pub table: String,
    /// Rows.
    pub rows: u64,
}

/// The size and state of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StoreStats {
    /// The kind of store: `sqlite`.
    pub backend: String,
    /// The location, without credentials.
    pub location: String,
    /// The schema version.
    pub schema_version: i64,
    /// Size on disk in bytes, including the write-ahead log.
    pub bytes: u64,
    /// Number of records in the spool file.
    pub spooled: u64,
    /// The number of rows by table.
    pub tables: Vec<TableStats>,
}

/// Maintains a store.
#[async_trait]
pub trait MaintenanceStore: Send + Sync {
    /// Returns the size and state.
    async fn stats(&self) -> Result<StoreStats, StoreError>;
    /// Deletes records that exceed their `retention` at `now`; with `dry_run` only counts them. Saved tasks are never
    /// deleted.
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

/// A store with its own connection.
#[async_trait]
pub trait StoreConnection: Store {
    /// Begins a read transaction: all reads until [`StoreConnection::end_reading`] see the same state. Writing is not
    /// allowed until then.
    async fn begin_reading(&self) -> Result<(), StoreError>;
    /// Ends the read transaction.
    async fn end_reading(&self) -> Result<(), StoreError>;
    /// Closes the connection. Optional: dropping the store loses no data.
    async fn close(&self) -> Result<(), StoreError>;
}

/// Opens stores. Waits at most `timeout` for locks of other processes; `None` is the default of the store.
#[async_trait]
pub trait StoreOpener: Send + Sync {
    /// Opens the store for writing, and creates it if it does not exist.
    async fn open(&self, timeout: Option<Duration>) -> Result<Box<dyn StoreConnection>, StoreError>;
    /// Opens the store for reading; `None` if it does not exist.
    async fn open_existing(
        &self,
        timeout: Option<Duration>,
    ) -> Result<Option<Box<dyn StoreConnection>>, StoreError>;
}

/// All ports of a complete backend.
pub trait Store:
    ExchangeStore
    + SessionStore
    + OrchestrationStore
    + TaskStore
    + MemorySearch
    + MemoryStore
    + ItemStore
    + LinkStore
    + EmbeddingStore
    + LedgerStore
    + CutStore
    + SwitchStore
    + DriftStore
    + GoalStore
    + FileReasoningStore
    + HookStore
    + ActivityStore
    + JournalStore
    + FindingMarkStore
    + LimitStore
    + SpendingStore
    + RoutedUsageStore
    + ContextStore
    + MaintenanceStore
{
}

/// The state of a record sink, for health and metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SinkHealth {
    /// Number of records accepted but not stored.
    pub queued: u64,
    /// Number of records stored since the start.
    pub stored: u64,
    /// Number of records in the spool file.
    pub spooled: u64,
    /// Number of records that could be neither stored nor spooled.
    pub lost: u64,
    /// The last error; `None` after the next success.
    pub last_error: Option<String>,
}

/// Stores records in the background.
pub trait RecordSink: Send + Sync {
    /// Queues a record, which is stored within a second. Never blocks or fails.
    fn submit(&self, record: Redacted<ExchangeRecord>);
    /// Returns the health of the sink.
    fn health(&self) -> SinkHealth;
}
