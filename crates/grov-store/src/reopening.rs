//! A store that is opened when it is first needed, and again after it failed.

use crate::files::{self, Identity, LOCK_PATIENCE, beside};
use crate::sqlite::{RESCUED, TRIES, clean_up, copy_without_log};
use crate::{OpenOptions, SqliteStore};
use async_trait::async_trait;
use grov_domain::{
    Applied, AskedCall, CallFilter, ClientSessionId, Correction, DriftEvent, DriftEventId, DriftFilter,
    DriftLogStore, DriftState, DriftStore, Embedding, EmbeddingProgress, EmbeddingStore, ExchangeRecord,
    ExchangeStore, FileReasoning, FileReasoningStore, GoalEdit, GoalStore, GuardRecord, HistoryKey,
    HookCheck, HookProgress, HookSession, HookStep, HookStore, ImportReport, IntentFn, LedgerEntry,
    LedgerLineage, LedgerStore, LedgerUse, Lineage, LineageTip, LlmCall, MaintenanceStore, MemoryCandidates,
    MemoryQuestion, MemoryScope, MemorySearch, MemoryStats, MemoryStore, MicroUsd, NewLineage,
    OrchestrationStore, ProjectStatus, Prompt, PruneReport, Redacted, RelatedSteps, Reservation, Retention,
    SessionFilter, SessionId, SessionState, SessionStore, SessionSummary, SpendingStore, StepId, StepRow,
    StepVerdict, StoreError, StoreStats, SwitchScope, SwitchStore, Task, TaskId, TaskStore, TaskTransition,
    Unembedded,
};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use std::{fs, io};
use time::OffsetDateTime;
use tokio::sync::Mutex;
use tokio::time::timeout_at;

/// What to do with a damaged database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnCorruption {
    /// Rename it (see [`crate::set_aside`]) and start a new one: for a daemon, which has to go on recording.
    SetAside,
    /// Leave it and fail.
    Fail,
}

/// Stands in front of a database that may be missing, locked, damaged or replaced at any time: opens it on demand and
/// opens it again when a call failed or when the file under the path has become another one.
///
/// It is a complete store. Each call tries once, so the caller sets the pace; [`crate::BatchWriter`] does that with a
/// back-off.
pub struct ReopeningStore {
    path: PathBuf,
    options: OpenOptions,
    on_corruption: OnCorruption,
    open: Mutex<Option<Arc<SqliteStore>>>,
    /// A database is being put in place of one whose log was deleted or overwritten.
    is_rescuing: AtomicBool,
}

