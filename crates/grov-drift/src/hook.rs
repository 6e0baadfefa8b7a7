//! A hook event and the context to handle it.

use crate::Work;
use crate::delivery_log::DeliveryLog;
use crate::error::HookError;
use crate::resume::SessionRef;
use crate::services::Services;
use crate::transcript_file::first_directory;
use grov_domain::{ClientSessionId, StoreConnection};
use grov_hooks::event::Input;
use grov_runtime::{Environment, Home, Inputs, Settings};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// A hook event to handle.
#[derive(Clone, Copy)]
pub struct Hook<'a> {
    /// The event's name on the command line or in the URL; the client's own field takes precedence.
    pub event: Option<&'a str>,
    /// The client's JSON.
    pub input: &'a [u8],
    /// Grov's home directory.
    pub home: &'a Home,
    /// The known part of the client's environment, and Grov's settings.
    pub environment: &'a Environment,
    /// Port of the daemon that answers the other hooks. It must run when a session starts.
    pub daemon_port: Option<u16>,
    /// Starts other processes.
    pub programs: &'a dyn Programs,
    /// Store and judge.
    pub services: &'a Arc<Services>,
    /// When the client started to wait.
    pub waiting_since: Instant,
}

/// Starts other processes for a hook.
pub trait Programs {
    /// Starts the daemon on a loopback port and waits until it accepts connections, up to a time limit.
    ///
    /// # Errors
    /// The daemon cannot be started.
    fn start_proxy(&self, port: u16) -> Result<(), HookError>;

    /// Makes the daemon listen on a free port, and the client's settings files name that one. Returns the daemon's URL.
    ///
    /// # Errors
    /// The daemon cannot be started, or a settings file not be changed.
    fn move_proxy(&self) -> Result<String, HookError>;

    /// Starts a background worker for `work` and returns immediately.
    ///
    /// # Errors
    /// The worker cannot be started, or has too much work.
    fn start_worker(&self, work: Work, settings: &Settings) -> Result<(), HookError>;

    /// Whether this process exits after the response.
    fn exits_after_response(&self) -> bool;
}

/// A hook event with its parsed input.
#[derive(Clone, Copy)]
pub(crate) struct HookContext<'a> {
    pub(crate) input: &'a Input,
    pub(crate) hook: &'a Hook<'a>,
}

impl<'a> std::ops::Deref for HookContext<'a> {
    type Target = Hook<'a>;

    fn deref(&self) -> &Hook<'a> {
        self.hook
    }
}

impl HookContext<'_> {
    /// The session; `None` without a session id or an existing working directory.
    pub(crate) fn session_ref(&self) -> Option<SessionRef> {
        let session = self
            .input
            .session_id
            .clone()
            .filter(|session| !session.is_empty())?;
        let directory = PathBuf::from(self.input.cwd.as_deref()?);
        let transcript = self
            .input
            .transcript_path
            .as_deref()
            .filter(|path| !path.is_empty());
        directory.is_dir().then(|| SessionRef {
            session,
            directory,
            transcript: transcript.map(PathBuf::from),
        })
    }

    /// The directory in which the session started; the shell may have changed directory since. The client passes it only to
    /// processes; otherwise it is read from the transcript.
    pub(crate) fn start_directory(&self) -> Option<PathBuf> {
        let passed = self.environment.get("CLAUDE_PROJECT_DIR").map(PathBuf::from);
        let session = self.input.session_id.as_deref()?;
        let transcript = self.input.transcript_path.as_deref().map(Path::new);
        passed
            .or_else(|| first_directory(transcript?, session))
            .filter(|directory| directory.is_dir())
    }

    /// Loads the settings of a directory.
    pub(crate) fn settings(&self, directory: Option<&Path>) -> Result<Settings, HookError> {
        settings(self.home, self.environment, directory)
    }

    /// Drops a store after writing. A process that exits after the response leaks the connection instead: closing the last
    /// connection would checkpoint the write-ahead log and wait for the disk. Nothing is lost.
    pub(crate) fn release(&self, store: Box<dyn StoreConnection>) {
        if self.programs.exits_after_response() {
            std::mem::forget(store);
        }
    }

    /// The session's delivery log; `None` without a session id.
    pub(crate) fn delivery_log(&self) -> Option<DeliveryLog> {
        let session = ClientSessionId::new(self.input.session_id.as_deref()?);
        DeliveryLog::of(self.home.root(), &session)
    }
}

/// Loads the settings of a directory.
pub(crate) fn settings(
    home: &Home,
    environment: &Environment,
    directory: Option<&Path>,
) -> Result<Settings, HookError> {
    let inputs = Inputs {
        home,
        environment,
        directory,
        flags: &[],
    };
    Ok(Settings::load(inputs)?)
}
