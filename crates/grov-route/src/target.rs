//! A model of a provider, with everything that a request to it needs.

use crate::prices::Prices;
use grov_redact::Secret;
use std::time::Duration;

/// The API that a provider speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProviderApi {
    /// OpenAI's Chat Completions.
    #[default]
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages: requests pass without translation.
    Anthropic,
}

impl ProviderApi {
    /// The names in a provider file.
    pub const NAMES: &[&str] = &["chat", "responses", "anthropic"];

    /// The API of that name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "chat" => Some(Self::Chat),
            "responses" => Some(Self::Responses),
            "anthropic" => Some(Self::Anthropic),
            _ => None,
        }
    }

    /// The path below the endpoint.
    pub fn path(self) -> &'static str {
        match self {
            Self::Chat => "/chat/completions",
            Self::Responses => "/responses",
            Self::Anthropic => "/v1/messages",
        }
    }
}

/// How long to wait for a provider; `None` where the provider file says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection, TLS included.
    pub connect: Option<Duration>,
    /// From the end of the request to the response head.
    pub first_byte: Option<Duration>,
    /// Between two reads of the body.
    pub idle: Option<Duration>,
}

/// A model of a provider.
#[derive(Clone, Debug)]
pub struct Target {
    /// The name that markers and rules use; unique in the file.
    pub label: String,
    /// The provider's name.
    pub provider: String,
    /// The model's name at the provider.
    pub model: String,
    /// The base URL, without a slash at its end.
    pub endpoint: String,
    /// The API that the provider speaks.
    pub api: ProviderApi,
    /// The provider's keys, used in turn; empty if it wants none.
    pub keys: Vec<Secret>,
    /// The variable that every key of the provider needs and that is not set. The target cannot be used then.
    pub unset_variable: Option<String>,
    /// Maximum output tokens of a request.
    pub max_tokens: Option<u64>,
    /// Names of transforms, in the order of the file.
    pub transforms: Vec<String>,
    /// Parameters that are added to a request unless it has them.
    pub params: serde_json::Map<String, serde_json::Value>,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Prices from the file.
    pub prices: Option<Prices>,
    /// Labels to try in this order if the target fails.
    pub fallback: Vec<String>,
    /// The line of the label in the file, from 1.
    pub line: u64,
}

impl Target {
    /// The URL of a request.
    pub fn url(&self) -> String {
        format!("{}{}", self.endpoint, self.api_path())
    }

    /// The path of a request below the endpoint. An endpoint of the Messages API may end with its version.
    pub fn api_path(&self) -> &'static str {
        match self.api {
            ProviderApi::Anthropic if self.endpoint.ends_with("/v1") => "/messages",
            api => api.path(),
        }
    }

    /// Why the target cannot be used and what to do, if so.
    pub fn unusable(&self) -> Option<String> {
        let name = self.unset_variable.as_ref()?;
        Some(format!(
            "the provider `{}` has no key, because the variable {name} is not set: export {name}, or add it to .env in GROV_HOME",
            self.provider
        ))
    }

    /// Whether the provider runs on this machine.
    pub fn is_local(&self) -> bool {
        url::Url::parse(&self.endpoint).is_ok_and(|url| is_loopback(&url))
    }
}

/// Whether the host of a URL is this machine.
pub(crate) fn is_loopback(url: &url::Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
