//! What the client asks, and where Grov lives.

use crate::Work;
use crate::delivery_log::DeliveryLog;
use crate::resume::SessionRef;
use crate::services::Services;
use crate::transcript_file::first_directory;
use grov_domain::{ClientSessionId, StoreConnection};
use grov_hooks::event::Input;
use grov_runtime::{Environment, Home, Inputs, Settings};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// An event of the client, as it comes in.
#[derive(Clone, Copy)]
pub struct Hook<'a> {
    /// The event as the caller names it; what the client says goes first.
    pub event: Option<&'a str>,
    /// What the client sends: JSON.
    pub input: &'a [u8],
    /// Where Grov lives.
    pub home: &'a Home,
    /// The client's environment, as far as it is known, and Grov's settings in it.
    pub environment: &'a Environment,
    /// The port where a daemon answers the other hooks: it must be up when a session begins.
    pub daemon_port: Option<u16>,
    /// What is done elsewhere.
    pub programs: &'a dyn Programs,
    /// Where answers come from.
    pub services: &'a Arc<Services>,
    /// When the client began to wait, as far as that is known.
    pub since: Instant,
}

/// What an answer needs of other programs.
pub trait Programs {
    /// Starts the proxy on this port of this machine and waits until it is up, not for ever.
    ///
    /// # Errors
    /// What hindered it, in words.
    fn start_proxy(&self, port: u16) -> Result<(), String>;

    /// Hands over what is to be done while nobody waits, and returns at once.
    ///
    /// # Errors
    /// What hindered it, in words.
    fn hand_over(&self, work: Work, settings: &Settings) -> Result<(), String>;

    /// Whether this process ends with the answer.
    fn ends(&self) -> bool;
}

/// An event that was read.
#[derive(Clone, Copy)]
pub(crate) struct HookContext<'a> {
    pub(crate) input: &'a Input,
    pub(crate) home: &'a Home,
    pub(crate) environment: &'a Environment,
    pub(crate) daemon_port: Option<u16>,
    pub(crate) programs: &'a dyn Programs,
    pub(crate) services: &'a Arc<Services>,
    pub(crate) since: Instant,
}

impl HookContext<'_> {
    /// Which session it is, and where; `None` if it has no name or no place in the file system.
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

    /// The directory that the session began in: a shell may have gone elsewhere since. The client tells it to processes alone;
    /// else it stands in the transcript.
    pub(crate) fn began(&self) -> Option<PathBuf> {
        let told = self.environment.get("CLAUDE_PROJECT_DIR").map(PathBuf::from);
        let session = self.input.session_id.as_deref()?;
        let transcript = self.input.transcript_path.as_deref().map(Path::new);
        told.or_else(|| first_directory(transcript?, session))
            .filter(|directory| directory.is_dir())
    }

    /// The settings, as they hold in a directory.
    pub(crate) fn settings(&self, directory: Option<&Path>) -> Result<Settings, String> {
        settings(self.home, self.environment, directory)
    }

    /// Puts away a store that was written to. A process that ends with the answer leaves the connection to its end, which
    /// loses nothing: closing the last one carries the write-ahead log over into the database and waits for the disk.
    pub(crate) fn put_away(&self, store: Box<dyn StoreConnection>) {
        if self.programs.ends() {
            std::mem::forget(store);
        }
    }

    /// What the session was told; `None` if it has no name.
    pub(crate) fn delivery_log(&self) -> Option<DeliveryLog> {
        let session = ClientSessionId::new(self.input.session_id.as_deref()?);
        DeliveryLog::of(self.home.root(), &session)
    }
}

/// The settings, as they hold in a directory.
pub(crate) fn settings(
    home: &Home,
    environment: &Environment,
    directory: Option<&Path>,
) -> Result<Settings, String> {
    let inputs = Inputs {
        home,
        environment,
        directory,
        flags: &[],
    };
    Settings::load(inputs).map_err(|error| error.to_string())
}
