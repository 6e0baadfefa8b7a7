//! Finds and masks secrets; secret types that cannot print; cuts that show no part of a secret.
//!
//! Entry points: [`Redactor`] masks secrets in text that leaves the process, [`Redacted`] proves that a value was redacted,
//! [`Secret`] holds text that must not be printed.
//!
//! This crate knows nothing about where text comes from or goes to: no I/O, no storage, no other Grov crate.
#![forbid(unsafe_code)]

mod assignment;
mod command;
mod context;
mod cut;
mod header;
mod index;
mod json;
mod judgement;
mod key;
mod own_text;
mod pattern;
mod private;
mod redacted;
mod redactor;
mod scan;
mod secret;
mod token;
mod tokens;
mod url;
mod value;

pub use cut::{beginning_of, beginning_to, both_ends, bounded, end_from, end_of, hidden_since, is_unspaced};
pub use json::each_text_of_json;
pub use own_text::{OWN_TEXT_CLOSING, OWN_TEXT_OPENING, without_own_text};
pub use redacted::{FreeText, LONGEST_TEXT, Redacted};
pub use redactor::{Finding, Redactor};
pub use secret::Secret;

/// How every mask starts.
const MASK_START: &str = "[redacted:";
