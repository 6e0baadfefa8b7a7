//! What an agent is held to, and how it is brought back: what both paths of drift share.
//!
//! Entry point: [`Agreement`] makes a goal contract of what the user typed.
//!
//! It does not know how actions are seen, where states are kept, clocks or models: what prompts ask for it is told by an
//! [`IntentReader`].
#![forbid(unsafe_code)]

mod holding;
#[cfg(test)]
mod testing;

pub use holding::{Agreement, IntentReader, TaskGoal, instructions};
