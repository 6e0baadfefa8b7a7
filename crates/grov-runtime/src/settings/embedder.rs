//! Settings of the embedding model. Off by default.

use super::error::SettingsError;
use super::table::{EmbedderValues, LlmValues};
use crate::{Home, Url};
use grov_redact::Secret;
use std::path::PathBuf;

/// The provider of embeddings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmbeddingProvider {
    /// No embeddings.
    Off,
    /// A server with OpenAI's `/v1/embeddings`.
    OpenAi,
    /// Ollama.
    Ollama,
    /// Computed by Grov with a static model, whose files are in this folder.
    Static(PathBuf),
}

/// Settings of embeddings. Budget, timeout and proxy are those of all model calls ([`super::LlmSettings`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingSettings {
    /// The provider; [`EmbeddingProvider::Off`] also if a setting that the configured one needs is missing.
    pub provider: EmbeddingProvider,
    /// The setting that the configured provider lacks, and what to do; `None` if it is complete.
    pub missing: Option<&'static str>,
    /// The model; empty only with [`EmbeddingProvider::Off`].
    pub model: String,
    /// Base address of the server; `None` for the provider's default.
    pub base_url: Option<Url>,
    /// Grov's key for the provider.
    pub api_key: Option<Secret>,
}

impl EmbeddingSettings {
    pub(super) fn of(values: &EmbedderValues, llm: &LlmValues, home: &Home) -> Result<Self, SettingsError> {
        let EmbedderValues { model, base_url, .. } = values.clone();
        let asked = match values.provider.as_str() {
            "off" => EmbeddingProvider::Off,
            "openai" => EmbeddingProvider::OpenAi,
            "ollama" => EmbeddingProvider::Ollama,
            "static" => EmbeddingProvider::Static(home.root().join(&model)),
            _ => return Err(SettingsError::Mistyped("embedder.provider")),
        };
        // The judge's key is sent only to the judge's server.
        let is_judges_server =
            asked == EmbeddingProvider::OpenAi && llm.provider == "openai" && llm.base_url == base_url;
        let judges_key = llm.api_key.clone().filter(|_| is_judges_server);
        let api_key = values.api_key.clone().or(judges_key);
        let missing = match asked {
            EmbeddingProvider::Off => None,
            EmbeddingProvider::Static(_) if model.is_empty() => Some(
                "embedder.provider is static, but embedder.model is not set: name the folder with the model's files",
            ),
            _ if model.is_empty() => Some(
                "embedder.provider is set, but embedder.model is not: name a model that the server offers",
            ),
            EmbeddingProvider::OpenAi if base_url.is_none() && api_key.is_none() => Some(
                "embedder.provider is openai, but neither embedder.base_url nor a key is set: set GROV_EMBEDDER_API_KEY",
            ),
            _ => None,
        };
        Ok(Self {
            provider: if missing.is_some() {
                EmbeddingProvider::Off
            } else {
                asked
            },
            missing,
            model,
            base_url,
            api_key,
        })
    }
}
