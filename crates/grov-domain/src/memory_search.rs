//! The ports of team memory: search, import, export and deletion.
//!
//! The store returns memories with the counts of the terms they contain; the caller ranks them. Terms come from
//! [`words`](crate::words()), and from [`file_term`] and [`path_term`] for files.

use crate::{ModelScreening, StoreError, Task, TaskId, TaskStatus, UnjudgedMemory, file_name};
use async_trait::async_trait;
use grov_redact::Redacted;
use serde::Serialize;
use std::ops::ControlFlow;
use time::OffsetDateTime;

/// The project whose memories are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryScope {
    /// The project's key.
    pub project_path: String,
    /// The remote. Memories of other project keys with the same remote are included.
    pub project_remote: Option<String>,
}

/// A part of a memory that contains terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryField {
    /// Prompt, goal, decisions, constraints and tags.
    Text,
    /// The reasoning trace.
    Trace,
    /// The words of the paths.
    Path,
    /// Whole files: [`file_term`] and [`path_term`].
    File,
}

impl MemoryField {
    /// All fields, in the order in which they are stored.
    pub const ALL: [Self; 4] = [Self::Text, Self::Trace, Self::Path, Self::File];
}

/// A value per [`MemoryField`], in the order of [`MemoryField::ALL`].
pub type PerField<T> = [T; 4];

/// Maximum characters of a path in a term.
const MAX_PATH: usize = 512;

/// Returns the term for all files with the name of `path`, in any folder.
pub fn file_term(path: &str) -> String {
    single_term("f:", &file_name(path))
}

/// Returns the term for this path, case-insensitive.
pub fn path_term(path: &str) -> String {
    single_term("p:", path)
}

/// Returns a term without whitespace and quotes.
fn single_term(mark: &str, path: &str) -> String {
    let piece = |character: char| match character {
        '"' | '\'' => '_',
        _ if character.is_whitespace() || character.is_control() => '_',
        _ => character.to_ascii_lowercase(),
    };
    let mut term = mark.to_owned();
    term.extend(path.chars().take(MAX_PATH).map(piece));
    term
}

/// Statistics of the memories in a scope and of the terms of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryStatistics {
    /// Number of memories.
    pub documents: u64,
    /// Number of terms in all memories, by field.
    pub lengths: PerField<u64>,
    /// The statistics of each term of the question, in its order.
    pub terms: Vec<TermStatistics>,
}

/// Statistics of a term in a scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TermStatistics {
    /// Number of memories that contain it.
    pub frequency: u64,
    /// Whether its postings were read; `false` if rarer terms used up the budget.
    pub is_read: bool,
}

impl MemoryStatistics {
    /// Returns the inverse document frequency (BM25's idf, at least 0) of a term that is in `frequency` memories.
    pub fn rarity(&self, frequency: u64) -> f64 {
        let (frequency, documents) = (frequency as f64, self.documents as f64);
        ((documents - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln_1p()
    }
}

/// The counts of a term in a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermCount {
    /// The index of the term in the question.
    pub term: usize,
    /// The counts by field, saturating.
    pub counts: PerField<u16>,
}

/// Weights for an approximate score of a term in a memory that ignores the length of the memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TermWeights {
    /// The saturation of counts (BM25's k1).
    pub saturation: f64,
    /// The weight of an occurrence in each field.
    pub fields: PerField<f64>,
}

impl TermWeights {
    /// Returns the approximate score of a term with this inverse document frequency and these counts.
    pub fn worth(&self, rarity: f64, counts: PerField<u16>) -> f64 {
        let weighted = self.fields.iter().zip(counts);
        let count: f64 = weighted.map(|(weight, count)| weight * f64::from(count)).sum();
        rarity * count / (count + self.saturation)
    }
}

/// The order of candidates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CandidateOrder<'a> {
    /// Highest sum of [`TermWeights::worth`] first. Memories with a sum of 0 are not candidates.
    Worth(TermWeights),
    /// Newest first, without the known memories, for which only counts are returned.
    Newest {
        /// The numbers of the known memories.
        known: &'a [i64],
    },
}

