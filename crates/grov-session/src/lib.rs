//! The story of a session, told once for every path: what the agent is held to, where it stands, and how it is brought back.
//!
//! Entry points: [`Agreement`] makes a goal contract of what the user typed; [`level`] tells how strongly a score is
//! corrected, [`way_back`] where to go from what was found, [`correction`] puts it into words; [`quote`] makes foreign text
//! fit to be quoted.
//!
//! It does not know clocks, stores, models, HTTP or files, nor which path feeds it.
#![forbid(unsafe_code)]

pub mod correction;
pub mod doubt;
mod holding;
pub mod level;
pub mod objection;
pub mod quote;
#[cfg(test)]
mod testing;
pub mod way_back;

pub use holding::{Agreement, IntentReader, TaskGoal, instructions, kept_of};
