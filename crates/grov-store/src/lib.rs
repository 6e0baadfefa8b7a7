//! Records in SQLite: migrations, spool, batching writer. It takes redacted values alone.
//!
//! Entry points: [`SqliteStore`] implements the store ports of `grov-domain`, for short processes and, opening its
//! database again after faults, for long-running ones; [`BatchWriter`] is the sink that a long-running process hands its
//! records to; [`Spool`] keeps records while no store takes them; `contract` (feature of that name) is the test suite that
//! any backend must pass.
//!
//! This crate knows no HTTP, ranks nothing and asks no model. No SQL is written anywhere else.
#![forbid(unsafe_code)]

mod files;
mod spool;
mod sqlite;
mod stored_form;
mod writer;

#[cfg(feature = "contract")]
pub mod contract;

pub use files::{set_aside, set_aside_databases};
pub use spool::{DrainReport, Spool, SpoolError, drain_spool};
pub use sqlite::{IntegrityReport, OnCorruption, OpenOptions, SqliteOpener, SqliteStore};
pub use writer::{BatchWriter, WriterOptions};
