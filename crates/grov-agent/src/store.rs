//! The store ports of the agent service, independent of the database.
//!
//! Methods that store free text take it as [`Redacted`]. Each method is one transaction: it happens completely or not at all,
//! also when the process is killed. Ids of another project are not found.

use crate::SharingStore;
use crate::{
    Category, ChangeRefused, Chunk, ChunkId, Document, DocumentId, EventId, FoundChunk, FoundItem, Key,
    KeyId, MemoryChange, MemoryItem, MemoryItemId, MemoryStatus, MemoryType, Message, MessageId, Project,
    ProjectId, ReportRefused, SearchBy, SearchScope, Situation, Thread, ThreadId, ThreadSummary, Tool,
    ToolCall, ToolCallId, ToolCallStatus, ToolReport, Tools,
};
use async_trait::async_trait;
use grov_domain::Embedding;
use grov_redact::Redacted;
use std::ops::Range;
use std::time::Duration;
use time::OffsetDateTime;

/// An error of a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentStoreError {
    /// What was named does not exist, or is in another project.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// Something with this name exists.
    #[error("{0}")]
    Conflict(String),
    /// A report about a tool call was refused.
    #[error(transparent)]
    ReportRefused(#[from] ReportRefused),
    /// A change of a memory item was refused.
    #[error(transparent)]
    ChangeRefused(#[from] ChangeRefused),
    /// The database is locked, restarting or out of connections. The same call may succeed later.
    #[error("the database is not available at present: {0}")]
    Unavailable(String),
    /// The database cannot be written: the disk is full, or permission is denied.
    #[error("the database cannot be written: {0}")]
    NotWritable(String),
    /// The schema is of a newer version.
    #[error("the database has schema {found}, this version knows up to {known}; update grov-agentd")]
    NewerSchema {
        /// The schema of the database.
        found: i64,
        /// The newest known schema.
        known: i64,
    },
    /// Any other error.
    #[error("the database failed: {0}")]
    Other(String),
}

/// A page of a list, newest first unless the method says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The most entries.
    pub limit: u32,
    /// Continue behind this entry: the `next` of the previous answer.
    pub after: Option<String>,
}

/// The entries of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed<T> {
    /// The entries.
    pub items: Vec<T>,
    /// Where the next page starts; `None` at the end.
    pub next: Option<String>,
}

/// Projects and keys.
#[async_trait]
pub trait ProjectStore: Send + Sync {
    /// Creates a project.
    async fn create_project(&self, project: &Redacted<Project>) -> Result<(), AgentStoreError>;
    /// Returns a project.
    async fn project(&self, id: ProjectId) -> Result<Option<Project>, AgentStoreError>;
    /// Lists projects, those of `only` if it is not empty.
    async fn projects(&self, only: &[ProjectId], page: &Page) -> Result<Listed<Project>, AgentStoreError>;
    /// Changes the name or the role statement, or both. What is `None` stays. Returns the project as it is then.
    async fn change_project(
        &self,
        id: ProjectId,
        name: Option<&Redacted>,
        role_statement: Option<&Redacted>,
    ) -> Result<Project, AgentStoreError>;
    /// Deletes a project with everything in it. Returns whether it existed.
    async fn delete_project(&self, id: ProjectId) -> Result<bool, AgentStoreError>;
    /// Stores a key with the SHA-256 of its secret.
    async fn create_key(&self, key: &Key, secret_hash: &[u8; 32]) -> Result<(), AgentStoreError>;
    /// Lists all keys, oldest first.
    async fn keys(&self) -> Result<Vec<(Key, [u8; 32])>, AgentStoreError>;
    /// Revokes the key of this name. Returns its id, or `None` if there is no such key in force.
    async fn revoke_key(&self, name: &str, now: OffsetDateTime) -> Result<Option<KeyId>, AgentStoreError>;
}

/// A new version of a document.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// Its project.
    pub project: ProjectId,
    /// The title, which identifies the document in its project.
    pub title: Redacted,
    /// The category.
    pub category: Category,
    /// Its media type.
    pub content_type: String,
    /// SHA-256 of the stored content in hexadecimal.
    pub sha256: String,
    /// Size of the text in bytes.
    pub bytes: u64,
    /// The chunks in order.
    pub chunks: Vec<NewChunk>,
    /// When it arrived.
    pub now: OffsetDateTime,
}

/// A chunk of a [`NewDocument`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewChunk {
    /// Titles of the headings above it, outermost first.
    pub heading_path: Vec<Redacted>,
    /// The text.
    pub text: Redacted,
    /// Where it is in the document's text, in bytes.
    pub range: Range<u64>,
}

