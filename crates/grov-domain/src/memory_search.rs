//! Finding past work again: the port through which memory is searched, filled, listed and emptied.
//!
//! A store answers in which memories terms stand and how often; what fits a prompt is decided by the caller. Terms come from
//! [`words`](crate::words), and from [`file_term`] and [`path_term`] for files.

use crate::{StoreError, Task, TaskId, TaskStatus, file_name};
use async_trait::async_trait;
use grov_redact::Redacted;
use std::ops::ControlFlow;
use time::OffsetDateTime;

/// Whose memory is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryScope {
    /// The project's key.
    pub project_path: String,
    /// Its remote: memories recorded elsewhere under the same remote belong to it too.
    pub project_remote: Option<String>,
}

/// Where a term stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryField {
    /// What was asked and the goal, decisions, constraints and tags.
    Text,
    /// What was done and found.
    Trace,
    /// The words of the paths.
    Path,
    /// Files as wholes: [`file_term`] and [`path_term`].
    File,
}

impl MemoryField {
    /// All of them, in the order in which they are stored.
    pub const ALL: [Self; 4] = [Self::Text, Self::Trace, Self::Path, Self::File];
}

/// One number for each [`MemoryField`], in the order of [`MemoryField::ALL`].
pub type PerField<T> = [T; 4];

/// Characters of a path that count.
const MAX_PATH: usize = 512;

/// The term of all files of that name, whatever folder they are in.
pub fn file_term(path: &str) -> String {
    solid("f:", &file_name(path))
}

/// The term of exactly this path, but for upper and lower case.
pub fn path_term(path: &str) -> String {
    solid("p:", path)
}

/// A term is one piece, whatever a path holds.
fn solid(mark: &str, path: &str) -> String {
    let piece = |character: char| match character {
        '"' | '\'' => '_',
        _ if character.is_whitespace() || character.is_control() => '_',
        _ => character.to_ascii_lowercase(),
    };
    let mut term = mark.to_owned();
    term.extend(path.chars().take(MAX_PATH).map(piece));
    term
}

/// What the memories of a scope are like, and how the terms of a question are spread over them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryStatistics {
    /// Memories.
    pub documents: u64,
    /// Terms in all of them, by field.
    pub lengths: PerField<u64>,
    /// For each term that was asked for, in the same order.
    pub terms: Vec<TermStatistics>,
}

/// How a term is spread over the memories of a scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TermStatistics {
    /// In how many memories it stands.
    pub frequency: u64,
    /// Whether memories were looked for by it: not if rarer terms used up the budget.
    pub is_read: bool,
}

impl MemoryStatistics {
    /// How telling a term is that stands in `frequency` memories (BM25's idf, kept above 0).
    pub fn rarity(&self, frequency: u64) -> f64 {
        let (frequency, documents) = (frequency as f64, self.documents as f64);
        ((documents - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln_1p()
    }
}

/// How often a term stands in a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermCount {
    /// The place of the term among those that were asked for.
    pub term: usize,
    /// How often, by field; more than fits stays at the most that does.
    pub counts: PerField<u16>,
}

/// What it is worth roughly that a term stands in a memory, without knowing how long the memory is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TermWeights {
    /// How soon more of the same term stops counting (BM25's k1).
    pub saturation: f64,
    /// What a place in each field is worth.
    pub fields: PerField<f64>,
}

impl TermWeights {
    /// The worth of a term that is as telling as this.
    pub fn worth(&self, rarity: f64, counts: PerField<u16>) -> f64 {
        let weighted = self.fields.iter().zip(counts);
        let count: f64 = weighted.map(|(weight, count)| weight * f64::from(count)).sum();
        rarity * count / (count + self.saturation)
    }
}

/// Which memories come first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CandidateOrder<'a> {
    /// Those in which the terms are worth most together. Where they are worth nothing is no candidate.
    Worth(TermWeights),
    /// The newest, but for those that are known already: of these only the counts are answered.
    Newest {
        /// The store's numbers of the memories that are known.
        known: &'a [i64],
    },
}

/// What memories are looked for by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryQuestion<'a> {
    /// Whose memories.
    pub scope: &'a MemoryScope,
    /// Terms, each once.
    pub terms: &'a [String],
    /// Only older memories.
    pub before: Option<OffsetDateTime>,
    /// Which come first.
    pub order: CandidateOrder<'a>,
    /// About so many of them; more where the first ones are not older than `before`.
    pub limit: usize,
    /// How many places of terms may be read: all of the rarest terms, as far as that goes, and none of the others. Of few
    /// terms, or where not even the rarest fits, the newest places of the first that does not.
    pub budget: u64,
}

