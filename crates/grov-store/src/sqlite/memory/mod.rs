//! Team memory: searched by terms, filled, listed and forgotten.

mod candidates;
mod forget;
mod ids;
mod import;
mod index;
mod listing;
mod lookup;
mod numbers;
mod parts;
mod postings;
mod supersede;
mod terms;
mod vectors;

pub(super) use index::{Entry, Indexing, fill, reindex_client_session, tasks_of};
pub(super) use terms::Terms;

use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{
    ImportReport, MemoryCandidates, MemoryQuestion, MemoryScope, MemorySearch, MemoryStats, MemoryStore,
    PerField, Redacted, Task, TaskId,
};
use std::ops::ControlFlow;
use time::OffsetDateTime;

/// The columns that hold how many terms a field has.
const LENGTHS: PerField<&str> = ["text_terms", "trace_terms", "path_terms", "file_terms"];

#[async_trait]
impl MemorySearch for SqliteStore {
    async fn candidates(&self, question: &MemoryQuestion<'_>) -> Result<MemoryCandidates, StoreError> {
        self.find_candidates(question).await
    }

    async fn newest(
        &self,
        scope: &MemoryScope,
        before: Option<OffsetDateTime>,
        limit: u32,
    ) -> Result<Vec<i64>, StoreError> {
        self.newest_documents(scope, before, limit).await
    }

    async fn memories(&self, tasks: &[TaskId]) -> Result<Vec<Task>, StoreError> {
        self.tasks_of(tasks).await
    }
}

#[async_trait]
impl MemoryStore for SqliteStore {
    async fn import(&self, tasks: &[Redacted<Task>]) -> Result<ImportReport, StoreError> {
        self.import_tasks(tasks).await
    }

    async fn export(
        &self,
        scope: Option<&MemoryScope>,
        after: Option<(OffsetDateTime, TaskId)>,
        limit: u32,
    ) -> Result<Vec<Task>, StoreError> {
        self.tasks_in_order(scope, after, limit).await
    }

    async fn ids_like(&self, part: &str, limit: u32) -> Result<Vec<TaskId>, StoreError> {
        self.matching_ids(part, limit).await
    }

    async fn replaced_by(&self, task: &TaskId) -> Result<Vec<TaskId>, StoreError> {
        self.replaced_ids(task).await
    }

    async fn supersede(&self, old: &TaskId, by: Option<&TaskId>) -> Result<bool, StoreError> {
        self.replace_knowledge(old, by).await
    }

    async fn forget(&self, tasks: &[TaskId]) -> Result<Vec<TaskId>, StoreError> {
        self.forget_tasks(tasks).await
    }

    async fn memory_stats(&self, scope: Option<&MemoryScope>) -> Result<MemoryStats, StoreError> {
        self.count_memories(scope).await
    }

    async fn each_memory(
        &self,
        scope: &MemoryScope,
        visit: &mut (dyn FnMut(Task) -> ControlFlow<()> + Send),
    ) -> Result<(), StoreError> {
        self.visit_memories(scope, visit).await
    }
}
