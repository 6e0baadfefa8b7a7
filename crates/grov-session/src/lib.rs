//! The story of a session, told once for every path: what the agent is held to, where it stands, and how it is brought back.
//!
//! Entry points: [`Agreement`] makes a goal contract of what the user typed; [`level`] tells how strongly a score is
//! corrected, [`way_back`] where to go from what was found, [`correction`] puts it into words; [`quote`] makes foreign text
//! fit to be quoted. [`tasks`] says which task a turn belongs to and when it is done, [`capture`] what of it goes to team memory,
//! [`review`] whether that needs a review.
//!
//! It does not know clocks, stores, models, HTTP or files, nor which path feeds it.
#![forbid(unsafe_code)]

mod assessed;
pub mod capture;
pub mod correction;
mod course;
pub mod doubt;
mod engine;
mod event;
mod holding;
mod inquiry;
pub mod level;
mod memo;
pub mod objection;
mod offence;
mod past;
mod permissions;
mod policy;
pub mod quote;
mod reconsider;
mod replay;
pub mod review;
mod stretch;
pub mod tasks;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod verdict;
pub mod way_back;

pub use assessed::Assessed;
pub use course::{Course, Moment, Progress, Standing};
pub use engine::{Look, SessionEngine};
pub use event::{Effects, Observed, Outcome, Question, SessionEvent};
pub use holding::{Agreement, IntentReader, TaskGoal, instructions, kept_of};
pub use inquiry::{Asked, Inquiry, Occasion};
pub use memo::Memo;
pub use past::{Done, Found, Refresh, Snapshot, Stored, Terms, UnderWay};
pub use policy::{Delivery, Policy};
pub use reconsider::Reconsidered;
pub use replay::{Replay, Replayed, Said, replay};
