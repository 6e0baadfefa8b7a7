//! Claude Code's settings files: edited in place, and put back as they were.
//!
//! [`register`] adds hooks, environment variables and a status line to the text of a settings file, and tells each [`Change`]
//! it made; [`unregister`] takes them back. Both are plain functions. Comments, the order of keys, odd indentation, other
//! people's hooks and unknown keys stay byte for byte.

mod change;
mod error;
mod hook;
mod layout;
mod register;
mod scan;
mod unregister;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;

pub use change::Change;
pub use error::{SettingsError, SyntaxError};
pub use hook::{HTTP_HOOK_PATH, Handler, Hook, shell_word};
pub use register::{Registered, Wanted, register};
pub use unregister::{Left, Unregistered, unregister};
