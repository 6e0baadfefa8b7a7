//! Settings of the model that says what texts mean, as numbers. Off unless somebody names one.

use super::error::SettingsError;
use super::value::Value;
use super::views::Values;
use crate::{Home, Url};
use grov_redact::Secret;
use std::path::PathBuf;

/// Who embeds texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmbeddingProvider {
    /// Nobody.
    Off,
    /// Any server with OpenAI's `/v1/embeddings`.
    OpenAi,
    /// Ollama.
    Ollama,
    /// Grov itself, with the files of a static model in this folder.
    Static(PathBuf),
}

/// Settings of embeddings. Budget, time limit and proxy are those of all of Grov's own model calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingSettings {
    /// Who is asked: [`EmbeddingProvider::Off`] also where what another provider needs is missing.
    pub provider: EmbeddingProvider,
    /// Why a provider that was asked for cannot be asked, and what to do; `None` where all is as configured.
    pub missing: Option<&'static str>,
    /// The model; empty only with [`EmbeddingProvider::Off`].
    pub model: String,
    /// Base address of the server; `None` for the provider's own.
    pub base_url: Option<Url>,
    /// Grov's own key.
    pub api_key: Option<Secret>,
}

impl EmbeddingSettings {
    pub(super) fn of(values: &Values<'_>, home: &Home) -> Result<Self, SettingsError> {
        let url = |name| {
            values.get(name, |value| match value {
                Value::Url(url) => Some(Some(url.clone())),
                Value::Text(text) if text.is_empty() => Some(None),
                _ => None,
            })
        };
        let key = |name| {
            values.get(name, |value| match value {
                Value::Secret(secret) => Some((!secret.is_empty()).then(|| secret.clone())),
                _ => None,
            })
        };
        let base_url = url("embedder.base_url")?;
        let model = values.choice("embedder.model", |text| Some(text.to_owned()))?;
        let asked = values.choice("embedder.provider", |word| match word {
            "off" => Some(EmbeddingProvider::Off),
            "openai" => Some(EmbeddingProvider::OpenAi),
            "ollama" => Some(EmbeddingProvider::Ollama),
            "static" => Some(EmbeddingProvider::Static(home.root().join(&model))),
            _ => None,
        })?;
        let judged_there =
            values.choice("llm.provider", |word| Some(word == "openai"))? && url("llm.base_url")? == base_url;
        let api_key = match key("embedder.api_key")? {
            Some(own) => Some(own),
            // The judge's key goes to the judge's server and to no other.
            None if asked == EmbeddingProvider::OpenAi && judged_there => key("llm.api_key")?,
            None => None,
        };
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