/// A search in team memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryQuestion<'a> {
    /// The scope.
    pub scope: &'a MemoryScope,
    /// The terms, each once.
    pub terms: &'a [String],
    /// Only memories saved before this time.
    pub before: Option<OffsetDateTime>,
    /// The order.
    pub order: CandidateOrder<'a>,
    /// The approximate number of candidates; more are returned if the first ones are not older than `before`.
    pub limit: usize,
    /// Maximum number of postings to read. Terms are read completely, rarest first, as long as they fit. With few terms,
    /// or if not even the rarest fits, the newest postings of the first term that does not fit are read, too.
    pub budget: u64,
}

/// A memory that contains some of the terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryCandidate {
    /// The memory.
    pub document: MemoryDocument,
    /// The counts of the terms that were read, in the order of the question.
    pub counts: Vec<TermCount>,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryCandidates {
    /// Statistics of the scope.
    pub statistics: MemoryStatistics,
    /// The candidates, in any order.
    pub found: Vec<MemoryCandidate>,
    /// The known memories that contain some of the terms, by number.
    pub known: Vec<(i64, Vec<TermCount>)>,
}

/// The data of a memory that ranking needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryDocument {
    /// The number of the memory in the store.
    pub document: i64,
    /// The task.
    pub task_id: TaskId,
    /// When it was saved.
    pub created_at: OffsetDateTime,
    /// Its status.
    pub status: TaskStatus,
    /// Number of terms, by field.
    pub lengths: PerField<u32>,
    /// The touched files.
    pub files: Vec<String>,
    /// The task that supersedes this one.
    pub superseded_by: Option<TaskId>,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Number of new tasks.
    pub added: u64,
    /// Number of tasks that replaced one with the same id or session.
    pub replaced: u64,
    /// Number of tasks that were stored already, with the same content.
    pub unchanged: u64,
    /// Tasks that were refused, because another project has a task with that id or session.
    pub refused: Vec<RefusedImport>,
}

/// A task that was refused by an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedImport {
    /// The id.
    pub id: TaskId,
    /// The project that has a task with that id or session.
    pub project_path: String,
}

/// A project that has memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryProject {
    /// The project's key.
    pub project_path: String,
    /// Its remote, normalized, or empty.
    pub project_remote: String,
    /// Number of memories.
    pub memories: u64,
}

/// Statistics of a scope, to be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryStats {
    /// Number of memories.
    pub memories: u64,
    /// Number of memories of finished tasks.
    pub complete: u64,
    /// Number of memories that need a review.
    pub partial: u64,
    /// Number of memories of unfinished tasks.
    pub abandoned: u64,
    /// Number of distinct touched files.
    pub files: u64,
    /// Time when the oldest was saved.
    #[serde(with = "time::serde::rfc3339::option")]
    pub oldest: Option<OffsetDateTime>,
    /// Time when the newest was saved.
    #[serde(with = "time::serde::rfc3339::option")]
    pub newest: Option<OffsetDateTime>,
}

