//! Settings of a chat model on a server.

use grov_redact::Secret;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// The default timeout of one answer, retries included.
pub const DEFAULT_CHAT_TIMEOUT: Duration = Duration::from_secs(120);

/// The API of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChatApi {
    /// OpenAI's chat completions, also offered by Ollama, llama.cpp, vLLM and others.
    OpenAi,
    /// The Anthropic Messages API.
    Anthropic,
}

impl ChatApi {
    /// The name used in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// The vendor's server.
    pub(super) fn base_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => crate::model::anthropic::BASE_URL,
        }
    }
}

/// Settings of a [`crate::HttpChat`].
#[derive(Clone)]
pub struct HttpChatSettings {
    /// The API.
    pub api: ChatApi,
    /// The server; `None` for the vendor's. With [`ChatApi::OpenAi`], `/chat/completions` is below it; if there is nothing,
    /// `/v1/chat/completions` is tried.
    pub base_url: Option<String>,
    /// Grov's own credential, never a client's. Servers on this machine need none.
    pub api_key: Option<Secret>,
    /// The model; `None` for [`crate::DEFAULT_ANTHROPIC_MODEL`]. [`ChatApi::OpenAi`] needs one.
    pub model: Option<String>,
    /// The timeout of one answer, retries included.
    pub timeout: Duration,
    /// The HTTP proxy to use; none is taken from the environment. May contain credentials.
    pub proxy: Option<String>,
    /// Grov's own listeners. Neither the server nor the proxy may be one of them.
    pub own_listeners: Vec<SocketAddr>,
}

impl HttpChatSettings {
    /// The vendor's server, with defaults for the rest.
    pub fn new(api: ChatApi) -> Self {
        Self {
            api,
            base_url: None,
            api_key: None,
            model: None,
            timeout: DEFAULT_CHAT_TIMEOUT,
            proxy: None,
            own_listeners: Vec::new(),
        }
    }
}

impl fmt::Debug for HttpChatSettings {
    /// URLs may contain passwords, so only their presence is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpChatSettings")
            .field("api", &self.api)
            .field("base_url_set", &self.base_url.is_some())
            .field("api_key", &self.api_key)
            .field("model", &self.model)
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
        let settings = HttpChatSettings {
            api_key: Some(Secret::new("hunter2")),
            proxy: Some("http://me:hunter2@proxy:1".to_owned()),
            base_url: Some("http://me:hunter2@host".to_owned()),
            ..HttpChatSettings::new(ChatApi::OpenAi)
        };
        assert!(!format!("{settings:?} {settings:#?}").contains("hunter2"));
    }
}
