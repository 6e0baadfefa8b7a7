//! Which past knowledge fits this prompt.
//!
//! Entry points: [`search`] ranks the memories of a scope for a [`Query`] through the port
//! [`MemorySearch`](grov_domain::MemorySearch). Every [`Found`] says which [`Signal`] gave which share of its score, and
//! [`Ranking`] names each number that ranking depends on. [`Candidates`] is the pure half: the same evidence gives the
//! same order.
//!
//! [`EmbeddingWork`] has a model embed memories in the background, and [`search_by_meaning`] ranks with its help: an extra
//! that no request waits for.
//!
//! [`asks`] says whether a prompt is worth a question at all, [`files_named`] which files it names; [`recall`] loads
//! what fits, [`demote`] holds back what is stale, [`tell`] makes the text for the agent, and [`suspicions`] finds what in a memory speaks to the agent instead of about
//! the work.
//!
//! This crate knows no SQL, no HTTP and no clock: the time of a question is part of it.
#![forbid(unsafe_code)]

mod asks;
mod candidates;
mod commonplace;
mod dense;
mod embedding;
mod files;
mod mentions;
mod query;
mod ranking;
mod recall;
mod relevance;
mod search;
mod suspicion;
mod tell;
mod text;
mod time;
mod trifles;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;

pub use asks::{Asked, asks};
pub use candidates::{Candidates, Found, Share, Signal};
pub use dense::{ByMeaning, search_by_meaning};
pub use embedding::{EmbeddingState, EmbeddingStatus, EmbeddingWork};
pub use files::CompanionFile;
pub use grov_session::quote::{self, estimated_tokens};
pub use mentions::files_named;
pub use query::{Query, Terms};
pub use ranking::Ranking;
pub use recall::{Freshness, Recalled, demote, recall};
pub use search::search;
pub use suspicion::{Suspicion, SuspicionKind, suspicions};
pub use tell::{Budget, FileNote, Told, short_id, tell};
