//! Claude Code's hook protocol and settings file.
//!
//! Entry points: [`settings`] registers Grov in the client's settings and takes it out again; [`event`] is what the client
//! sends a hook and what a hook answers; [`memory`] is what is said about a prompt, [`ToldList`] what was said before, and
//! [`Answers`] to what something was said;
//! [`status_line`] is the line below the prompt; [`recap`] is what is said after a compaction.
//!
//! Knows nothing of the proxy, of SQL and of models.
#![forbid(unsafe_code)]

mod answers;
pub mod event;
pub mod memory;
mod permission;
mod recap;
pub mod settings;
pub mod status_line;
mod told;

pub use answers::{Answers, Holding};
pub use permission::permission;
pub use recap::{loss, recap};
pub use told::ToldList;