/// A memory in which some of the terms stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryCandidate {
    /// The memory.
    pub document: MemoryDocument,
    /// Which terms stand in it, as far as they were read, in the order in which they were asked for.
    pub counts: Vec<TermCount>,
}

/// The memories in which some of the terms stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryCandidates {
    /// What they stand among.
    pub statistics: MemoryStatistics,
    /// In any order.
    pub found: Vec<MemoryCandidate>,
    /// Those of the memories that are known in which some of the terms stand.
    pub known: Vec<(i64, Vec<TermCount>)>,
}

/// A memory as far as ranking needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryDocument {
    /// The store's number of the memory.
    pub document: i64,
    /// The task.
    pub task_id: TaskId,
    /// When it was saved.
    pub created_at: OffsetDateTime,
    /// How it ended.
    pub status: TaskStatus,
    /// Number of terms, by field.
    pub lengths: PerField<u32>,
    /// Files it touched.
    pub files: Vec<String>,
    /// The task whose knowledge replaces this one's.
    pub superseded_by: Option<TaskId>,
}

/// What became of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Tasks that were not there before.
    pub added: u64,
    /// Tasks that replaced one of the same id or of the same session.
    pub replaced: u64,
    /// Tasks that were there just so.
    pub unchanged: u64,
    /// Tasks that were refused because another project has a task of that id or of that session.
    pub refused: Vec<RefusedImport>,
}

/// A task that was not imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedImport {
    /// Its id.
    pub id: TaskId,
    /// The project that it would have been taken from.
    pub project_path: String,
}

/// What a scope holds, for a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// Memories.
    pub memories: u64,
    /// Of them ended as complete, partial, abandoned.
    pub by_status: [u64; 3],
    /// Different files they touched.
    pub files: u64,
    /// When the oldest was saved.
    pub oldest: Option<OffsetDateTime>,
    /// When the newest was saved.
    pub newest: Option<OffsetDateTime>,
}

/// Team memory, to be searched. What is saved through [`TaskStore`](crate::TaskStore) is found here.
#[async_trait]
pub trait MemorySearch: Send + Sync {
    /// The memories in which some of the terms stand, as many as are asked for. Which of them fit is for the caller to say.
    async fn candidates(&self, question: &MemoryQuestion<'_>) -> Result<MemoryCandidates, StoreError>;
    /// The numbers of the newest memories of the scope that are older than `before`, newest first.
    async fn newest(
        &self,
        scope: &MemoryScope,
        before: Option<OffsetDateTime>,
        limit: u32,
    ) -> Result<Vec<i64>, StoreError>;
    /// These memories; those that are gone are left out; in the order asked for.
    async fn memories(&self, tasks: &[TaskId]) -> Result<Vec<Task>, StoreError>;
}

/// Team memory, to be filled, listed and emptied.
#[async_trait]
pub trait MemoryStore: Send + Sync {
    /// Saves tasks in one transaction, each replacing the one of its id in its project. A task of another project is
    /// neither moved nor overwritten.
    async fn import(&self, tasks: &[Redacted<Task>]) -> Result<ImportReport, StoreError>;
    /// Tasks of a scope, or of all projects, oldest first; those behind `after` (time and id of the last one seen).
    async fn export(
        &self,
        scope: Option<&MemoryScope>,
        after: Option<(OffsetDateTime, TaskId)>,
        limit: u32,
    ) -> Result<Vec<Task>, StoreError>;
    /// Visits the memories of a scope, oldest first, as they are at one moment: one that is saved anew meanwhile is visited
    /// once, as it was.
    async fn each_memory(
        &self,
        scope: &MemoryScope,
        visit: &mut (dyn FnMut(Task) -> ControlFlow<()> + Send),
    ) -> Result<(), StoreError>;
    /// Ids that begin or end with `part`, of all projects, at most `limit`, in their order.
    async fn ids_like(&self, part: &str, limit: u32) -> Result<Vec<TaskId>, StoreError>;
    /// The tasks whose knowledge this one's replaces directly, oldest first.
    async fn replaced_by(&self, task: &TaskId) -> Result<Vec<TaskId>, StoreError>;
    /// Says that what one task knew is replaced by what another knows, or (`None`) that it is not. `false`: one of them
    /// does not exist, they are the same, or the replacement would lead back to the first.
    async fn supersede(&self, old: &TaskId, by: Option<&TaskId>) -> Result<bool, StoreError>;
    /// Deletes tasks, all that was derived from them (text in the ledger of sessions included) and every trace of them on disk. Returns those that were there.
    async fn forget(&self, tasks: &[TaskId]) -> Result<Vec<TaskId>, StoreError>;
    /// Counts for a scope, or for all projects.
    async fn memory_stats(&self, scope: Option<&MemoryScope>) -> Result<MemoryStats, StoreError>;
}
