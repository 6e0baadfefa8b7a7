//! Which past knowledge fits this prompt.
//!
//! Entry points: [`search`] ranks the memories of a scope for a [`Query`] through the port
//! [`MemoryStore`](grov_domain::MemoryStore); [`rank`] is its pure half. Every [`Found`] says which [`Signal`] gave
//! which share of its score, and [`Ranking`] names each number that ranking depends on.
//!
//! This crate knows no SQL, no HTTP and no clock: the time of a query is part of it.
#![forbid(unsafe_code)]

mod query;
mod rank;
mod ranking;
mod search;

pub use query::{Query, Terms};
pub use rank::{Evidence, Found, Share, Signal, rank};
pub use ranking::Ranking;
pub use search::search;
