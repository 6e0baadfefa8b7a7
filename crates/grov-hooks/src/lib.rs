//! Claude Code's hook protocol and settings file.
//!
//! Entry points: [`settings`] registers Grov in the client's settings and takes it out again; [`event`] is what the client
//! sends a hook and what a hook answers; [`memory`] is what is said about a prompt, and [`ToldList`] what was said before.
//!
//! Knows nothing of the proxy, of SQL and of models.
#![forbid(unsafe_code)]

pub mod event;
pub mod memory;
pub mod settings;
mod told;

pub use told::ToldList;
