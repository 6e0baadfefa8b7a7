//! Finds and masks secrets in text.
//!
//! | To | use |
//! |---|---|
//! | mask the secrets in a text | [`Redactor::redact`] |
//! | require at compile time that a value was redacted | [`Redacted`] |
//! | hold a secret that must not be printed | [`Secret`] |
//! | shorten a text without exposing part of a secret | [`beginning_of`], [`end_of`], [`both_ends`], [`bounded`] |
//!
//! The crate does no I/O.
//!
//! ```
//! use grov_redact::Redactor;
//!
//! let text = "export DB_PASSWORD=hunter2-hunter2";
//! assert_eq!(Redactor::shared().redact(text), "export DB_PASSWORD=[redacted:password]");
//! ```
#![forbid(unsafe_code)]

mod asked;
mod assignment;
mod bare;
mod chosen;
mod codes;
mod command;
mod context;
mod cut;
mod declared;
mod encoded;
mod file_name;
mod header;
mod index;
mod insert;
mod json;
mod judgement;
mod key;
mod literals;
mod login;
mod numbers;
mod own_text;
mod pattern;
mod places;
mod private;
mod prose;
mod random;
mod redacted;
mod redactor;
mod scan;
mod secret;
mod seed;
mod service_names;
mod surroundings;
mod table;
mod token;
mod tokens;
mod url;
mod value;

pub use cut::{beginning_of, beginning_to, both_ends, bounded, end_from, end_of, hidden_since, is_unspaced};
pub use json::each_text_of_json;
pub use own_text::{OWN_TEXT_CLOSING, OWN_TEXT_OPENING, without_own_text};
pub use redacted::{FreeText, MAX_TEXT_BYTES, Redacted};
pub use redactor::{Finding, Redactor};
pub use secret::Secret;

/// The start of every mask.
const MASK_START: &str = "[redacted:";