impl ReopeningStore {
    /// A store at `path`; nothing is opened yet.
    pub fn new(path: impl Into<PathBuf>, options: OpenOptions, on_corruption: OnCorruption) -> Self {
        Self {
            path: path.into(),
            options,
            on_corruption,
            open: Mutex::new(None),
            is_rescuing: AtomicBool::new(false),
        }
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open store, opened now if need be.
    ///
    /// # Errors
    /// See [`SqliteStore::open`].
    pub async fn store(&self) -> Result<Arc<SqliteStore>, StoreError> {
        let mut open = self.open.lock().await;
        if let Some(store) = open.as_ref() {
            if store.is_current() {
                return Ok(Arc::clone(store));
            }
            if store.is_same_file() {
                self.is_rescuing.store(true, Ordering::Relaxed);
                let rescued = self.rescue(store).await;
                self.is_rescuing.store(false, Ordering::Relaxed);
                rescued?;
            }
        }
        *open = None;
        let found = Identity::of(&self.path);
        let store = match SqliteStore::open(&self.path, &self.options).await {
            Err(StoreError::Corrupt(damage)) => {
                self.set_aside(damage, found).await?;
                SqliteStore::open(&self.path, &self.options).await
            }
            other => other,
        }?;
        let store = Arc::new(store);
        *open = Some(Arc::clone(&store));
        Ok(store)
    }

    /// Whether what is written now reaches the files on disk: `false` from when they were deleted, replaced or
    /// overwritten until the database is open again. Cheap, and never waits.
    pub fn is_current(&self) -> bool {
        match self.open.try_lock() {
            Ok(open) => open.as_ref().is_none_or(|store| store.is_current()),
            // It is being opened; how that ends is told by the call that does it.
            Err(_) => !self.is_rescuing.load(Ordering::Relaxed),
        }
    }

    /// Ends the connection in order, see [`SqliteStore::close`]. The next call opens the database anew.
    ///
    /// # Errors
    /// When SQLite cannot close the file.
    pub async fn close(&self) -> Result<(), StoreError> {
        match self.open.lock().await.take() {
            Some(store) => store.close().await,
            None => Ok(()),
        }
    }

    /// Makes the next call open the database anew, unless that has happened already.
    async fn forget(&self, failed: &Arc<SqliteStore>) {
        let mut open = self.open.lock().await;
        if open.as_ref().is_some_and(|store| Arc::ptr_eq(store, failed)) {
            *open = None;
        }
    }

    /// What follows from the end of a call: after a fault that does not pass by itself, the next call opens the
    /// database anew, or a new one in place of a damaged one.
    async fn ended<T>(
        &self,
        store: &Arc<SqliteStore>,
        result: Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if let Err(error) = &result
            && !error.is_transient()
        {
            self.forget(store).await;
            if let StoreError::Corrupt(damage) = error
                && self.on_corruption == OnCorruption::SetAside
            {
                self.set_aside(damage.clone(), store.identity()).await?;
            }
        }
        result
    }

    async fn set_aside(&self, damage: String, damaged: Option<Identity>) -> Result<(), StoreError> {
        if self.on_corruption == OnCorruption::Fail {
            return Err(StoreError::Corrupt(damage));
        }
        let fault =
            |error: io::Error| StoreError::Corrupt(format!("{damage}; setting it aside failed: {error}"));
        let _lock = files::lock_database(&self.path, LOCK_PATIENCE)
            .await
            .map_err(fault)?;
        // Another process may have replaced it meanwhile.
        if damaged.is_none() || Identity::of(&self.path) != damaged {
            return Ok(());
        }
        // The file may be sound and only its log damaged or deleted. The copy is made before anything is moved, so that a
        // full disk or a kill leaves a database behind.
        let copy = beside(&self.path, RESCUED);
        let is_restored = match copy_without_log(&self.path, &copy).await {
            Ok(()) => true,
            Err(StoreError::Corrupt(_)) => {
                clean_up(&copy);
                false
            }
            Err(other) => {
                clean_up(&copy);
                return Err(other);
            }
        };
        let kept = files::rename_aside(&self.path).map_err(fault)?;
        if is_restored {
            // Should this fail, the next opening puts the copy in its place.
            fs::rename(&copy, &self.path).map_err(fault)?;
        }
        tracing::error!(%damage, kept = %kept.display(), is_restored, "the store was damaged and is set aside; \
             where its log alone was damaged, the state of the last checkpoint is restored, else a new store begins");
        Ok(())
    }

    /// After the write-ahead log was deleted, replaced or overwritten: puts a database with everything that the open
    /// connection still sees in place of this one. A file of its own, because every other connection to the old one
    /// would go on with the old log.
    async fn rescue(&self, store: &SqliteStore) -> Result<(), StoreError> {
        let fault = |error: io::Error| StoreError::NotWritable(format!("{}: {error}", self.path.display()));
        let lock = files::lock_database(&self.path, LOCK_PATIENCE)
            .await
            .map_err(fault)?;
        // Another store of this process may have done it meanwhile.
        if !store.is_same_file() {
            return Ok(());
        }
        let copy = beside(&self.path, RESCUED);
        if let Err(error) = copied_last(store, &copy).await {
            clean_up(&copy);
            drop(lock);
            // A full disk or a folder without permission says nothing about the database.
            return match error {
                StoreError::Corrupt(damage) => {
                    let damage = format!("its write-ahead log was overwritten: {damage}");
                    self.set_aside(damage, store.identity()).await
                }
                other => Err(other),
            };
        }
        // What others wrote to a log of their own is not in the copy. Without it the old file holds nothing more.
        let kept = match files::holds_something(&beside(&self.path, "-wal")) {
            true => Some(files::rename_aside(&self.path).map_err(fault)?),
            false => {
                for suffix in ["-wal", "-shm"] {
                    files::remove_if_there(&beside(&self.path, suffix)).map_err(fault)?;
                }
                None
            }
        };
        fs::rename(&copy, &self.path).map_err(fault)?;
        tracing::error!(
            path = %self.path.display(), kept = kept.map(|kept| kept.display().to_string()),
            "the write-ahead log was deleted or replaced while it was in use; what was in it is saved"
        );
        Ok(())
    }
}

/// Copies what the store sees until nobody wrote while the copy was checked. Who writes later is told that the database was
/// replaced.
async fn copied_last(store: &SqliteStore, copy: &Path) -> Result<(), StoreError> {
    for _ in 0..TRIES {
        let version = store.copy_to(copy).await?;
        if !store.is_written_since(version).await? {
            break;
        }
    }
    Ok(())
}

/// Hands a call on to the open store and looks at how it ended.
macro_rules! delegate {
    ($self:ident.$method:ident($($argument:expr),*)) => {{
        let store = $self.store().await?;
        let result = store.$method($($argument),*).await;
        $self.ended(&store, result).await
    }};
}

#[async_trait]
impl ExchangeStore for ReopeningStore {
    async fn append(&self, batch: &[Redacted<ExchangeRecord>]) -> Result<usize, StoreError> {
        let store = self.store().await?;
        let result = store.append(batch).await;
        match self.ended(&store, result).await {
            Err(StoreError::Corrupt(_)) if self.on_corruption == OnCorruption::SetAside => {
                self.store().await?.append(batch).await
            }
            // The log was deleted or overwritten in between. To append a record twice changes nothing.
            Ok(_) | Err(StoreError::NotWritable(_)) if !store.is_current() => {
                self.store().await?.append(batch).await
            }
            other => other,
        }
    }
}

#[async_trait]
impl SessionStore for ReopeningStore {
    async fn save_session(&self, state: &Redacted<SessionState>) -> Result<(), StoreError> {
        delegate!(self.save_session(state))
    }

