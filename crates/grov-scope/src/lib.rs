//! Is this action inside the goal's contract? Findings with a reason each.
//!
//! Entry point: [`Rules`] follows one conversation, action by action. [`Place`], [`Pattern`] and [`FileKind`] compare
//! files as text; [`words`] and [`names`] read what a person typed.
//!
//! It knows no model, no store and no file system: paths are compared as text.
#![forbid(unsafe_code)]

mod contract;
mod danger;
mod deed;
mod history;
mod kinds;
mod limits;
pub mod names;
mod neighbours;
mod outside;
mod pattern;
mod place;
mod relatedness;
mod repetition;
mod rules;
pub mod words;

pub use deed::Deed;
pub use history::Activity;
pub use kinds::{FileKind, is_made_by_build, is_temporary};
pub use neighbours::Neighbour;
pub use pattern::Pattern;
pub use place::{Place, Root};
pub use rules::{Memo, Rules, Subject};