/// What storing a document did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDocument {
    /// The document.
    pub document: Document,
    /// Whether the content and the category were already stored, so that nothing was written.
    pub unchanged: bool,
    /// Number of chunks that kept their ids.
    pub kept: u32,
}

/// Makes the answer to a request with an `Idempotency-Key` from what was done; `None` without such a key.
pub type ReplayOf<'a, T> = &'a (dyn Fn(&T) -> Option<Replay> + Send + Sync);

/// Documents and their chunks.
#[async_trait]
pub trait DocumentStore: Send + Sync {
    /// As [`DocumentStore::store_document_once`], without an answer to keep.
    async fn store_document(&self, document: &NewDocument) -> Result<StoredDocument, AgentStoreError> {
        self.store_document_once(document, &|_| None).await
    }
    /// Stores a document or its new version, replacing its chunks. Chunks with the same text and heading path keep their ids
    /// and embeddings. Unless nothing changed, `replay` is stored with it; [`AgentStoreError::Conflict`] if an answer to the
    /// same `Idempotency-Key` is stored.
    async fn store_document_once(
        &self,
        document: &NewDocument,
        replay: ReplayOf<'_, StoredDocument>,
    ) -> Result<StoredDocument, AgentStoreError>;
    /// Returns a document.
    async fn document(&self, project: ProjectId, id: DocumentId)
    -> Result<Option<Document>, AgentStoreError>;
    /// Lists the documents of a project.
    async fn documents(&self, project: ProjectId, page: &Page) -> Result<Listed<Document>, AgentStoreError>;
    /// Lists the chunks of a document in order.
    async fn chunks(
        &self,
        project: ProjectId,
        id: DocumentId,
        page: &Page,
    ) -> Result<Listed<Chunk>, AgentStoreError>;
    /// Deletes a document, its chunks and their embeddings. Returns whether it existed.
    async fn delete_document(&self, project: ProjectId, id: DocumentId) -> Result<bool, AgentStoreError>;
    /// Whether a document of any project still has this content, so that its upload must stay.
    async fn is_content_used(&self, sha256: &str) -> Result<bool, AgentStoreError>;
}

/// Everything that one chat stores, in one transaction.
#[derive(Clone, Debug)]
pub struct NewTurn {
    /// The project.
    pub project: ProjectId,
    /// The thread.
    pub thread: ThreadId,
    /// Whether the thread has to be created.
    pub is_new_thread: bool,
    /// The messages in order: of the user or the tool, then of the agent.
    pub messages: Vec<Redacted<Message>>,
    /// The calls that the agent requested.
    pub tool_calls: Vec<Redacted<ToolCall>>,
    /// The memory that the agent proposed, or that was accepted at once.
    pub memory_items: Vec<Redacted<MemoryItem>>,
    /// The tools that the caller offered, for [`ThreadStore::thread_tools`].
    pub tools: Redacted<Tools>,
    /// The new summary of the older part of the thread.
    pub summary: Option<Redacted<ThreadSummary>>,
    /// Events for the webhook.
    pub events: Vec<NewEvent>,
    /// The answer to a request with an `Idempotency-Key`.
    pub replay: Option<Replay>,
    /// The time of the turn.
    pub now: OffsetDateTime,
}

/// Threads and messages.
#[async_trait]
pub trait ThreadStore: Send + Sync {
    /// Stores a turn. [`AgentStoreError::Conflict`] if an answer to the same `Idempotency-Key` is stored.
    async fn store_turn(&self, turn: &NewTurn) -> Result<(), AgentStoreError>;
    /// Returns a thread.
    async fn thread(&self, id: ThreadId) -> Result<Option<Thread>, AgentStoreError>;
    /// Lists the threads of a project.
    async fn threads(&self, project: ProjectId, page: &Page) -> Result<Listed<Thread>, AgentStoreError>;
    /// Lists the messages of a thread, oldest first.
    async fn messages(&self, thread: ThreadId, page: &Page) -> Result<Listed<Message>, AgentStoreError>;
    /// Returns the newest messages of a thread, oldest first, and the summary of what came before.
    async fn history(
        &self,
        thread: ThreadId,
        limit: u32,
    ) -> Result<(Option<ThreadSummary>, Vec<Message>), AgentStoreError>;
    /// Returns the tools of the newest turn of a thread.
    async fn thread_tools(&self, thread: ThreadId) -> Result<Vec<Tool>, AgentStoreError>;
    /// Deletes a thread with its messages. Its calls stay as records. Returns whether it existed.
    async fn delete_thread(&self, id: ThreadId) -> Result<bool, AgentStoreError>;
    /// Returns which of these messages exist in the project.
    async fn existing_messages(
        &self,
        project: ProjectId,
        ids: &[MessageId],
    ) -> Result<Vec<MessageId>, AgentStoreError>;
}

