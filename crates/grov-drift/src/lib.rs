//! The hook path: answers Claude Code's hooks and does the work after a turn.
//!
//! Entry points: [`handle`] handles one hook event; [`Work`] is the work after a turn, done in the background; [`Services`]
//! are the ports to the store, the judge and the rules, which the binaries provide; [`Programs`] starts other processes;
//! [`token`] authenticates hooks over HTTP. [`TranscriptFollower`] feeds a transcript to the engine; [`guard::decide`] decides
//! whether an action may run.
//!
//! Reads the transcript and small files of its own; everything else goes through ports. Does not depend on SQL, models, the
//! proxy or command lines.
#![forbid(unsafe_code)]

mod adoption;
mod answered_events;
mod ask_agent;
mod context_warning;
mod daemon;
mod delivery_log;
mod dispatch;
mod error;
mod error_log;
mod file_reasoning;
mod follower;
mod fork;
pub mod guard;
mod hook;
mod plans;
mod points;
mod private_file;
mod prompt;
mod proxied;
mod resume;
mod services;
mod session_start;
mod task_rows;
mod team_memory;
#[cfg(test)]
mod testing;
pub mod token;
mod transcript_file;
mod turn_end;
mod worker;

pub use daemon::proxy_fault;
pub use delivery_log::DeliveryLog;
pub use dispatch::{EMPTY_RESPONSE, HookResponse, handle, handle_without_home};
pub use error::HookError;
pub use error_log::log_error;
pub use follower::TranscriptFollower;
pub use grov_hooks::event::{MAX_INPUT_BYTES, PRE_TOOL_USE};
pub use grov_hooks::settings::{BASE_URL_HEADER, HTTP_HOOK_PATH, PROJECT_HEADER, TOKEN_HEADER};
pub use grov_session::IntentReader;
pub use guard::PendingRecord;
pub use hook::{Hook, Programs};
pub use points::session_points;
pub use services::Services;
pub use worker::Work;

/// Builds a runtime on the current thread, for one response.
fn runtime() -> Result<tokio::runtime::Runtime, HookError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(HookError::Runtime)
}
