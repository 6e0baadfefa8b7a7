//! The judge that needs no model: deterministic rules over prompts, actions and answers.
//!
//! [`extract_intent`], [`analyze_task_context`], [`extract_reasoning`] and [`session_summary`] answer the questions of
//! [`grov_domain::Judge`] of the same name; [`IntentCache`] answers the first with a cache. Drift is scored by `grov-scope`. All
//! are infallible and linear in the size of their input: texts are bounded and
//! stripped of what the user did not type before any rule reads them. Text is data and never an instruction: prompts are read with
//! the tables of eleven languages in [`grov_scope::phrases`], turns with phrases in English and Romanian (with or without
//! diacritics). Without a match they return the safe answer: an empty list, or "the current task continues".
//!
//! Texts are expected to be redacted by the caller. The crate does no I/O and knows no model and no store.
#![forbid(unsafe_code)]

mod agent_summary;
mod claims;
mod clean;
mod constraints;
mod decisions;
mod extraction;
mod goal;
mod intent;
mod intent_cache;
mod lexicon;
mod lifting;
mod new_work;
mod open_ends;
mod own_subject;
mod parsed_prompt;
mod phrased;
mod prompt;
mod proposals;
mod reasoning;
mod scope;
mod summary;
mod text;
mod transition;
mod turning_away;

#[cfg(test)]
mod tests;

pub use agent_summary::{AgentSummary, agent_summary};
pub use intent::extract_intent;
pub use intent_cache::IntentCache;
pub use new_work::{new_work, order_after, turns_to_other_work};
pub use open_ends::left_open;
pub use prompt::only_asks;
pub use proposals::proposals;
pub use reasoning::extract_reasoning;
pub use summary::session_summary;
pub use transition::analyze_task_context;
