//! Claude Code's hook protocol and settings file.
//!
//! Entry points: [`event`] parses hook input and renders replies; [`permission`] renders the decision on a tool call;
//! [`settings`] registers Grov in the client's settings file and unregisters it; [`status_line`] renders the status line.
//!
//! Does not depend on stores, models or the proxy.
#![forbid(unsafe_code)]

pub mod event;
mod json;
mod permission;
pub mod settings;
pub mod status_line;

pub use permission::permission;
