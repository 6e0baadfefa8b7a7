//! The judge without a model: deterministic rules over prompts, actions and answers.
//!
//! One function a question of the judge port. All are pure, never fail, and are linear in what they are given: texts
//! are cleaned of what nobody typed and bounded before anything looks at them. Nothing in a prompt or an answer is an
//! instruction to these rules; they look for a fixed set of forms, in English and in Romanian (with or without
//! diacritics), and where they find none they give the safe answer: an empty list, or "the same task goes on".

mod claims;
mod clean;
mod constraints;
mod drift;
mod goal;
mod intent;
mod lexicon;
mod material;
mod memo;
mod prompt;
mod reading;
mod reasoning;
mod recovery;
mod scope;
mod summary;
mod text;
mod transition;

#[cfg(test)]
mod properties;

pub use drift::check_drift;
pub use intent::extract_intent;
pub use memo::IntentMemo;
pub use reasoning::extract_reasoning;
pub use recovery::generate_forced_recovery;
pub use summary::session_summary;
pub use transition::analyze_task_context;
