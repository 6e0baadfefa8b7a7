//! Finding past work again: the port through which memory is searched, filled, listed and emptied.
//!
//! A store answers what stands where; what fits a prompt is decided by whoever asks. Terms come from
//! [`words`](crate::words), and from [`file_term`] and [`path_term`] for files.

use crate::{StoreError, Task, TaskId, TaskStatus, file_name};
use async_trait::async_trait;
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
const LONGEST_PATH: usize = 512;

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
    term.extend(path.chars().take(LONGEST_PATH).map(piece));
    term
}

/// How much a scope holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryExtent {
    /// Memories.
    pub documents: u64,
    /// Terms in all of them, by field.
    pub lengths: PerField<u64>,
}

/// How often a term stands in a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting {
    /// The store's number of the memory.
    pub document: i64,
    /// How often, by field; more than fits stays at the most that does.
    pub counts: PerField<u16>,
}

/// What the store knows of a term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermMatch {
    /// In how many memories of the scope it stands.
    pub frequency: u64,
    /// Where it stands, or the newest of these places where not all may be read; `None` when rarer terms used up what may.
    pub postings: Option<Vec<Posting>>,
}

/// The answer to a lookup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermMatches {
    /// What was searched.
    pub extent: MemoryExtent,
    /// For each term that was asked for, in the same order.
    pub terms: Vec<TermMatch>,
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
    /// Where terms stand. At most `budget` postings are read: all of the rarest terms, as far as that goes, and none of the
    /// others. Of few terms, or where not even the rarest fits, the newest postings of the first that does not.
    async fn lookup(
        &self,
        scope: &MemoryScope,
        terms: &[String],
        budget: u64,
    ) -> Result<TermMatches, StoreError>;
    /// These memories, as far as they are older than `before`; in any order.
    async fn documents(
        &self,
        documents: &[i64],
        before: Option<OffsetDateTime>,
    ) -> Result<Vec<MemoryDocument>, StoreError>;
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
    async fn import(&self, tasks: &[Task]) -> Result<ImportReport, StoreError>;
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
