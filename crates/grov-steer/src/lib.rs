//! What an agent is held to, and how it is brought back: what all who talk to it share.
//!
//! Entry points: [`Agreement`] makes a goal contract of what the user typed; [`level`] tells how strongly a score is
//! corrected, [`way_back`] where to go from what was found, [`correction`] puts it into words; [`quote`] makes foreign text
//! fit to be quoted.
//!
//! It does not know how actions are judged, where states are kept, clocks or models: what prompts ask for it is told by an
//! [`IntentReader`].
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
