//! Drift and correction on the hook path: transcript in, text out.
//!
//! Entry points: [`Following`] takes up a session where the last hook left it, reads what the transcript says since, and
//! [checks](Following::check) it. [`announce`] only notes a prompt. [`file_reasoning`] tells why its files are as they
//! are. [`guard::decide`] tells whether an action may run.
//!
//! It knows the rules of `grov-scope` and the transcripts of `grov-actions`. It does not know stores, models, HTTP, the file
//! system or the proxy: states and bytes are handed in and out.
#![forbid(unsafe_code)]

mod announcing;
mod following;
pub mod guard;
mod reading;
mod reasoning;

pub use announcing::{announce, is_quiet, may_wait};
pub use following::Following;
pub use grov_session::IntentReader;
pub use reasoning::file_reasoning;
