//! Builds the chat model and the embedder that the settings name, and says how they are.

use crate::embedding::{EmbeddingStatus, Rebuild};
use async_trait::async_trait;
use grov_agent_http::ProviderHealth;
use grov_domain::{ChatModel, EmbedError, Embedder, Embedding};
use grov_llm::{
    CLIENT_PROGRAM, ChatApi, ClaudeCliChat, ClaudeCliSettings, EmbedderProvider, EmbedderSettings,
    HashEmbedder, HttpChat, HttpChatSettings, HttpEmbedder, SetupError, StaticEmbedder,
};
use grov_redact::{Redacted, Redactor};
use grov_runtime::{
    AgentEmbedding, ChatModelSettings, ChatProvider, EmbeddingModelSettings, Environment, Url,
};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// The chat model and the embedder. Clones share them.
#[derive(Clone)]
pub(crate) struct Providers {
    /// The chat model; `None` for the rules.
    pub(crate) chat: Option<Arc<dyn ChatModel>>,
    chat_name: &'static str,
    /// The embedder; `None` without one, and if it cannot be used.
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    embedding: AgentEmbedding,
    dimension: Option<usize>,
    /// Why the configured embedder cannot be used.
    trouble: Option<String>,
    /// The progress of the embedding work.
    pub(crate) status: EmbeddingStatus,
}

impl Providers {
    /// Builds what the settings name. Blocking: may read a model from the disk. Calls to `own` listeners are refused.
    ///
    /// A static model that cannot be read is no error: searches go on with words, and the health page says why.
    ///
    /// # Errors
    ///
    /// An address or a key cannot be used.
    pub(crate) fn new(
        chat: &ChatModelSettings,
        embedding: &EmbeddingModelSettings,
        environment: &Environment,
        own: &[SocketAddr],
    ) -> Result<Self, SetupError> {
        let (embedder, trouble) = match embedder(embedding, own)? {
            Ok(embedder) => (embedder, None),
            Err(trouble) => {
                tracing::error!(%trouble, "texts are not embedded");
                (None, Some(trouble))
            }
        };
        Ok(Self {
            chat: chat_model(chat, environment, own)?,
            chat_name: chat.provider.as_str(),
            embedder,
            embedding: embedding.provider,
            dimension: embedding.dims,
            trouble,
            status: EmbeddingStatus::default(),
        })
    }

    /// How the providers are.
    pub(crate) fn health(&self) -> ProviderHealth {
        let progress = self.status.read();
        let trouble = self.trouble.clone().or(progress.trouble);
        let share = progress.share;
        let is_behind = self.embedder.is_some() && share.done < share.total;
        let detail = is_behind.then(|| format!("{} of {} texts are embedded", share.done, share.total));
        ProviderHealth {
            chat: self.chat_name.to_owned(),
            is_chat_ok: self.chat.as_ref().is_none_or(|chat| chat.is_ok()),
            embedding: self.embedding.as_str().to_owned(),
            dimension: progress.dimension.or(self.dimension),
            is_embedding_ok: trouble.is_none(),
            embedding_detail: trouble.or(detail),
        }
    }

    /// Embeds a short text, to check the provider. Returns the dimension; `None` without embeddings.
    ///
    /// # Errors
    ///
    /// Why the provider cannot be used.
    pub(crate) async fn check_embedding(&self) -> anyhow::Result<Option<usize>> {
        if let Some(trouble) = &self.trouble {
            anyhow::bail!(trouble.clone());
        }
        let Some(embedder) = &self.embedder else {
            return Ok(None);
        };
        let found = embedder.embed(&[Redactor::shared().text("memory")]).await?;
        Ok(found.first().map(Embedding::dimension))
    }

    /// Makes embedders of models that the same provider offers, to search their embeddings until the model in use is complete.
    pub(crate) fn rebuild(settings: EmbeddingModelSettings, own: Vec<SocketAddr>) -> Rebuild {
        Box::new(move |model, dimension| {
            let (provider, name) = model.split_once('/')?;
            let same = provider == settings.provider.as_str();
            // The dimension is part of the name if it was asked for.
            let asked = name.strip_suffix(&format!("/{dimension}"));
            let older = EmbeddingModelSettings {
                model: asked.unwrap_or(name).to_owned(),
                dims: asked.map(|_| dimension),
                ..settings.clone()
            };
            let found = embedder(&older, &own).ok().filter(|_| same)?.ok()??;
            (found.model() == model).then_some(found)
        })
    }

