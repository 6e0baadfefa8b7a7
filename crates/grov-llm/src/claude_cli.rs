//! The user's own installed client, Claude Code: `claude -p`, without tools, hooks and MCP servers, in an empty directory.
//!
//! The chat model and the judge share it. Only whoever runs Grov can choose it. The client uses the login of that user; Grov
//! does not see it.

mod environment;
mod login;
mod output;
mod places;
mod process;

pub use login::{ClientLogin, client_login};

use crate::SetupError;
use crate::model::Stop;
use environment::ClientEnvironment;
use grov_domain::{MicroUsd, TokenUsage};
use grov_redact::Secret;
use std::ffi::OsString;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::Semaphore;

/// The name of the client's program.
pub const CLIENT_PROGRAM: &str = "claude";

/// Settings of the user's installed client.
#[derive(Clone)]
pub struct ClaudeCliSettings {
    /// The program: a path, or a name that is searched in the `PATH` of `environment`.
    pub program: PathBuf,
    /// The environment of Grov's process, of which the client gets only what it needs.
    pub environment: Vec<(String, OsString)>,
    /// The model; `None` for the client's own choice.
    pub model: Option<String>,
    /// Another server than the vendor's.
    pub base_url: Option<String>,
    /// A key that the client uses instead of the user's login.
    pub api_key: Option<Secret>,
    /// The HTTP proxy to use instead of the one that the environment names.
    pub proxy: Option<String>,
    /// The timeout of one answer.
    pub timeout: Duration,
    /// Grov's own listeners. Neither the server nor the proxy may be one of them.
    pub own_listeners: Vec<SocketAddr>,
}

impl fmt::Debug for ClaudeCliSettings {
    /// The environment may contain a login, URLs may contain passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClaudeCliSettings")
            .field("program", &self.program)
            .field("model", &self.model)
            .field("api_key", &self.api_key)
            .field("timeout", &self.timeout)
            .field("own_listeners", &self.own_listeners)
            .finish_non_exhaustive()
    }
}

/// The limits of one use of the client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientLimits {
    /// Clients that run at the same time. Each takes some hundred megabytes.
    pub(crate) at_once: usize,
    /// The most that one may print, in bytes. Each token comes with some hundred bytes around it.
    pub(crate) output_bytes: u64,
}

/// The installed client, started once for each answer.
#[derive(Debug)]
pub(crate) struct Client {
    program: PathBuf,
    environment: ClientEnvironment,
    model: Option<String>,
    limits: ClientLimits,
    turns: Semaphore,
}

/// What one run of the client is given.
#[derive(Debug)]
pub(crate) struct ClientPrompt {
    /// The system prompt, passed as a file: arguments are visible to other users.
    pub(crate) system: String,
    /// The message, passed on standard input.
    pub(crate) input: String,
    pub(crate) max_output_tokens: u32,
}

/// What the client answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientAnswer {
    pub(crate) text: String,
    pub(crate) stop: Stop,
    /// Tokens by class; `None` if the client was stopped before it said.
    pub(crate) usage: Option<TokenUsage>,
    /// The client's own calculation, by list prices: with a subscription nothing is charged.
    pub(crate) cost: Option<MicroUsd>,
}

/// Why there is no answer. Contains no text of the client, which may repeat anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ClientError {
    /// There is no such program.
    #[error("the client `claude` is not installed, or not in PATH")]
    NotInstalled,
    /// There is no login, or the API refuses it.
    #[error("the client `claude` is not logged in; run `claude` and log in")]
    LoggedOut,
    /// The process cannot be started, or no more are.
    #[error("the client cannot be started: {0}")]
    NotStarted(String),
    /// The API refused the request.
    #[error("status {0}")]
    Status(u16),
    /// The client printed no result.
    #[error("the client ended without a result; run `claude -p hello` to see why")]
    NoResult {
        /// Whether an answer had begun.
        has_begun: bool,
    },
    /// The client reported an error.
    #[error("the client reported an error; run `claude -p hello` to see it")]
    Failed {
        /// Whether it reported a cost, too.
        has_cost: bool,
    },
    /// What the client printed cannot be read.
    #[error("the client's output cannot be read: {0}")]
    Unreadable(String),
}

impl Client {
    /// A client with these settings. Starts no process; calls must be within a tokio runtime.
    ///
    /// # Errors
    ///
    /// The base URL or the proxy is invalid or Grov's own listener.
    pub(crate) fn new(settings: ClaudeCliSettings, limits: ClientLimits) -> Result<Self, SetupError> {
        Ok(Self {
            environment: ClientEnvironment::new(&settings)?,
            program: settings.program,
            model: settings.model,
            turns: Semaphore::new(limits.at_once),
            limits,
        })
    }

    /// Sets one more variable of the client.
    pub(crate) fn with_variable(mut self, name: &'static str, value: &str) -> Self {
        self.environment.set(name, value);
        self
    }

    /// Runs the client. The process and all that it started end before this returns, and also if the future is dropped.
    pub(crate) async fn ask(
        &self,
        prompt: &ClientPrompt,
        on_text: &mut (dyn FnMut(&str) + Send),
    ) -> Result<ClientAnswer, ClientError> {
        let closed = |_| ClientError::NotStarted("no more clients are started".to_owned());
        let _turn = self.turns.acquire().await.map_err(closed)?;
        process::run(self, prompt, on_text).await
    }

    fn arguments(&self) -> Vec<OsString> {
        let mut arguments = vec![
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            // They tell at once that an answer was cut off; the client itself would go on with further calls.
            "--include-partial-messages",
            // No tool, no command, no server, no hook: the client only writes.
            "--tools",
            "",
            "--disable-slash-commands",
            "--strict-mcp-config",
            "--setting-sources",
            "",
            "--no-session-persistence",
        ];
        if let Some(model) = &self.model {
            arguments.extend(["--model", model]);
        }
        arguments.into_iter().map(OsString::from).collect()
    }
}
