//! Tests of the store as a whole: on disk, under faults, between processes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod contract;
mod drift;
mod faults;
mod hooks;
mod memory;
mod memory_index;
mod open;
mod processes;
mod scrub_secrets;
mod spending;
mod spool;
mod support;
mod transitions;
mod writer;