    async fn session(&self, id: &SessionId) -> Result<Option<SessionSummary>, StoreError> {
        delegate!(self.session(id))
    }

    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionSummary>, StoreError> {
        delegate!(self.sessions(filter))
    }

    async fn client_session(&self, id: &ClientSessionId) -> Result<Vec<SessionSummary>, StoreError> {
        delegate!(self.client_session(id))
    }

    async fn steps(&self, id: &SessionId) -> Result<Vec<StepRow>, StoreError> {
        delegate!(self.steps(id))
    }

    async fn client_steps(&self, id: &ClientSessionId) -> Result<Vec<StepRow>, StoreError> {
        delegate!(self.client_steps(id))
    }

    async fn steps_reasoning_by_path(
        &self,
        project_path: &str,
        file_path: &str,
        limit: u32,
    ) -> Result<Vec<StepRow>, StoreError> {
        delegate!(self.steps_reasoning_by_path(project_path, file_path, limit))
    }
}

#[async_trait]
impl OrchestrationStore for ReopeningStore {
    async fn apply(&self, transition: &Redacted<TaskTransition>) -> Result<Applied, StoreError> {
        delegate!(self.apply(transition))
    }

    async fn prompts(
        &self,
        session: &SessionId,
        until: Option<OffsetDateTime>,
    ) -> Result<Vec<Prompt>, StoreError> {
        delegate!(self.prompts(session, until))
    }
}

#[async_trait]
impl TaskStore for ReopeningStore {
    async fn save_task(&self, task: &Redacted<Task>) -> Result<(), StoreError> {
        delegate!(self.save_task(task))
    }

    async fn task(&self, id: &TaskId) -> Result<Option<Task>, StoreError> {
        delegate!(self.task(id))
    }

    async fn tasks_for_project(&self, project_path: &str, limit: u32) -> Result<Vec<Task>, StoreError> {
        delegate!(self.tasks_for_project(project_path, limit))
    }

