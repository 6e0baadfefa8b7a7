//! The data types of Grov (sessions, exchanges, steps, tasks) and its ports: the traits through which other crates
//! reach a store, a judge or a clock.
//!
//! Plain data and traits only. Stored rows serialize to the JSON that the command line prints, whose field names are a public
//! contract. This crate does no I/O and knows no wire format, SQL or HTTP. Of the other crates it
//! uses `grov-redact` alone: what is stored or sent is passed as [`Redacted`].
#![forbid(unsafe_code)]

mod action;
mod activity;
mod chat_model;
mod choose_memories;
mod client_dialect;
mod clock;
mod command;
mod common_words;
mod context;
mod cuts;
mod drift;
mod embedder;
mod exchange;
mod finding_mark;
mod free_text;
mod function_words;
mod goal;
mod hook_session;
mod ids;
mod inbox;
mod journal;
mod judge;
mod ledger;
mod link;
mod macros;
mod memory;
mod memory_edits;
mod memory_item;
mod memory_search;
mod model_screening;
mod project;
mod read_limits;
mod request_edits;
mod routed_usage;
mod session;
mod spending;
mod store;
mod text_change;
mod tokens;
mod transition;
mod word_list;
mod words;

pub use action::{Action, ActionType, Effect, EffectKind, StepOutcome};
pub use activity::{
    ActivityStore, Change, ChangeCursor, ChangeKind, ExchangeUsage, KnownSession, SessionActivity,
    UsageFilter,
};
pub use chat_model::{ChatCompletion, ChatError, ChatMessage, ChatModel, ChatPrompt, ChatRole};
pub use choose_memories::MemoryChoiceQuestion;
pub use client_dialect::ClientDialect;
pub use clock::{Clock, SystemClock, time_before};
pub use command::{Argument, CommandLine, ExecutionHost, Program, Role, is_shell, operands, program_name};
pub use common_words::{is_common_file, is_common_word};
pub use context::{Compaction, ContextReading, ContextStore, PointKind, PreparedSummary, SessionPoint};
pub use cuts::{ClearSummary, CutEffect, CutNote, CutStore, HistoryCut, LineageCuts, TrimmedResult};
pub use drift::{
    AskedCall, Assessment, Breach, BrokenConstraint, Consent, Correction, CorrectionLevel, CorrectionOutcome,
    DriftFilter, DriftState, DriftStore, Finding, GoalContract, GoalEdit, GoalEditKind, GoalStore,
    MAX_RELATED_CANDIDATES, OFF_GOAL_BELOW, RelatedSteps, Rule, StepVerdict,
};
pub use embedder::{
    EmbedError, Embedder, Embedding, EmbeddingProgress, EmbeddingStore, MAX_TEXT_BYTES, MAX_TEXTS, Unembedded,
};
pub use exchange::{
    ExchangeKind, ExchangeRecord, Outcome, Prompt, SideRequest, Step, StepResult, TokenUsage,
};
pub use finding_mark::{FindingMark, FindingMarkStore};
pub use function_words::{is_function_word, is_stop_word};
pub use goal::prompt_of_goal;
pub use grov_redact::{
    FreeText, OWN_TEXT_CLOSING, OWN_TEXT_OPENING, Redacted, beginning_of, beginning_to, both_ends, bounded,
    end_from, end_of, hidden_since, without_own_text,
};
pub use hook_session::{
    GuardRecord, GuardVerdict, HookCheck, HookProgress, HookSession, HookStep, HookStepResult, HookStore,
    PUT_BACK, PendingPrompt,
};
pub use ids::{
    AgentId, ClientSessionId, CorrectionId, DriftEventId, ExchangeId, GoalEditId, LlmCallId, MemoryItemId,
    ProjectId, SessionId, StepId, TaskId, fresh_uuid,
};
pub use inbox::{
    Changed, InboxItem, ItemFilter, ItemStore, MAX_PROPOSALS, MAX_WAITING, NOTICE_INTERVAL, ProposalMaterial,
    ProposalOutcome, ProposedItem, TaskProposals, derived_item_id, local_project_id,
};
pub use journal::{CacheDrop, Journal, JournalExchange, JournalPrompt, JournalStore};
pub use judge::{
    ActionSketch, DriftQuestion, DriftType, DriftVerdict, ForcedRecovery, ForcedRecoveryQuestion, Intent,
    IntentQuestion, Judge, Judged, JudgedBy, Reasoning, ReasoningQuestion, RecoveryStep, SessionDigest,
    Statement, StatementSource, SummaryQuestion, TaskAction, TaskAnalysis, TaskContextQuestion, TaskSketch,
};
pub use ledger::{
    HistoryKey, LedgerEntry, LedgerLineage, LedgerStore, LedgerUse, Lineage, LineageTip, NewLineage,
    SwitchScope, SwitchStore,
};
pub use link::{
    Conflict, Incoming, Link, LinkCounts, LinkState, LinkStore, LocalRecord, Outgoing, RemoteRecord,
    SharedKind, item_fingerprint,
};
pub use memory::{Decision, DriftEvent, FilePin, FileReasoning, Task, TaskStatus, TriggerReason};
pub use memory_edits::{MemoryEdits, MemoryLists};
pub use memory_item::{
    ChangeRefused, Evidence, EvidenceKind, MemoryChange, MemoryItem, MemoryStatus, MemoryType,
};
pub use memory_search::{
    CandidateOrder, ImportReport, MemoryCandidate, MemoryCandidates, MemoryDocument, MemoryField,
    MemoryProject, MemoryQuestion, MemoryScope, MemorySearch, MemoryStatistics, MemoryStats, MemoryStore,
    PerField, RefusedImport, TermCount, TermStatistics, TermWeights, file_term, path_term,
};
pub use model_screening::{Harm, HarmKind, ModelScreening, ScreeningQuestion, UnjudgedMemory};
pub use project::Project;
pub use read_limits::{LimitStore, LimitsQuestion, PromptReading, ReadLimit, ReadLimits, ReadRequest};
pub use request_edits::{AddedPiece, RequestChange, RequestEdits, block_key, end_as_sent};
pub use routed_usage::{RoutedUsage, RoutedUsageStore};
pub use session::{SessionMode, SessionState, SessionStatus, SessionSummary, StepRow, TaskType, active_task};
pub use spending::{CallFilter, CallOutcome, LlmCall, MicroUsd, Purpose, Reservation, SpendingStore};
pub use store::{
    ExchangeStore, FileReasoningStore, MaintenanceStore, ProjectStatus, PruneReport, RecordSink, Retention,
    SessionFilter, SessionStore, SinkHealth, Store, StoreConnection, StoreError, StoreOpener, StoreStats,
    TableStats, TaskStore,
};
pub use text_change::TextChange;
pub use tokens::estimated_tokens;
pub use transition::{Applied, Move, OrchestrationStore, TaskTransition};
pub use word_list::has_word;
pub use words::{file_name, identifiers, is_identifier, path_words, unstemmed_words, words};
