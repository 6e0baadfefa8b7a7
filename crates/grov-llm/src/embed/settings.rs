//! Settings of an embedder.

use crate::{DEFAULT_DAILY_BUDGET, DEFAULT_TIMEOUT};
use grov_domain::MicroUsd;
use grov_redact::Secret;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// The API of the embedding server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EmbedderProvider {
    /// OpenAI's `/v1/embeddings`, also offered by llama.cpp, vLLM and others.
    OpenAi,
    /// Ollama's `/api/embed`.
    Ollama,
}

impl EmbedderProvider {
    /// The name used in settings and in the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
        }
    }

    /// The default server.
    pub(super) fn base_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com",
            Self::Ollama => "http://127.0.0.1:11434",
        }
    }

    /// The path below the base URL.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "v1/embeddings",
            Self::Ollama => "api/embed",
        }
    }
}

/// Settings of a [`crate::HttpEmbedder`].
#[derive(Clone)]
pub struct EmbedderSettings {
    /// The API.
    pub provider: EmbedderProvider,
    /// The server, with or without `/v1` at its end; `None` for the vendor's own (with Ollama: this machine).
    pub base_url: Option<String>,
    /// Grov's own credential, never a client's. Servers on this machine need none.
    pub api_key: Option<Secret>,
    /// The model.
    pub model: String,
    /// The dimension to ask for; `None` for the model's own. A server that does not know the wish is asked without it.
    pub dimensions: Option<usize>,
    /// The budget of all own calls, judgements included, per UTC day. Without a ledger it has no effect.
    pub daily_budget: MicroUsd,
    /// The timeout of a call.
    pub timeout: Duration,
    /// The HTTP proxy to use; none is taken from the environment. May contain credentials.
    pub proxy: Option<String>,
    /// Grov's own listeners. Neither the server nor the proxy may be one of them.
    pub own_listeners: Vec<SocketAddr>,
}

impl EmbedderSettings {
    /// `model` of `provider`, with defaults for the rest.
    pub fn new(provider: EmbedderProvider, model: &str) -> Self {
        Self {
            provider,
            base_url: None,
            api_key: None,
            model: model.to_owned(),
            dimensions: None,
            daily_budget: DEFAULT_DAILY_BUDGET,
            timeout: DEFAULT_TIMEOUT,
            proxy: None,
            own_listeners: Vec::new(),
        }
    }
}

impl fmt::Debug for EmbedderSettings {
    /// URLs may contain passwords, so only their presence is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbedderSettings")
            .field("provider", &self.provider)
            .field("base_url_set", &self.base_url.is_some())
            .field("api_key", &self.api_key)
            .field("model", &self.model)
            .field("dimensions", &self.dimensions)
            .field("daily_budget", &self.daily_budget)
            .field("timeout", &self.timeout)
            .field("proxy_set", &self.proxy.is_some())
            .field("own_listeners", &self.own_listeners)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_of_settings_contains_no_secret() {
        let settings = EmbedderSettings {
            api_key: Some(Secret::new("hunter2")),
            proxy: Some("http://me:hunter2@proxy:1".to_owned()),
            base_url: Some("http://me:hunter2@host".to_owned()),
            ..EmbedderSettings::new(EmbedderProvider::Ollama, "all-minilm")
        };
        assert!(!format!("{settings:?} {settings:#?}").contains("hunter2"));
    }
}
