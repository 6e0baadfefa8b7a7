//! What the judge is set up with. Every value is handed in: this crate reads no environment and no file.

use grov_domain::MicroUsd;
use grov_redact::Secret;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// The model asked where none is named: small, and with structured output.
pub const DEFAULT_ANTHROPIC_MODEL: &str = "claude-haiku-4-5-20251001";

/// How long one call may take where nothing else is said.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// How many calls run at once where nothing else is said.
pub const DEFAULT_CONCURRENCY: usize = 2;

/// What own calls may cost per UTC day where nothing else is said: half a dollar.
pub const DEFAULT_DAILY_BUDGET: MicroUsd = MicroUsd(500_000);

/// Who is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Nobody: rules answer.
    #[default]
    Offline,
    /// The Anthropic Messages API.
    Anthropic,
    /// Any server with OpenAI's `/v1/chat/completions`.
    OpenAi,
}

impl Provider {
    /// The name used in settings, in the ledger and in status.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
        }
    }

    /// The provider of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Offline, Self::Anthropic, Self::OpenAi]
            .into_iter()
            .find(|provider| provider.as_str() == name)
    }
}

/// Settings of a [`crate::ModelJudge`].
#[derive(Clone)]
pub struct JudgeSettings {
    /// Who is asked.
    pub provider: Provider,
    /// The server, with or without `/v1` at its end; `None` for the vendor's own.
    pub base_url: Option<String>,
    /// Grov's own credential, never a client's. Needed except where `base_url` names an OpenAI-compatible server.
    pub api_key: Option<Secret>,
    /// The model; `None` for [`DEFAULT_ANTHROPIC_MODEL`]. OpenAI-compatible servers need one.
    pub model: Option<String>,
    /// What own calls may cost per UTC day.
    pub daily_budget: MicroUsd,
    /// How long one call may take.
    pub timeout: Duration,
    /// How many calls run at once; at least one.
    pub concurrency: usize,
    /// The only HTTP proxy used on the way to the server. May hold a user and a password.
    pub proxy: Option<String>,
    /// Where Grov itself listens. Neither the server nor the proxy may be one of these.
    pub own_listeners: Vec<SocketAddr>,
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
        }
    }
}

impl fmt::Debug for JudgeSettings {
    /// Addresses may hold passwords, so only their presence is shown.
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
            .finish()
    }
}

/// Why settings cannot be used. Messages never hold the value, which may contain a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The server's address is no usable address.
    #[error(
        "the base URL of the model's server cannot be used: {reason}; give one like https://api.anthropic.com"
    )]
    BaseUrl {
        /// What is wrong.
        reason: String,
    },
    /// The proxy's address is no usable address.
    #[error(
        "the proxy for Grov's own model calls cannot be used: {reason}; give one like http://proxy.example:3128"
    )]
    Proxy {
        /// What is wrong.
        reason: String,
    },
    /// The address is one of Grov's own listeners: calls would come back to us.
    #[error(
        "the {what} for Grov's own model calls is Grov's own listener {listener}, so they would come back to Grov; name the provider itself"
    )]
    OwnListener {
        /// `base URL` or `proxy`.
        what: &'static str,
        /// The listener.
        listener: SocketAddr,
    },
    /// A provider without a model of its own was chosen without one.
    #[error("there is a provider and no model; name a model that the server offers")]
    NoModel,
    /// The credential cannot be a header's value.
    #[error("the API key holds characters that no HTTP header may hold; check that it was copied whole")]
    Credential,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for provider in [Provider::Offline, Provider::Anthropic, Provider::OpenAi] {
            assert_eq!(Provider::from_name(provider.as_str()), Some(provider));
        }
        assert_eq!(Provider::from_name("Anthropic"), None);
    }

    #[test]
    fn settings_print_no_secret() {
        let settings = JudgeSettings {
            api_key: Some(Secret::new("hunter2")),
            proxy: Some("http://me:hunter2@proxy:1".to_owned()),
            base_url: Some("http://me:hunter2@host".to_owned()),
            ..JudgeSettings::default()
        };
        assert!(!format!("{settings:?} {settings:#?}").contains("hunter2"));
    }
}
