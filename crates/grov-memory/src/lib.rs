//! Which past knowledge fits this prompt.
//!
//! Entry points: [`search`] ranks the memories of a scope for a [`Query`] through the port
//! [`MemoryStore`](grov_domain::MemoryStore). Every [`Found`] says which [`Signal`] gave which share of its score, and
//! [`Ranking`] names each number that ranking depends on. [`Candidates`] is the pure half: the same evidence gives the
//! same order.
//!
//! This crate knows no SQL, no HTTP and no clock: the time of a question is part of it.
#![forbid(unsafe_code)]

mod candidates;
mod files;
mod query;
mod ranking;
mod search;
mod text;
mod time;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;

pub use candidates::{Candidates, Found, Share, Signal};
pub use files::CompanionFile;
pub use query::{Query, Terms};
pub use ranking::Ranking;
pub use search::search;