/// Searches team memory: the tasks saved by [`TaskStore`](crate::TaskStore).
#[async_trait]
pub trait MemorySearch: Send + Sync {
    /// Returns memories that contain some of the terms. The caller ranks them.
    async fn candidates(&self, question: &MemoryQuestion<'_>) -> Result<MemoryCandidates, StoreError>;
    /// Returns at most `limit` indexed terms for each beginning, with the position of the beginning.
    async fn terms_beginning(
        &self,
        scope: &MemoryScope,
        beginnings: &[String],
        limit: u32,
    ) -> Result<Vec<(usize, String)>, StoreError>;
    /// Returns the numbers of at most `limit` memories of the scope saved before `before`, newest first.
    async fn newest(
        &self,
        scope: &MemoryScope,
        before: Option<OffsetDateTime>,
        limit: u32,
    ) -> Result<Vec<i64>, StoreError>;
    /// Returns these memories in the given order, without deleted ones.
    async fn memories(&self, tasks: &[TaskId]) -> Result<Vec<Task>, StoreError>;
}

/// Imports, exports, links and deletes memories.
#[async_trait]
pub trait MemoryStore: Send + Sync {
    /// Saves tasks in one transaction. Each replaces the task with its id in its project. Tasks of other projects are
    /// never replaced.
    async fn import(&self, tasks: &[Redacted<Task>]) -> Result<ImportReport, StoreError>;
    /// Returns at most `limit` tasks of a scope, or of all projects, oldest first. To continue, pass the time and id of the
    /// last one as `after`.
    async fn export(
        &self,
        scope: Option<&MemoryScope>,
        after: Option<(OffsetDateTime, TaskId)>,
        limit: u32,
    ) -> Result<Vec<Task>, StoreError>;
    /// Visits the memories of a scope, oldest first, from a snapshot: changes made meanwhile are not visible.
    async fn each_memory(
        &self,
        scope: &MemoryScope,
        visit: &mut (dyn FnMut(Task) -> ControlFlow<()> + Send),
    ) -> Result<(), StoreError>;
    /// Returns at most `limit` ids of all projects that start or end with `part`, sorted.
    async fn ids_like(&self, part: &str, limit: u32) -> Result<Vec<TaskId>, StoreError>;
    /// Returns the tasks that this task supersedes directly, oldest first.
    async fn replaced_by(&self, task: &TaskId) -> Result<Vec<TaskId>, StoreError>;
    /// Marks a task as superseded by another, or with `None` removes the mark. Returns `false` if one of them does not
    /// exist, they are the same, or the result would be a cycle.
    async fn supersede(&self, old: &TaskId, by: Option<&TaskId>) -> Result<bool, StoreError>;
    /// Deletes tasks and everything derived from them, including text in the injection ledger, and erases them on disk.
    /// Returns the tasks that existed.
    async fn forget(&self, tasks: &[TaskId]) -> Result<Vec<TaskId>, StoreError>;
    /// Returns statistics of a scope, or of all projects.
    async fn memory_stats(&self, scope: Option<&MemoryScope>) -> Result<MemoryStats, StoreError>;
    /// Returns at most `limit` of the memories that another version of the rules checked for orders to the agent; `None` if
    /// these rules have checked all. New memories are checked when they are saved.
    async fn unscreened(&self, rules: i64, limit: u32) -> Result<Option<Vec<Task>>, StoreError>;
    /// Stores fingerprints ([`Task::screened`]) of all memories that [`MemoryStore::unscreened`] returned, in its order. An
    /// empty list ends the check.
    async fn save_screening(
        &self,
        rules: i64,
        fingerprints: &[(TaskId, Option<i64>)],
    ) -> Result<(), StoreError>;
    /// Reserves at most `limit` memories that no model has judged yet: those that wait for their first time before others,
    /// imported ones before others, the newest first. The memory of a session is left alone for some minutes after it was
    /// saved, because a session at work saves it again, and for good after thirty days: years of the user's own work would cost a
    /// fortune and hold little danger. A memory that was reserved before comes alone, because something in it
    /// may have spoiled the answer, and after a pause that grows with each time.
    async fn reserve_unjudged(
        &self,
        now: OffsetDateTime,
        limit: u32,
    ) -> Result<Vec<UnjudgedMemory>, StoreError>;
    /// Stores what a model found in a reserved memory. Returns `false` if the reservation no longer holds.
    async fn save_model_screening(
        &self,
        memory: &UnjudgedMemory,
        screening: &Redacted<ModelScreening>,
    ) -> Result<bool, StoreError>;
    /// Stores that the user trusts the text of a memory. Returns `false` if it is not stored as `task` any more.
    async fn trust_memory(
        &self,
        task: &Task,
        screening: &Redacted<ModelScreening>,
    ) -> Result<bool, StoreError>;
    /// Returns the number of memories of a scope, or of all projects, that wait to be judged.
    async fn unjudged(&self, scope: Option<&MemoryScope>, now: OffsetDateTime) -> Result<u64, StoreError>;
    /// Returns the projects that have memories, by key and remote.
    async fn memory_projects(&self) -> Result<Vec<MemoryProject>, StoreError>;
    /// Moves the memories of a project key to another one, in one transaction. Returns their number.
    async fn move_memories(&self, from: &str, to: &str) -> Result<u64, StoreError>;
}