    /// Whether the program of the chat provider is installed; `true` for a provider without one.
    pub(crate) fn is_client_installed(&self, environment: &Environment) -> bool {
        let path = environment.get("PATH");
        self.chat_name != ChatProvider::ClaudeCli.as_str()
            || path.is_some_and(|path| {
                std::env::split_paths(path).any(|folder| folder.join(CLIENT_PROGRAM).is_file())
            })
    }
}

fn text(url: Option<&Url>) -> Option<String> {
    url.map(|url| url.as_str().to_owned())
}

fn chat_model(
    settings: &ChatModelSettings,
    environment: &Environment,
    own: &[SocketAddr],
) -> Result<Option<Arc<dyn ChatModel>>, SetupError> {
    let api = match settings.provider {
        ChatProvider::Offline => return Ok(None),
        ChatProvider::OpenAi => ChatApi::OpenAi,
        ChatProvider::Anthropic => ChatApi::Anthropic,
        ChatProvider::ClaudeCli => {
            let variables = environment.iter();
            let client = ClaudeCliChat::new(ClaudeCliSettings {
                program: CLIENT_PROGRAM.into(),
                environment: variables
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .collect(),
                model: settings.model.clone(),
                base_url: text(settings.base_url.as_ref()),
                api_key: settings.api_key.clone(),
                proxy: text(settings.proxy.as_ref()),
                timeout: settings.timeout,
                own_listeners: own.to_vec(),
            })?;
            return Ok(Some(Arc::new(client)));
        }
    };
    let chat = HttpChat::new(HttpChatSettings {
        api,
        base_url: text(settings.base_url.as_ref()),
        api_key: settings.api_key.clone(),
        model: settings.model.clone(),
        timeout: settings.timeout,
        proxy: text(settings.proxy.as_ref()),
        own_listeners: own.to_vec(),
    })?;
    Ok(Some(Arc::new(chat)))
}

/// The embedder, or why it cannot be used at present.
type Usable = Result<Option<Arc<dyn Embedder>>, String>;

fn embedder(settings: &EmbeddingModelSettings, own: &[SocketAddr]) -> Result<Usable, SetupError> {
    let provider = match settings.provider {
        AgentEmbedding::None => return Ok(Ok(None)),
        AgentEmbedding::Mock => {
            let dimension = settings.dims.unwrap_or(1);
            return Ok(Ok(Some(Arc::new(HashEmbedder::new(dimension)))));
        }
        AgentEmbedding::Static => {
            let loaded = StaticEmbedder::load(Path::new(&settings.model));
            let checked = loaded.map(|model| Some(of_dimension(Arc::new(model), settings)));
            return Ok(checked.map_err(|error| error.to_string()));
        }
        AgentEmbedding::Ollama => EmbedderProvider::Ollama,
        AgentEmbedding::OpenAi => EmbedderProvider::OpenAi,
    };
    let http = HttpEmbedder::unmetered(EmbedderSettings {
        base_url: text(settings.base_url.as_ref()),
        api_key: settings.api_key.clone(),
        // Ollama would shorten the vectors of a model that was not made for it.
        dimensions: settings.dims.filter(|_| provider == EmbedderProvider::OpenAi),
        proxy: text(settings.proxy.as_ref()),
        own_listeners: own.to_vec(),
        ..EmbedderSettings::new(provider, &settings.model)
    })?;
    Ok(Ok(Some(of_dimension(Arc::new(http), settings))))
}

fn of_dimension(inner: Arc<dyn Embedder>, settings: &EmbeddingModelSettings) -> Arc<dyn Embedder> {
    match settings.dims {
        Some(dimension) => Arc::new(OfDimension { inner, dimension }),
        None => inner,
    }
}

/// An embedder whose embeddings must have a dimension.
struct OfDimension {
    inner: Arc<dyn Embedder>,
    dimension: usize,
}

#[async_trait]
impl Embedder for OfDimension {
    fn model(&self) -> &str {
        self.inner.model()
    }

