//! The story of a session, told once for every path: what the agent is held to, where it stands, and how it is brought back.
//!
//! Entry points: [`GoalContractBuilder`] makes a goal contract of what the user typed; [`level`] tells how strongly a score is
//! corrected, [`recovery_plan`] where to go from what was found, [`correction`] puts it into words; [`quote`] makes foreign text
//! fit to be quoted. [`tasks`] says which task a turn belongs to and when it is done, [`capture`] what of it goes to team memory,
//! [`review`] whether that needs a review.
//!
//! It does not know clocks, stores, models, HTTP or files, nor which path feeds it.
#![forbid(unsafe_code)]

mod action_batch;
mod assessed_action;
pub mod capture;
mod contract_builder;
pub mod correction;
pub mod doubt;
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
pub mod recovery_plan;
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
pub use contract_builder::{GoalContractBuilder, IntentReader, TaskGoal, instructions, sanitize_prompt};
pub use engine::{CheckResult, SessionEngine};
pub use event::{CallResult, Effects, ObservedAction, PendingQuestion, SessionEvent};
pub use judge_request::{JudgeRequest, JudgeTrigger, RequestKind};
pub use policy::{Delivery, Policy};
pub use preload::{
    ContractInputs, ContractRefresh, MergedHistory, PendingLoad, Reassessed, StoredAction, StoredHistory,
};
pub use recheck::PendingRecheck;
pub use replay::{DeliveredCorrection, Replay, ReplayedAction, replay};
pub use snapshot::EngineSnapshot;
pub use state_machine::{DriftStateMachine, EventContext, Position, Transition};
