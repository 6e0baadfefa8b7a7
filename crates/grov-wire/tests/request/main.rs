//! Tests of the public API for requests: index, skeleton and edits, compared with `serde_json` trees.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests stop at the first surprise and say what they skip"
)]

mod against_value;
mod cache;
mod cuts;
mod edits;
mod foreign;
mod generated;
mod golden;
mod hostile;
mod json_grammar;
mod recorded;
mod skeleton;
