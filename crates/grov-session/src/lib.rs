//! The drift engine: follows one session, keeps its goal contract and decides when the agent is corrected.
//!
//! Entry points: [`SessionEngine`] takes [`SessionEvent`]s and returns [`Effects`]. [`GoalContractBuilder`] derives a
//! goal contract from prompts; [`level`] maps a score to the strength of a correction, [`recovery_plan`] lists the
//! steps back to the goal, [`correction`] writes the text and [`quote`] makes untrusted text safe to quote. [`tasks`]
//! assigns turns to tasks, [`capture`] selects what is saved to team memory, and [`review`] marks saved tasks that need
//! a review.
//!
//! This crate has no clock, store, model, HTTP or file access, and does not know which path feeds it.
#![forbid(unsafe_code)]

mod action_batch;
mod assessed_action;
pub mod capture;
mod contract_builder;
mod contract_refresh;
pub mod correction;
mod doubt;
mod engine;
mod event;
mod judge_request;
pub mod level;
pub mod objection;
mod permissions;
mod policy;
mod preload;
pub mod quote;
mod recheck;
mod recovery_plan;
mod replay;
pub mod review;
mod snapshot;
mod state_machine;
pub mod tasks;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod verdict;
mod violation;

pub use assessed_action::AssessedAction;
pub use contract_builder::{GoalContractBuilder, IntentReader, instructions, sanitize_prompt};
pub use contract_refresh::{ContractInputs, ContractRefresh};
pub use engine::{CheckResult, SessionEngine};
pub use event::{CallResult, Effects, ObservedAction, PendingQuestion, SessionEvent};
pub use judge_request::{JudgeRequest, JudgeTrigger, RequestKind};
pub use policy::{Delivery, Policy};
pub use preload::{MergedHistory, PendingLoad, Reassessed, StoredHistory};
pub use recheck::PendingRecheck;
pub use replay::{DeliveredCorrection, Replay, replay};
pub use snapshot::EngineSnapshot;
pub use state_machine::{DriftStateMachine, EventContext, Position, Transition};