/// A stored report about a tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct Reported {
    /// The call as it is now.
    pub call: ToolCall,
    /// Whether the same report was stored before, so that nothing changed.
    pub is_repeat: bool,
}

/// Selects tool calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCallFilter {
    /// Only these projects; empty for all.
    pub projects: Vec<ProjectId>,
    /// Only this state.
    pub status: Option<ToolCallStatus>,
}

/// Tool calls.
#[async_trait]
pub trait ToolCallStore: Send + Sync {
    /// Returns a call. One whose time is over is [`ToolCallStatus::Expired`].
    async fn tool_call(
        &self,
        id: ToolCallId,
        now: OffsetDateTime,
    ) -> Result<Option<ToolCall>, AgentStoreError>;
    /// Lists calls.
    async fn tool_calls(
        &self,
        filter: &ToolCallFilter,
        page: &Page,
        now: OffsetDateTime,
    ) -> Result<Listed<ToolCall>, AgentStoreError>;
    /// Applies a report with [`ToolCall::report`]. The same report (`fingerprint`) as one that was applied before changes
    /// nothing and succeeds. If the call proposes memory, an approval or a rejection applies [`ToolCall::memory_change`] to the
    /// item in the same transaction, and the approved call becomes [`ToolCallStatus::Succeeded`]. Writes `events`.
    async fn report(
        &self,
        id: ToolCallId,
        report: &Redacted<ToolReport>,
        fingerprint: &[u8; 32],
        events: &[NewEvent],
        now: OffsetDateTime,
    ) -> Result<Reported, AgentStoreError>;
    /// Marks calls whose time is over as expired. Returns how many.
    async fn expire_tool_calls(&self, now: OffsetDateTime) -> Result<u64, AgentStoreError>;
}

/// Selects memory items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryFilter {
    /// Only these types; empty for all.
    pub types: Vec<MemoryType>,
    /// Only these states; empty for all.
    pub statuses: Vec<MemoryStatus>,
}

/// Governed memory.
#[async_trait]
pub trait MemoryItemStore: Send + Sync {
    /// Stores an item, and a call of `memory.propose_add` that decides it if one is given. Such a proposal is a conflict if an
    /// item in force or an open proposal has its words.
    async fn add_item(
        &self,
        item: &Redacted<MemoryItem>,
        call: Option<&Redacted<ToolCall>>,
        events: &[NewEvent],
    ) -> Result<(), AgentStoreError>;
    /// Returns an item.
    async fn item(&self, project: ProjectId, id: MemoryItemId)
    -> Result<Option<MemoryItem>, AgentStoreError>;
    /// Lists the items of a project.
    async fn items(
        &self,
        project: ProjectId,
        filter: &MemoryFilter,
        page: &Page,
    ) -> Result<Listed<MemoryItem>, AgentStoreError>;
    /// As [`MemoryItemStore::change_item_once`], without an answer to keep.
    async fn change_item(
        &self,
        project: ProjectId,
        id: MemoryItemId,
        change: &Redacted<MemoryChange>,
        decided_by: &Redacted,
        now: OffsetDateTime,
    ) -> Result<MemoryItem, AgentStoreError> {
        self.change_item_once(project, id, change, decided_by, &|_| None, now)
            .await
    }
    /// Changes an item with [`MemoryItem::change`]. Approving an item supersedes the one it names, or the one that took its
    /// place. A tool call that waits for the item is decided with it: the one whose [`ToolCall::memory_change`] is of the same
    /// kind. `replay` is stored with it;
    /// [`AgentStoreError::Conflict`] if an answer to the same `Idempotency-Key` is stored.
    async fn change_item_once(
        &self,
        project: ProjectId,
        id: MemoryItemId,
        change: &Redacted<MemoryChange>,
        decided_by: &Redacted,
        replay: ReplayOf<'_, MemoryItem>,
        now: OffsetDateTime,
    ) -> Result<MemoryItem, AgentStoreError>;
    /// Returns the situational picture of a project, with at most 200 items of a kind. A warning is written if there are more
    /// rules.
    async fn situation(&self, project: ProjectId, now: OffsetDateTime) -> Result<Situation, AgentStoreError>;
}

/// A chunk or an item without an embedding of the model in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Embeddable {
    /// A chunk.
    Chunk(ChunkId),
    /// A memory item.
    Item(MemoryItemId),
}

/// How much of a database is embedded by one model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmbeddedShare {
    /// Number of chunks and items.
    pub total: u64,
    /// Number of those with an embedding of the model, or that it cannot embed.
    pub done: u64,
}

