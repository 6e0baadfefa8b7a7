//! The base of every Grov process: configuration, in which each name is declared once and each value has an origin; the home
//! directory; the log; and background tasks that can be counted, stopped and awaited.
//!
//! Entry points: [`Home::locate`] and [`Settings::load`] at start, [`logging::init`] once, [`Tasks`] for background tasks,
//! [`daemon::Lock`] for the one proxy daemon of a home, [`port::listener_at`] to distinguish a daemon from other programs.
//!
//! This crate has no knowledge of sessions, requests or the database.
#![forbid(unsafe_code)]

mod browser;
mod control;
pub mod daemon;
mod dotenv;
mod environment;
mod home;
mod hook_times;
pub mod logging;
pub mod port;
mod printable;
mod providers;
mod random;
mod run_environment;
mod settings;
mod tasks;
mod tokens;
mod url;
mod variables;

pub use browser::{BrowserKey, OpenedLink};
pub use control::{ControlAnswer, ControlCommand, control};
pub use environment::Environment;
use home::create_directory;
pub use home::{Home, HomeError, create_private, write_private};
pub use hook_times::{HookTime, HookTimes};
pub use printable::printable;
pub use providers::ProviderFiles;
pub use random::{random_hex, random_secret};
pub use run_environment::RunEnvironment;
pub use settings::{
    AgentEmbedding, AgentLimits, AgentSettings, Candidate, CandidateStatus, ChatModelSettings, ChatProvider,
    ConfigEdit, ConfigFile, ContextSettings, DatabaseUrl, DriftSettings, EXIT_USAGE, EmbeddingModelSettings,
    EmbeddingProvider, EmbeddingSettings, Explanation, GuardMode, GuardSettings, HeaderPolicy, Inputs,
    InvalidValue, KEYS, Key, Kind, LlmProvider, LlmSettings, LogSettings, MemorySettings, MitmSettings,
    Origin, OtlpSettings, ProxySettings, RouteSettings, Settings, SettingsError, StoreSettings, TaskSettings,
    TlsFiles, TlsSource, ToolGrant, ToolSettings, UserMode, Value, Warning,
};
pub use tasks::{Shutdown, Tasks};
pub use tokens::{
    LastUses, MAX_TOKEN_NAME, TokenError, TokenFault, TokenHash, TokenRecord, TokenTable, Tokens,
};
pub use url::{Url, UrlError, without_credentials};
pub use variables::Variables;