    async fn tasks_by_files(
        &self,
        project_path: &str,
        files: &[String],
        limit: u32,
    ) -> Result<Vec<Task>, StoreError> {
        delegate!(self.tasks_by_files(project_path, files, limit))
    }

    async fn project_status(&self, project_path: &str) -> Result<ProjectStatus, StoreError> {
        delegate!(self.project_status(project_path))
    }
}

#[async_trait]
impl MemorySearch for ReopeningStore {
    async fn candidates(&self, question: &MemoryQuestion<'_>) -> Result<MemoryCandidates, StoreError> {
        delegate!(self.candidates(question))
    }

    async fn newest(
        &self,
        scope: &MemoryScope,
        before: Option<OffsetDateTime>,
        limit: u32,
    ) -> Result<Vec<i64>, StoreError> {
        delegate!(self.newest(scope, before, limit))
    }

    async fn memories(&self, tasks: &[TaskId]) -> Result<Vec<Task>, StoreError> {
        delegate!(self.memories(tasks))
    }
}

#[async_trait]
impl MemoryStore for ReopeningStore {
    async fn import(&self, tasks: &[Redacted<Task>]) -> Result<ImportReport, StoreError> {
        delegate!(self.import(tasks))
    }

    async fn export(
        &self,
        scope: Option<&MemoryScope>,
        after: Option<(OffsetDateTime, TaskId)>,
        limit: u32,
    ) -> Result<Vec<Task>, StoreError> {
        delegate!(self.export(scope, after, limit))
    }

    async fn forget(&self, tasks: &[TaskId]) -> Result<Vec<TaskId>, StoreError> {
        let store = self.store().await?;
        let result = MemoryStore::forget(store.as_ref(), tasks).await;
        self.ended(&store, result).await
    }

    async fn ids_like(&self, part: &str, limit: u32) -> Result<Vec<TaskId>, StoreError> {
        delegate!(self.ids_like(part, limit))
    }

    async fn replaced_by(&self, task: &TaskId) -> Result<Vec<TaskId>, StoreError> {
        delegate!(self.replaced_by(task))
    }

    async fn supersede(&self, old: &TaskId, by: Option<&TaskId>) -> Result<bool, StoreError> {
        delegate!(self.supersede(old, by))
    }

    async fn memory_stats(&self, scope: Option<&MemoryScope>) -> Result<MemoryStats, StoreError> {
        delegate!(self.memory_stats(scope))
    }

    async fn each_memory(
        &self,
        scope: &MemoryScope,
        visit: &mut (dyn FnMut(Task) -> ControlFlow<()> + Send),
    ) -> Result<(), StoreError> {
        delegate!(self.each_memory(scope, visit))
    }
}

#[async_trait]
impl EmbeddingStore for ReopeningStore {
    async fn unembedded(
        &self,
        model: &str,
        below: Option<i64>,
        limit: u32,
    ) -> Result<Vec<Unembedded>, StoreError> {
        delegate!(self.unembedded(model, below, limit))
    }

    async fn keep_embeddings(
        &self,
        model: &str,
        embedded: &[(Task, Option<Embedding>)],
    ) -> Result<(), StoreError> {
        delegate!(self.keep_embeddings(model, embedded))
    }

    async fn embeddings(&self, model: &str, documents: &[i64]) -> Result<Vec<(i64, Embedding)>, StoreError> {
        delegate!(self.embeddings(model, documents))
    }

    async fn embedding_progress(&self, model: &str) -> Result<EmbeddingProgress, StoreError> {
        delegate!(self.embedding_progress(model))
    }
}

#[async_trait]
impl LedgerStore for ReopeningStore {
    async fn lineage(&self, lineage: &Lineage) -> Result<Option<LedgerLineage>, StoreError> {
        delegate!(self.lineage(lineage))
    }

    async fn adopt(&self, new: &NewLineage) -> Result<LedgerLineage, StoreError> {
        delegate!(self.adopt(new))
    }

