//! Errors of the hook path.

use grov_domain::StoreError;
use grov_runtime::SettingsError;
use std::io;

/// Why a hook or the work after a turn failed. Logged to `logs/hooks.log`, not sent to the client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The settings cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The async runtime could not be started.
    #[error("cannot start the async runtime: {0}")]
    Runtime(#[source] io::Error),
    /// The session's lock file failed.
    #[error("session lock: {0}")]
    Lock(#[source] io::Error),
    /// The list of answered events failed.
    #[error("answered events: {0}")]
    AnsweredEvents(#[source] io::Error),
    /// The delivery log failed.
    #[error("delivery log: {0}")]
    DeliveryLog(#[source] io::Error),
    /// The transcript could not be read.
    #[error("transcript: {0}")]
    Transcript(#[source] io::Error),
    /// A fork could not be registered.
    #[error("registering a fork: {0}")]
    Fork(#[source] StoreError),
    /// The daemon that the client needs does not answer. The text tells the user why, and what to do.
    #[error("{0}")]
    Daemon(String),
    /// Another program has the address of the daemon, and the next prompt moves daemon and client to another one. No fault to
    /// log; the text is for the user.
    #[error("{0}")]
    Moving(String),
    /// A process could not be started or ended with an error; the text says which, and why.
    #[error("{0}")]
    Process(String),
    /// The session's directory was removed, and no other one is known.
    #[error("the session's directory was removed, and no other one is known")]
    DirectoryGone,
    /// Other work on the session took too long.
    #[error("the session was locked for too long; {event} was not processed")]
    LaneBusy {
        /// The event that was not processed.
        event: String,
    },
    /// Too much work is pending.
    #[error("too much work is pending; the end of a turn was not processed")]
    TooMuchWork,
    /// The work after a turn panicked.
    #[error("the work after a turn panicked")]
    WorkPanicked,
    /// The guard's record was not written before the process had to end.
    #[error("guard record: timed out")]
    RecordTimedOut,
    /// The thread that writes the guard's record panicked.
    #[error("guard record: the writer panicked")]
    RecordPanicked,
    /// The guard's record was not written.
    #[error("guard record: {0}")]
    Record(#[source] Box<HookError>),
}
