//! Finds and masks secrets; secret types that cannot print.
//!
//! Entry points: [`Redactor`] for text on its way to a disk, [`Secret`] for text that has to stay in memory.
//!
//! This crate knows nothing about where text comes from or goes to: no I/O, no storage, no other Grov crate.
#![forbid(unsafe_code)]

mod redactor;
mod secret;

pub use redactor::{Finding, Redactor};
pub use secret::Secret;