    async fn decide(
        &self,
        lineage: &Lineage,
        entry: &LedgerEntry<Redacted>,
        until: Instant,
    ) -> Result<bool, StoreError> {
        // Opening takes longer than a request can wait for; whoever comes without a deadline does it.
        let Ok(store) = timeout_at(until.into(), self.store()).await else {
            return Ok(false);
        };
        let store = store?;
        let result = store.decide(lineage, entry, until).await;
        self.ended(&store, result).await
    }

    async fn withdraw(&self, lineage: &Lineage, anchors: &[HistoryKey]) -> Result<(), StoreError> {
        delegate!(self.withdraw(lineage, anchors))
    }

    async fn note_tips(&self, tips: &[LineageTip]) -> Result<(), StoreError> {
        delegate!(self.note_tips(tips))
    }

    async fn disable_edits(&self, lineage: &Lineage) -> Result<(), StoreError> {
        delegate!(self.disable_edits(lineage))
    }

    async fn lineages_with_edits_disabled(&self) -> Result<Vec<Lineage>, StoreError> {
        delegate!(self.lineages_with_edits_disabled())
    }

    async fn uses(&self, tasks: &[TaskId]) -> Result<Vec<LedgerUse>, StoreError> {
        delegate!(self.uses(tasks))
    }
}

#[async_trait]
impl SwitchStore for ReopeningStore {
    async fn switch(&self, scope: &SwitchScope, on: bool) -> Result<(), StoreError> {
        delegate!(self.switch(scope, on))
    }

    async fn switched_off(&self) -> Result<Vec<SwitchScope>, StoreError> {
        delegate!(self.switched_off())
    }

    async fn revision(&self) -> Result<i64, StoreError> {
        delegate!(self.revision())
    }
}

#[async_trait]
impl DriftLogStore for ReopeningStore {
    async fn append_drift(&self, event: &Redacted<DriftEvent>) -> Result<(), StoreError> {
        delegate!(self.append_drift(event))
    }

    async fn drift_log(&self, session: Option<&SessionId>) -> Result<Vec<DriftEvent>, StoreError> {
        delegate!(self.drift_log(session))
    }
}

#[async_trait]
impl DriftStore for ReopeningStore {
    async fn drift_events(&self, filter: &DriftFilter) -> Result<Vec<DriftEvent>, StoreError> {
        delegate!(self.drift_events(filter))
    }

    async fn drift_event(&self, id: &DriftEventId) -> Result<Option<DriftEvent>, StoreError> {
        delegate!(self.drift_event(id))
    }

    async fn drift_state(&self, session: &ClientSessionId) -> Result<Option<DriftState>, StoreError> {
        delegate!(self.drift_state(session))
    }

    async fn save_drift_state(
        &self,
        state: &Redacted<DriftState>,
        task: &SessionId,
    ) -> Result<(), StoreError> {
        delegate!(self.save_drift_state(state, task))
    }

    async fn save_correction(&self, correction: &Redacted<Correction>) -> Result<(), StoreError> {
        delegate!(self.save_correction(correction))
    }

    async fn corrections(&self, session: &ClientSessionId) -> Result<Vec<Correction>, StoreError> {
        delegate!(self.corrections(session))
    }

    async fn judge_steps(
        &self,
        session: &ClientSessionId,
        verdicts: &[(StepId, Redacted<StepVerdict>)],
    ) -> Result<usize, StoreError> {
        delegate!(self.judge_steps(session, verdicts))
    }

    async fn related_steps(&self, related: &RelatedSteps) -> Result<Vec<StepRow>, StoreError> {
        delegate!(self.related_steps(related))
    }
}

#[async_trait]
impl GoalStore for ReopeningStore {
    async fn edit_goal(&self, edit: &Redacted<GoalEdit>) -> Result<(), StoreError> {
        delegate!(self.edit_goal(edit))
    }

    async fn goal_edits(&self, session: &ClientSessionId) -> Result<Vec<GoalEdit>, StoreError> {
        delegate!(self.goal_edits(session))
    }

