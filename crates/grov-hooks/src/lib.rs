//! Claude Code's hook protocol and settings file.
//!
//! Entry points: [`event`] is what the client sends a hook and what a hook answers; [`permission`] answers a tool call;
//! [`settings`] registers Grov in the client's settings file and unregisters it; [`status_line`] renders the status line.
//!
//! Knows nothing of stores, models, the proxy and what an answer says.
#![forbid(unsafe_code)]

pub mod event;
mod json;
mod permission;
pub mod settings;
pub mod status_line;

pub use permission::permission;
