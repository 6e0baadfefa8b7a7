//! Is this action inside the goal's contract? Findings with a reason each.
//!
//! Entry point: [`Rules`] follows one conversation, action by action.
//!
//! It knows no model, no store and no file system: paths are compared as text.
#![forbid(unsafe_code)]

mod rules;

pub use rules::Rules;