    async fn asked_calls(&self, session: &ClientSessionId) -> Result<Vec<AskedCall>, StoreError> {
        delegate!(self.asked_calls(session))
    }
}

#[async_trait]
impl HookStore for ReopeningStore {
    async fn hook_session(&self, id: &ClientSessionId) -> Result<Option<HookSession>, StoreError> {
        delegate!(self.hook_session(id))
    }

    async fn hook_session_summary(&self, id: &ClientSessionId) -> Result<Option<HookSession>, StoreError> {
        delegate!(self.hook_session_summary(id))
    }

    async fn save_hook_session(&self, session: &Redacted<HookSession>) -> Result<bool, StoreError> {
        delegate!(self.save_hook_session(session))
    }

    async fn hook_sessions(&self, project_path: &str, limit: u32) -> Result<Vec<HookSession>, StoreError> {
        delegate!(self.hook_sessions(project_path, limit))
    }

    async fn save_hook_progress(&self, progress: &Redacted<HookProgress>) -> Result<bool, StoreError> {
        delegate!(self.save_hook_progress(progress))
    }

    async fn hook_steps(&self, id: &ClientSessionId) -> Result<Vec<HookStep>, StoreError> {
        delegate!(self.hook_steps(id))
    }

    async fn hook_checks(&self, id: &ClientSessionId) -> Result<Vec<HookCheck>, StoreError> {
        delegate!(self.hook_checks(id))
    }

    async fn save_guard_record(&self, guarded: &Redacted<GuardRecord>) -> Result<(), StoreError> {
        delegate!(self.save_guard_record(guarded))
    }

    async fn mark_guarded_run(&self, id: &ClientSessionId, tool_use_id: &str) -> Result<bool, StoreError> {
        delegate!(self.mark_guarded_run(id, tool_use_id))
    }

    async fn guard_log(&self, id: &ClientSessionId) -> Result<Vec<GuardRecord>, StoreError> {
        delegate!(self.guard_log(id))
    }
}

#[async_trait]
impl FileReasoningStore for ReopeningStore {
    async fn save_file_reasoning(&self, entry: &Redacted<FileReasoning>) -> Result<(), StoreError> {
        delegate!(self.save_file_reasoning(entry))
    }

    async fn file_reasoning_by_path(
        &self,
        project_path: &str,
        file_path: &str,
        limit: u32,
    ) -> Result<Vec<FileReasoning>, StoreError> {
        delegate!(self.file_reasoning_by_path(project_path, file_path, limit))
    }

    async fn file_reasoning_by_path_pattern(
        &self,
        project_path: &str,
        pattern: &str,
        limit: u32,
    ) -> Result<Vec<FileReasoning>, StoreError> {
        delegate!(self.file_reasoning_by_path_pattern(project_path, pattern, limit))
    }
}

#[async_trait]
impl SpendingStore for ReopeningStore {
    async fn reserve(
        &self,
        call: &Redacted<LlmCall>,
        budget: MicroUsd,
        since: OffsetDateTime,
    ) -> Result<Reservation, StoreError> {
        delegate!(self.reserve(call, budget, since))
    }

    async fn settle(&self, call: &Redacted<LlmCall>) -> Result<(), StoreError> {
        delegate!(self.settle(call))
    }

    async fn calls(&self, filter: &CallFilter) -> Result<Vec<LlmCall>, StoreError> {
        delegate!(self.calls(filter))
    }

    async fn spent_since(&self, since: OffsetDateTime) -> Result<MicroUsd, StoreError> {
        delegate!(self.spent_since(since))
    }
}

#[async_trait]
impl MaintenanceStore for ReopeningStore {
    async fn stats(&self) -> Result<StoreStats, StoreError> {
        delegate!(self.stats())
    }

    async fn prune(
        &self,
        retention: &Retention,
        now: OffsetDateTime,
        dry_run: bool,
    ) -> Result<PruneReport, StoreError> {
        delegate!(self.prune(retention, now, dry_run))
    }

    async fn needs_cleaning(&self) -> Result<bool, StoreError> {
        delegate!(self.needs_cleaning())
    }

    async fn clean(&self, read: IntentFn<'_>) -> Result<(), StoreError> {
        delegate!(self.clean(read))
    }
}
