//! What every Grov process needs before it does anything: its configuration (every name declared once, every
//! value with its origin), its home directory, its log, and tracked tasks that can be drained.
//!
//! Entry points: [`Home::locate`] and [`Settings::load`] at start, [`logging::init`] once, [`Tasks`] for anything
//! that runs in the background, [`daemon::Lock`] for the one proxy daemon of a home,
//! [`port::listener_at`] to distinguish such a daemon from other programs.
//!
//! This crate does not know what Grov is about: no session, no request, no database.
#![forbid(unsafe_code)]

pub mod daemon;
mod dotenv;
mod environment;
mod home;
pub mod logging;
pub mod port;
mod printable;
mod settings;
mod tasks;
mod url;

pub use environment::Environment;
pub use home::{Home, HomeError, create_private, write_private};
pub use printable::printable;
pub use settings::{
    Candidate, CandidateStatus, ContextSettings, DriftSettings, EXIT_USAGE, EmbeddingProvider,
    EmbeddingSettings, Explanation, GuardMode, GuardSettings, HeaderPolicy, Inputs, InvalidValue, KEYS, Key,
    Kind, LlmProvider, LlmSettings, LogSettings, MemorySettings, Origin, ProxySettings, Settings,
    SettingsError, StoreSettings, TaskSettings, UserMode, Value, Warning,
};
pub use tasks::{Shutdown, Tasks};
pub use url::{Url, UrlError, without_credentials};
