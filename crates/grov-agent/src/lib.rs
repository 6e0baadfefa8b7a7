//! The agent service without I/O: what the agent of a project decides, knows and remembers.
//!
//! - [`ChatService`] runs a chat: retrieve, assemble, generate, validate, store. The answer is [`Decision::Act`],
//!   [`Decision::Ask`] or [`Decision::Noop`].
//! - [`Ingestor`] turns uploads into chunks; [`Retriever`] finds them again, together with governed memory.
//! - [`ToolCall::report`] and [`MemoryItem::change`] are the state machines of tool calls and memory.
//! - [`AgentStore`] is the port to the database.
//!
//! The crate knows no SQL, no HTTP, no files and no environment.
#![forbid(unsafe_code)]

mod chat;
mod document;
mod ids;
mod ingest;
mod json_text;
mod memory;
mod names;
mod phrases;
mod project;
mod response;
mod retrieve;
mod search;
mod sharing;
mod store;
mod subject;
mod thread;
mod tokens;
mod tool;
mod tool_call;
mod webhook;

pub use chat::{
    ChatAnswer, ChatFailed, ChatRequest, ChatService, ChatSettings, Progress, RenderReplay, Stage,
};
pub use document::{Category, Chunk, Document, DocumentStatus};
pub use ids::{
    ChunkId, DocumentId, EventId, KeyId, MemoryItemId, MessageId, ProjectId, ThreadId, ToolCallId,
};
pub use ingest::{
    IngestFailed, Ingested, Ingestor, MAX_DOCUMENT_BYTES, MAX_TITLE_BYTES, Prepared, ReadPdf, Upload,
    is_document_name, pdf_text, prepare, prepare_with,
};
pub use memory::{
    ChangeRefused, Evidence, EvidenceKind, METRIC_LIFETIME, MemoryChange, MemoryItem, MemoryStatus,
    MemoryType, Proposal, ProposeFailed, Proposed, propose,
};
pub use project::{Key, KeyRole, Project};
pub use response::{Citation, Decision, Response, SourceKind};
pub use retrieve::{OlderEmbedders, Passage, PassageDocument, Retrieved, Retriever, Why};
pub use search::{FoundChunk, FoundItem, RECENT_EVENTS, SearchBy, SearchFilter, SearchScope, Situation};
pub use sharing::{Feed, FeedChange, Put, SharedRecord, SharingStore};
pub use store::{
    AgentStore, AgentStoreError, DatabaseHealth, DocumentStore, Embeddable, EmbeddedShare, Listed,
    MemoryFilter, MemoryItemStore, NewChunk, NewDocument, NewEvent, NewTurn, OutboxStore, Page, PendingEvent,
    ProjectStore, Replay, ReplayOf, Reported, SearchStore, StoredDocument, ThreadStore, ToolCallFilter,
    ToolCallStore,
};
pub use thread::{Message, MessageRole, Thread, ThreadSummary};
pub use tool::{FieldError, Risk, Tool, Tools};
pub use tool_call::{
    CALL_LIFETIME, PROPOSE_ADD, PROPOSE_UPDATE, ReportRefused, ToolCall, ToolCallStatus, ToolReport,
};
pub use webhook::{CALLBACK_PATH, memory_proposed, tool_event};