/// Search by words and by vectors.
#[async_trait]
pub trait SearchStore: Send + Sync {
    /// Finds chunks, best first.
    async fn find_chunks(
        &self,
        by: &SearchBy<'_>,
        scope: &SearchScope<'_>,
    ) -> Result<Vec<FoundChunk>, AgentStoreError>;
    /// Finds items for which [`MemoryItem::is_in_force`] holds, best first.
    async fn find_items(
        &self,
        by: &SearchBy<'_>,
        scope: &SearchScope<'_>,
    ) -> Result<Vec<FoundItem>, AgentStoreError>;
    /// Registers the model in use and its dimension. Embeddings of other models stay until [`SearchStore::drop_other_models`].
    async fn use_model(&self, model: &str, dimension: usize) -> Result<(), AgentStoreError>;
    /// Returns the models that have embeddings, with their dimensions.
    async fn models(&self) -> Result<Vec<(String, usize)>, AgentStoreError>;
    /// Returns texts without an embedding of the model, at most `limit`.
    async fn unembedded(
        &self,
        model: &str,
        limit: u32,
    ) -> Result<Vec<(Embeddable, Redacted)>, AgentStoreError>;
    /// Stores embeddings of the model. `None` records that it cannot embed the text. What was deleted meanwhile is skipped.
    async fn store_embeddings(
        &self,
        model: &str,
        embeddings: &[(Embeddable, Option<Embedding>)],
    ) -> Result<(), AgentStoreError>;
    /// Deletes embeddings of all models but this one.
    async fn drop_other_models(&self, model: &str) -> Result<(), AgentStoreError>;
    /// Returns how much is embedded.
    async fn embedded_share(&self, model: &str) -> Result<EmbeddedShare, AgentStoreError>;
}

/// An event for the webhook.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    /// The key, which the receiver sees as `Idempotency-Key`.
    pub id: EventId,
    /// Its project.
    pub project: ProjectId,
    /// The JSON that is sent.
    pub body: Redacted,
}

/// An event that waits to be delivered.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingEvent {
    /// The key.
    pub id: EventId,
    /// The JSON that is sent.
    pub body: String,
    /// How often it was tried.
    pub attempts: u32,
    /// When it was written.
    pub created_at: OffsetDateTime,
}

/// The answer to a request with an `Idempotency-Key`.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The key that made the request.
    pub owner: KeyId,
    /// The `Idempotency-Key`.
    pub key: Redacted,
    /// SHA-256 of method, path and body.
    pub fingerprint: [u8; 32],
    /// The status of the answer.
    pub status: u16,
    /// The body of the answer.
    pub body: Redacted,
}

/// What is left to do when a process is killed, and what is kept to do it once.
#[async_trait]
pub trait OutboxStore: Send + Sync {
    /// Takes events that are due, so that no other process delivers them before `lease` is over.
    async fn take_events(
        &self,
        limit: u32,
        lease: Duration,
        now: OffsetDateTime,
    ) -> Result<Vec<PendingEvent>, AgentStoreError>;
    /// Deletes a delivered event.
    async fn delivered(&self, id: EventId) -> Result<(), AgentStoreError>;
    /// Tries an event again at a time, or gives it up with `None`; it stays for `doctor`.
    async fn postpone(&self, id: EventId, until: Option<OffsetDateTime>) -> Result<(), AgentStoreError>;
    /// Returns the stored answer to a key, if it is at most 24 hours old.
    async fn replay(
        &self,
        owner: KeyId,
        key: &Redacted,
        now: OffsetDateTime,
    ) -> Result<Option<Replay>, AgentStoreError>;
    /// Stores an answer; the first one stays.
    async fn store_replay(&self, replay: &Replay, now: OffsetDateTime) -> Result<(), AgentStoreError>;
    /// Deletes what is older than its lifetime: answers after 24 hours, expired metrics after 30 days.
    async fn tidy(&self, now: OffsetDateTime) -> Result<(), AgentStoreError>;
}

/// What the health page says about the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseHealth {
    /// `sqlite` or `postgresql`.
    pub kind: &'static str,
    /// `sqlite`, `pgvector` or `qdrant`.
    pub vectors: &'static str,
    /// Whether it answers.
    pub is_ok: bool,
    /// Whether searches by vectors are answered by what keeps them. If not, the database searches them itself.
    pub are_vectors_ok: bool,
}

/// All ports of the agent service.
#[async_trait]
pub trait AgentStore:
    ProjectStore
    + DocumentStore
    + ThreadStore
    + ToolCallStore
    + MemoryItemStore
    + SharingStore
    + SearchStore
    + OutboxStore
{
    /// Asks the database whether it answers.
    async fn health(&self) -> DatabaseHealth;
    /// Closes all connections.
    async fn close(&self);
}
