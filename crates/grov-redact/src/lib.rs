//! Finds and masks secrets; secret types that cannot print.
//!
//! Entry points: [`Redactor`] for text on its way to a disk, [`Secret`] for text that has to stay in memory.
//!
//! This crate knows nothing about where text comes from or goes to: no I/O, no storage, no other Grov crate.
#![forbid(unsafe_code)]

mod assignment;
mod command;
mod context;
mod header;
mod index;
mod judgement;
mod key;
mod pattern;
mod private;
mod redactor;
mod scan;
mod secret;
mod token;
mod tokens;
mod url;
mod value;

pub use redactor::{Finding, Kind, Redactor};
pub use secret::Secret;

/// How every mask starts.
const MASK_START: &str = "[redacted:";
