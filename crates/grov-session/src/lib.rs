//! The session engine: follows a session of a coding agent, keeps its goal contract, and decides when the agent is
//! corrected.
//!
//! [`SessionEngine`] takes [`SessionEvent`]s and returns [`Effects`]: verdicts to record, corrections to deliver and
//! questions to ask a judge. [`tasks`] assigns turns to tasks, [`capture`] selects what is saved of a task to team
//! memory, and [`review`] marks saved tasks that need a review. [`GoalContractBuilder`] derives a goal contract from
//! prompts, [`correction`] writes the texts of corrections, and [`quote`] makes untrusted text safe to quote.
//!
//! The crate has no clock and does no I/O. Callers supply times, ids and stored data. The same engine follows sessions
//! of the hook path and of the proxy path, which differ in their [`Policy`].
//!
//! # Example
//!
//! The user forbids changes below `docs/`, and the agent edits a file there:
//!
//! ```
//! use grov_domain::{
//!     ActionSketch, ActionType, ClientSessionId, CorrectionId, GoalEdit, GoalEditId, GoalEditKind, Intent,
//!     IntentQuestion, Rule,
//! };
//! use grov_session::{EventContext, ObservedAction, Policy, SessionEngine, SessionEvent};
//! use std::sync::Arc;
//! use time::OffsetDateTime;
//!
//! let at = OffsetDateTime::UNIX_EPOCH;
//! let session = ClientSessionId::new("session");
//! let reader = Arc::new(|question: &IntentQuestion| Intent {
//!     goal: question.prompts.last().cloned().unwrap_or_default(),
//!     ..Intent::default()
//! });
//! let forbidden = GoalEdit {
//!     id: GoalEditId::fresh(),
//!     client_session_id: session.clone(),
//!     kind: GoalEditKind::Forbid,
//!     text: "docs/**".to_owned(),
//!     at,
//!     since_prompt: None,
//! };
//! let mut engine = SessionEngine::new(session.clone(), Some("/home/me/app"), Policy::PER_ACTION, reader, at)
//!     .start_with(Vec::new(), &[forbidden], 0);
//! let context = EventContext {
//!     at,
//!     correction_id: CorrectionId::new("first"),
//!     task: session.first_task(),
//! };
//!
//! let prompt = SessionEvent::Prompt { text: "Fix the token refresh", arrived_at: at };
//! engine.apply(prompt, &context);
//! let edit = ObservedAction {
//!     action: ActionSketch {
//!         files: vec!["/home/me/app/docs/guide.md".to_owned()],
//!         ..ActionSketch::empty(ActionType::Edit)
//!     },
//!     call: Some("call-1".to_owned()),
//!     step: None,
//!     is_delegated: false,
//! };
//! let effects = engine.apply(SessionEvent::Response(vec![edit]), &context);
//!
//! assert_eq!(effects.assessed[0].assessment.findings[0].rule, Rule::Constraint);
//! let correction = engine.drift().deliverable_correction(at, false).cloned().unwrap();
//! assert!(correction.text.contains("docs/guide.md"));
//! engine.mark_delivered(&correction, at);
//! ```
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
mod findings;
mod judge_request;
mod judged_words;
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

pub use assessed_action::{AssessedAction, is_about_subagent};
pub use contract_builder::{GoalContractBuilder, IntentReader, ReadIntent, instructions, sanitize_prompt};
pub use contract_refresh::{ContractInputs, ContractRefresh};
pub use engine::{CheckResult, SessionEngine};
pub use event::{CallResult, Effects, ObservedAction, PendingQuestion, SessionEvent};
pub use judge_request::{JudgeRequest, JudgeTrigger, RequestKind};
pub use policy::{Delivery, Policy};
pub use preload::{MergedHistory, PendingLoad, Reassessed, StoredHistory};
pub use recheck::PendingRecheck;
pub use replay::{DeliveredCorrection, Replay, SessionReplay, replay};
pub use snapshot::EngineSnapshot;
pub use state_machine::{DriftStateMachine, EventContext, Position, Transition};
