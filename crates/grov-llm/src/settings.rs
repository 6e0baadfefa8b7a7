//! Settings of the judge. Every value is passed in: this crate reads no environment and no file.

use grov_domain::MicroUsd;
use grov_redact::Secret;
use std::ffi::OsString;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// The default model: small, and with structured output.
pub const DEFAULT_ANTHROPIC_MODEL: &str = "claude-haiku-4-5-20251001";

/// The default timeout of a call.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// The default number of concurrent calls.
pub const DEFAULT_CONCURRENCY: usize = 2;

/// The default budget of Grov's own calls per UTC day: half a dollar.
pub const DEFAULT_DAILY_BUDGET: MicroUsd = MicroUsd(500_000);

/// The provider of the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Provider {
    /// None: rules answer.
    #[default]
    Offline,
    /// The Anthropic Messages API.
    Anthropic,
    /// Any server with OpenAI's `/v1/chat/completions`.
    OpenAi,
    /// The user's own installed client, with the login of that user.
    ClaudeCli,
}

impl Provider {
    /// The name used in settings, in the ledger and in status.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::ClaudeCli => "claude_cli",
        }
    }
}

/// Settings of a [`crate::ModelJudge`].
#[derive(Clone)]
pub struct JudgeSettings {
    /// The provider.
    pub provider: Provider,
    /// The server, with or without `/v1` at its end; `None` for the vendor's.
    pub base_url: Option<String>,
    /// Grov's own credential, never a client's. Optional with an OpenAI-compatible server at `base_url`.
    pub api_key: Option<Secret>,
    /// The model; `None` for [`DEFAULT_ANTHROPIC_MODEL`]. OpenAI-compatible servers need one.
    pub model: Option<String>,
    /// The budget of Grov's own calls per UTC day.
    pub daily_budget: MicroUsd,
    /// The timeout of a call.
    pub timeout: Duration,
    /// The number of concurrent calls, at least one; with [`Provider::ClaudeCli`] at most two.
    pub concurrency: usize,
    /// The HTTP proxy to use; none is taken from the environment, except by [`Provider::ClaudeCli`]. May contain credentials.
    pub proxy: Option<String>,
    /// Grov's own listeners. Neither the server nor the proxy may be one of them.
    pub own_listeners: Vec<SocketAddr>,
    /// The environment of Grov's process, of which the client of [`Provider::ClaudeCli`] gets only what it needs.
    pub client_environment: Vec<(String, OsString)>,
}

impl Default for JudgeSettings {
    fn default() -> Self {
        Self {
            provider: Provider::Offline,
            base_url: None,
            api_key: None,
            model: None,
            daily_budget: DEFAULT_DAILY_BUDGET,
            timeout: DEFAULT_TIMEOUT,
            concurrency: DEFAULT_CONCURRENCY,
            proxy: None,
            own_listeners: Vec::new(),
            client_environment: Vec::new(),
        }
    }
}

impl fmt::Debug for JudgeSettings {
    /// URLs may contain passwords, so only their presence is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JudgeSettings")
            .field("provider", &self.provider)
            .field("base_url_set", &self.base_url.is_some())
            .field("api_key", &self.api_key)
            .field("model", &self.model)
            .field("daily_budget", &self.daily_budget)
            .field("timeout", &self.timeout)
            .field("concurrency", &self.concurrency)
            .field("proxy_set", &self.proxy.is_some())
            .field("own_listeners", &self.own_listeners)
            .finish_non_exhaustive()
    }
}

/// Invalid settings. Messages never contain the value, which may contain a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The base URL is invalid.
    #[error(
        "the base URL of the model's server cannot be used: {0}; give one like https://api.anthropic.com"
    )]
    BaseUrl(String),
    /// The proxy URL is invalid.
    #[error(
        "the proxy for Grov's own model calls cannot be used: {0}; give one like http://proxy.example:3128"
    )]
    Proxy(String),
    /// The URL is one of Grov's own listeners: calls would loop.
    #[error(
        "the {what} for Grov's own model calls is Grov's own listener {listener}, so calls would loop; configure the provider's own address"
    )]
    OwnListener {
        /// `base URL` or `proxy`.
        what: &'static str,
        /// The listener.
        listener: SocketAddr,
    },
    /// The provider has no default model and none was named.
    #[error("there is a provider and no model; name a model that the server offers")]
    NoModel,
    /// The credential is not a valid header value.
    #[error(
        "the API key contains characters that are not allowed in an HTTP header; check that it was copied completely"
    )]
    Credential,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_of_settings_contains_no_secret() {
        let settings = JudgeSettings {
            api_key: Some(Secret::new("hunter2")),
            proxy: Some("http://me:hunter2@proxy:1".to_owned()),
            base_url: Some("http://me:hunter2@host".to_owned()),
            client_environment: vec![("CLAUDE_CODE_OAUTH_TOKEN".to_owned(), "hunter2".into())],
            ..JudgeSettings::default()
        };
        assert!(!format!("{settings:?} {settings:#?}").contains("hunter2"));
    }
}
