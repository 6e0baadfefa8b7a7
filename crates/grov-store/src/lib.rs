//! Records in SQLite: migrations, spool, batching writer. It takes redacted values alone.
//!
//! Entry points: [`SqliteStore`] implements the store ports of `grov-domain`; [`BatchWriter`] is the sink that a
//! long-running process hands its records to; [`ReopeningStore`] stands in front of a store that may not be there
//! yet; [`Spool`] keeps records while no store takes them; `contract` (feature of that name) is the test suite that
//! any backend must pass.
//!
//! This crate knows no HTTP, ranks nothing and asks no model. No SQL is written anywhere else.
#![forbid(unsafe_code)]

mod door;
mod files;
mod reopening;
mod spool;
mod sqlite;
mod writer;

#[cfg(feature = "contract")]
pub mod contract;

pub use files::{set_aside, set_aside_databases};
pub use reopening::{OnCorruption, ReopeningStore};
pub use spool::{DrainReport, Spool, SpoolError, drain_spool, spool_append};
pub use sqlite::{Examination, OpenOptions, SqliteStore};
pub use writer::{BatchWriter, WriterOptions};
