//! Stores records in SQLite: migrations, spool, batching writer. It accepts redacted values only.
//!
//! Entry points: [`SqliteStore`] implements the store ports of `grov-domain` for short and long-running processes.
//! [`BatchWriter`] is the record sink of a long-running process. [`Spool`] keeps records while the store is
//! unavailable. The feature `contract` adds a test suite that every backend must pass.
//!
//! This crate does no HTTP, ranking or model calls. It contains all SQL of the workspace.
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
