//! Edits Claude Code's settings files in place, and restores them.
//!
//! [`register`] adds hooks, environment variables, a status line and an MCP server to the text of a settings file and returns each
//! [`Change`]; [`unregister`] reverts them. Both are pure functions. Comments, key order, indentation, other hooks and unknown
//! keys stay byte for byte. [`Registry`] applies both to files on disk and records the changes. [`route`] returns the
//! variables that make the client use Grov's proxy.

mod change;
mod environment;
mod error;
mod file;
mod hook;
mod inspect;
mod layout;
mod mask;
mod place;
mod plain;
mod register;
mod registry;
mod scan;
mod unregister;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;

pub use change::Change;
pub use environment::{
    Route, RoutedEnvironment, loopback_exceptions, route, routed_to, token_of, user_token,
};
pub use error::{SettingsError, SyntaxError};
pub use file::SettingsFile;
pub use hook::{
    BASE_URL_HEADER, DAEMON_PORT_FLAG, HTTP_HOOK_PATH, Handler, Hook, PROJECT_HEADER, TOKEN_HEADER,
    shell_word,
};
pub use inspect::{Inspection, OwnHook, StatusLine, inspect};
pub use mask::{MASK, masked};
pub use place::{Scope, settings_path, user_folder};
pub use plain::plain;
pub use register::{McpServer, RegisteredText, Registration, register};
pub use registry::{AppliedPlan, Plan, Registry};
pub use unregister::{UnregisteredText, unregister};
