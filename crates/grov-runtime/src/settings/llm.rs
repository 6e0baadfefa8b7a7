//! Settings of Grov's own model calls: provider, key and budget.

use super::error::SettingsError;
use super::table::LlmValues;
use crate::Url;
use grov_redact::Secret;
use std::time::Duration;

/// The provider of the model that judges the agent's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LlmProvider {
    /// The Anthropic Messages API.
    Anthropic,
    /// A server that is compatible with OpenAI's.
    OpenAi,
    /// The installed Claude Code with the login of its user.
    ClaudeCli,
    /// No model: only rules judge.
    Offline,
}

impl LlmProvider {
    /// `anthropic`, `openai`, `claude_cli` or `offline`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::ClaudeCli => CLAUDE_CLI,
            Self::Offline => "offline",
        }
    }
}

/// The name of the provider that only the home's own files may choose.
const CLAUDE_CLI: &str = "claude_cli";

/// Settings of Grov's own model calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlmSettings {
    /// The provider; [`LlmProvider::Offline`] also if a setting that the configured one needs is missing.
    pub provider: LlmProvider,
    /// The setting that the configured provider lacks, and what to do; `None` if it is complete.
    pub missing: Option<&'static str>,
    /// The model; `None` for the provider's default.
    pub model: Option<String>,
    /// Base address of the server; `None` for the provider's default.
    pub base_url: Option<Url>,
    /// Grov's key for the provider.
    pub api_key: Option<Secret>,
    /// Whether `ANTHROPIC_API_KEY` of Grov's environment may be used.
    pub use_anthropic_key: bool,
    /// Maximum cost of Grov's model calls per UTC day, in millionths of a US dollar.
    pub daily_budget_micro_usd: u64,
    /// Timeout of a call.
    pub timeout: Duration,
    /// Maximum number of concurrent calls.
    pub concurrency: usize,
    /// The HTTP proxy for calls; variables such as `HTTPS_PROXY` are not used.
    pub proxy: Option<Url>,
}

impl LlmSettings {
    /// `anthropic_key` is the `ANTHROPIC_API_KEY` of Grov's own environment, used only where a setting allows it.
    /// `is_of_home` says whether a file of the home has a setting's value: a project can set variables for the agent's client
    /// and its hooks, and must not make Grov run a program with the user's login, or send that login elsewhere.
    pub(super) fn of(
        values: &LlmValues,
        anthropic_key: Option<Secret>,
        is_of_home: impl Fn(&str) -> bool,
    ) -> Result<Self, SettingsError> {
        let values = values.clone();
        let use_anthropic_key = values.use_anthropic_key;
        // Anthropic's key must not be sent to another provider.
        let api_key = match values.provider.as_str() {
            "openai" => values.api_key,
            _ => values.api_key.or(anthropic_key.filter(|_| use_anthropic_key)),
        };
        let has_key = api_key.is_some();
        let has_url = values.base_url.is_some();
        let has_model = values.model.is_some();
        let offline = |missing| (LlmProvider::Offline, Some(missing));
        let (provider, missing) = match values.provider.as_str() {
            "auto" | "anthropic" if has_key => (LlmProvider::Anthropic, None),
            "openai" if has_model && (has_key || has_url) => (LlmProvider::OpenAi, None),
            "auto" | "anthropic" if use_anthropic_key => offline(
                "llm.use_anthropic_key is true, but ANTHROPIC_API_KEY holds no key where Grov was started",
            ),
            "auto" if has_url => offline(
                "llm.base_url is set, but there is no key: set llm.provider to openai for a server that needs none, or GROV_LLM_API_KEY",
            ),
            "anthropic" => offline("llm.provider is anthropic, but there is no key: set GROV_LLM_API_KEY"),
            "openai" if !has_model => offline(
                "llm.provider is openai, but llm.model is not set: name a model that the server offers",
            ),
            "openai" => offline("llm.provider is openai, but neither llm.base_url nor a key is set"),
            CLAUDE_CLI if !is_of_home("llm.provider") => offline(
                "llm.provider is claude_cli, but not in a file of Grov's home: run `grov config set llm.provider claude_cli`",
            ),
            CLAUDE_CLI if has_url && !is_of_home("llm.base_url") => offline(
                "llm.base_url is not in a file of Grov's home, and claude_cli would send your login there: remove it, or set it with `grov config set`",
            ),
            CLAUDE_CLI => (LlmProvider::ClaudeCli, None),
            "auto" | "offline" => (LlmProvider::Offline, None),
            _ => return Err(SettingsError::Mistyped("llm.provider")),
        };
        Ok(Self {
            provider,
            missing,
            model: values.model,
            base_url: values.base_url,
            api_key,
            use_anthropic_key,
            daily_budget_micro_usd: values.daily_budget_micro_usd,
            timeout: values.timeout,
            concurrency: values.concurrency,
            proxy: values.proxy,
        })
    }
}
