//! The nouns and the ports of Grov: what a session, an exchange, a step and a task are, and the traits
//! through which the other crates reach a store or a clock.
//!
//! Plain data and traits only. This crate does no I/O, knows no wire format, no SQL and no HTTP.
#![forbid(unsafe_code)]

mod action;
mod clock;
mod exchange;
mod ids;
mod memory;
mod project;
mod session;
mod store;

pub use action::{Action, ActionType, Effect, EffectKind};
pub use clock::{Clock, SystemClock};
pub use exchange::{ExchangeKind, ExchangeRecord, Outcome, Prompt, SideRequest, Step, TokenUsage};
pub use ids::{AgentId, ClientSessionId, DriftEventId, ExchangeId, SessionId, StepId, TaskId};
pub use memory::{Decision, DriftEvent, FileReasoning, Task, TaskStatus, TriggerReason};
pub use project::Project;
pub use session::{SessionMode, SessionState, SessionStatus, SessionSummary, StepRow, TaskType, TokenTotals};
pub use store::{
    DriftStore, ExchangeStore, FileReasoningStore, MaintenanceStore, ProjectStatus, PruneReport, RecordSink,
    Retention, SessionFilter, SessionStore, SinkHealth, Store, StoreError, StoreStats, TableStats, TaskStore,
};
