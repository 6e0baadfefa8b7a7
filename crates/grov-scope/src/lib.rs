//! Checks whether an action stays within the goal's contract. Each finding has a reason.
//!
//! Entry point: [`Rules`] follows one conversation, action by action. [`NormalizedPath`], [`Pattern`] and [`FileKind`]
//! compare files as text; [`words`], [`names`] and [`phrases`] parse what a person typed.
//!
//! The crate uses no model, no store and no file system: paths are compared as text.
#![forbid(unsafe_code)]

mod analyzed_action;
mod association;
mod by_beginning;
mod consent;
mod constraints;
mod contract;
mod danger;
mod edits;
mod essential_words;
mod file_kind;
mod finding;
mod history;
mod manifest;
mod model_pattern;
pub mod names;
mod normalized_path;
mod out_of_scope;
mod pattern;
pub mod phrases;
mod relatedness;
mod repetition;
mod review_first;
mod rules;
mod spaced_path;
pub mod words;

pub use analyzed_action::AnalyzedAction;
pub use consent::{agreed, answered, approved, is_assent};
pub use constraints::ReadClause;
pub use contract::asks_to_act;
pub use danger::RunScript;
pub use file_kind::{FileKind, is_build_output, is_temporary};
pub use normalized_path::{NormalizedPath, ProjectRoot};
pub use pattern::Pattern;
pub use review_first::{ReviewFirst, review_first};
pub use rules::{FORBIDDEN_COMMIT, FindingSubject, LimitOnFiles, Memo, OVERRULED, Rules, makes_commit};