    async fn embed(&self, texts: &[Redacted]) -> Result<Vec<Embedding>, EmbedError> {
        let found = self.inner.embed(texts).await?;
        match found
            .iter()
            .find(|embedding| embedding.dimension() != self.dimension)
        {
            None => Ok(found),
            Some(other) => {
                let (found, wanted) = (other.dimension(), self.dimension);
                Err(EmbedError::Failed(format!(
                    "the model's embeddings have {found} dimensions, but EMBEDDING_DIMS is {wanted}; \
                     set EMBEDDING_DIMS to {found}, or choose a model with {wanted}"
                )))
            }
        }
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_redact::Secret;
    use std::time::Duration;

    fn chat(provider: ChatProvider) -> ChatModelSettings {
        ChatModelSettings {
            provider,
            base_url: None,
            model: Some("m".to_owned()),
            api_key: Some(Secret::new("k")),
            timeout: Duration::from_secs(1),
            proxy: None,
        }
    }

    fn embedding(provider: AgentEmbedding, model: &str, dims: Option<usize>) -> EmbeddingModelSettings {
        EmbeddingModelSettings {
            provider,
            base_url: None,
            model: model.to_owned(),
            api_key: None,
            dims,
            proxy: None,
        }
    }

    fn providers(
        chat: &ChatModelSettings,
        embedding: &EmbeddingModelSettings,
    ) -> Result<Providers, SetupError> {
        let own = ["127.0.0.1:8090".parse().unwrap()];
        Providers::new(chat, embedding, &Environment::default(), &own)
    }

    #[test]
    fn each_provider_is_built_by_its_name() {
        let none = embedding(AgentEmbedding::None, "", None);
        for provider in [
            ChatProvider::OpenAi,
            ChatProvider::Anthropic,
            ChatProvider::ClaudeCli,
        ] {
            let built = providers(&chat(provider), &none).unwrap();
            assert_eq!(built.chat.unwrap().provider(), provider.as_str());
        }
        let built = providers(&chat(ChatProvider::Offline), &none).unwrap();
        assert!(built.chat.is_none() && built.embedder.is_none());
        let health = built.health();
        assert_eq!((health.chat.as_str(), health.is_chat_ok), ("offline", true));
        assert_eq!(
            (health.embedding.as_str(), health.is_embedding_ok),
            ("none", true)
        );
        for (provider, id) in [
            (AgentEmbedding::Ollama, "ollama/m"),
            (AgentEmbedding::OpenAi, "openai/m/8"),
            (AgentEmbedding::Mock, "mock/1/8"),
        ] {
            let built = providers(&chat(ChatProvider::Offline), &embedding(provider, "m", Some(8))).unwrap();
            assert_eq!(built.embedder.unwrap().model(), id);
        }
    }

    #[test]
    fn models_of_the_same_provider_can_be_searched_after_a_change() {
        let rebuild = |provider, model: &str| {
            let rebuild = Providers::rebuild(embedding(provider, "m", Some(8)), Vec::new());
            rebuild(model, 16).map(|found| found.model().to_owned())
        };
        for (provider, model) in [
            (AgentEmbedding::Mock, "mock/1/16"),
            (AgentEmbedding::Ollama, "ollama/library/old"),
            (AgentEmbedding::OpenAi, "openai/vendor/old"),
            (AgentEmbedding::OpenAi, "openai/vendor/old/16"),
        ] {
            assert_eq!(rebuild(provider, model).as_deref(), Some(model));
        }
        assert_eq!(rebuild(AgentEmbedding::Ollama, "openai/old"), None);
        assert_eq!(rebuild(AgentEmbedding::Mock, "mock/0/16"), None);
        assert_eq!(rebuild(AgentEmbedding::None, "static-0123"), None);
    }

    #[test]
    fn a_call_to_the_service_itself_is_refused() {
        let mut itself = chat(ChatProvider::OpenAi);
        itself.base_url = Some(Url::parse("http://localhost:8090/v1").unwrap());
        let refused = providers(&itself, &embedding(AgentEmbedding::None, "", None));
        assert!(matches!(refused, Err(SetupError::OwnListener { .. })));
    }

    #[tokio::test]
    async fn a_missing_static_model_is_said_and_stops_nothing() {
        let missing = embedding(AgentEmbedding::Static, "/nowhere/model", None);
        let built = providers(&chat(ChatProvider::Offline), &missing).unwrap();
        assert!(built.embedder.is_none());
        let health = built.health();
        assert!(!health.is_embedding_ok);
        assert!(health.embedding_detail.unwrap().contains("/nowhere/model"));
        assert!(built.check_embedding().await.is_err());
    }

    #[tokio::test]
    async fn another_dimension_is_a_clear_error() {
        let embedder = OfDimension {
            inner: Arc::new(HashEmbedder::new(16)),
            dimension: 8,
        };
        let error = embedder.embed(&[Redactor::shared().text("a")]).await.unwrap_err();
        assert!(
            error
                .to_string()
                .contains("have 16 dimensions, but EMBEDDING_DIMS is 8"),
            "{error}"
        );
        let fits = OfDimension {
            inner: Arc::new(HashEmbedder::new(8)),
            dimension: 8,
        };
        assert!(fits.embed(&[Redactor::shared().text("a")]).await.is_ok());
    }
}
