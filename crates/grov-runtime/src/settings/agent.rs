//! Settings of the agent service.

use super::database::DatabaseUrl;
use super::error::SettingsError;
use super::table::AgentValues;
use super::types::{AgentEmbedding, ChatProvider};
use crate::{Home, Url};
use grov_redact::Secret;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The dimension of mock embeddings if none is set.
const MOCK_DIMENSION: usize = 384;

/// Settings of the agent service, complete and consistent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSettings {
    /// The address to listen on.
    pub host: IpAddr,
    /// The port to listen on; 0 for any free one.
    pub port: u16,
    /// The address under which others reach the service; `None` for where it listens.
    pub public_url: Option<Url>,
    /// Host headers that are accepted besides loopback names and the own address.
    pub allowed_hosts: Vec<String>,
    /// Certificate chain and key in PEM.
    pub tls: Option<TlsFiles>,
    /// The key with the role admin; `None` if one has to be made.
    pub api_key: Option<Secret>,
    /// The database.
    pub database: DatabaseUrl,
    /// The most connections to the database.
    pub database_connections: u32,
    /// Qdrant, if it keeps the vectors.
    pub qdrant_url: Option<Url>,
    /// The key for Qdrant.
    pub qdrant_api_key: Option<Secret>,
    /// The folder of uploaded documents.
    pub upload_dir: PathBuf,
    /// The chat model.
    pub chat: ChatModelSettings,
    /// The embedding model.
    pub embedding: EmbeddingModelSettings,
    /// Where events are sent, if anywhere. A valid `http` or `https` address.
    pub webhook_url: Option<Secret>,
    /// Signs events and results.
    pub webhook_secret: Option<Secret>,
    /// Limits of requests and prompts.
    pub limits: AgentLimits,
    /// How long running chats may continue after a stop was requested.
    pub shutdown_grace: Duration,
}

/// Files for TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate chain.
    pub certificates: PathBuf,
    /// The key.
    pub key: PathBuf,
}

/// The chat model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatModelSettings {
    /// The provider.
    pub provider: ChatProvider,
    /// The base address of the server; `None` for the provider's own.
    pub base_url: Option<Url>,
    /// The model; `None` for the provider's default. Always set with [`ChatProvider::OpenAi`].
    pub model: Option<String>,
    /// The key.
    pub api_key: Option<Secret>,
    /// The timeout of one answer, retries included.
    pub timeout: Duration,
    /// The HTTP proxy of calls to models (`llm.proxy`).
    pub proxy: Option<Url>,
}

/// The embedding model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingModelSettings {
    /// The provider.
    pub provider: AgentEmbedding,
    /// The base address of the server; `None` for the provider's own.
    pub base_url: Option<Url>,
    /// The model; with [`AgentEmbedding::Static`] the absolute path of its folder. Empty only without embeddings.
    pub model: String,
    /// The key.
    pub api_key: Option<Secret>,
    /// The dimension that the model must have; `None` for its own. Always set with [`AgentEmbedding::Mock`].
    pub dims: Option<usize>,
    /// The HTTP proxy of calls to models (`llm.proxy`).
    pub proxy: Option<Url>,
}

/// Limits of the agent service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentLimits {
    /// The largest request body in bytes.
    pub max_body_bytes: u64,
    /// Chats that a key may start in a minute.
    pub chats_per_minute: u32,
    /// Chats of a project at the same time.
    pub chats_at_once: u32,
    /// How long a client may take nothing of an answer that waits for it.
    pub client_timeout: Duration,
    /// Tokens of documents and memory in a prompt.
    pub context_tokens: u32,
    /// Tokens of history in a prompt.
    pub history_tokens: u32,
    /// Tokens of one answer.
    pub max_output_tokens: u32,
}

impl AgentSettings {
    /// `anthropic_key` is the `ANTHROPIC_API_KEY` of Grov's environment if `llm.use_anthropic_key` allows its use.
    pub(super) fn of(
        values: &AgentValues,
        proxy: Option<&Url>,
        anthropic_key: Option<Secret>,
        home: &Home,
    ) -> Result<Self, SettingsError> {
        let values = values.clone();
        let database = values
            .database_url
            .clone()
            .unwrap_or_else(|| DatabaseUrl::Sqlite("agent.db".into()));
        Ok(Self {
            host: values.host,
            port: values.port,
            public_url: values.public_url.clone(),
            tls: tls(&values)?,
            database: database.below(home.root()),
            database_connections: values.database_connections,
            upload_dir: values
                .upload_dir
                .clone()
                .unwrap_or_else(|| home.root().join("uploads")),
            chat: chat(&values, proxy, anthropic_key)?,
            embedding: embedding(&values, proxy, home)?,
            webhook_url: webhook_url(&values)?,
            webhook_secret: values.tool_webhook_secret,
            qdrant_url: values.qdrant_url,
            qdrant_api_key: values.qdrant_api_key,
            api_key: values.api_key,
            allowed_hosts: values.allowed_hosts,
            limits: AgentLimits {
                max_body_bytes: values.max_body_bytes,
                chats_per_minute: values.chats_per_minute,
                chats_at_once: values.chats_at_once,
                client_timeout: values.client_timeout,
                context_tokens: values.context_tokens,
                history_tokens: values.history_tokens,
                max_output_tokens: values.max_output_tokens,
            },
            shutdown_grace: values.shutdown_grace,
        })
    }
}

fn tls(values: &AgentValues) -> Result<Option<TlsFiles>, SettingsError> {
    match (values.tls_cert.clone(), values.tls_key.clone()) {
        (Some(certificates), Some(key)) => Ok(Some(TlsFiles { certificates, key })),
        (None, None) => Ok(None),
        (Some(_), None) => incomplete(
            "agent.tls_cert is set, but agent.tls_key is not",
            "set both, or neither",
        ),
        (None, Some(_)) => incomplete(
            "agent.tls_key is set, but agent.tls_cert is not",
            "set both, or neither",
        ),
    }
}

fn chat(
    values: &AgentValues,
    proxy: Option<&Url>,
    anthropic_key: Option<Secret>,
) -> Result<ChatModelSettings, SettingsError> {
    let (provider, base_url) = (values.chat_provider, values.chat_base_url.clone());
    let own = values.chat_api_key.clone();
    // Anthropic's key must not be sent to another server.
    let is_anthropics = provider == ChatProvider::Anthropic && base_url.is_none();
    let api_key = own.or(anthropic_key.filter(|_| is_anthropics));
    let is_reachable = api_key.is_some() || base_url.is_some();
    match provider {
        ChatProvider::OpenAi if values.chat_model.is_none() => {
            return incomplete(
                "the chat provider is openai, but CHAT_MODEL (agent.chat_model) is not set",
                "name a model that the server offers",
            );
        }
        ChatProvider::OpenAi if !is_reachable => {
            return incomplete(
                "the chat provider is openai, but neither CHAT_BASE_URL nor CHAT_API_KEY is set",
                "set CHAT_API_KEY for OpenAI, or CHAT_BASE_URL for another server",
            );
        }
        ChatProvider::Anthropic if !is_reachable => {
            return incomplete(
                "the chat provider is anthropic, but there is no key",
                "set CHAT_API_KEY (agent.chat_api_key)",
            );
        }
        _ => {}
    }
    Ok(ChatModelSettings {
        provider,
        base_url,
        model: values.chat_model.clone(),
        api_key,
        timeout: values.chat_timeout,
        proxy: proxy.cloned(),
    })
}

fn embedding(
    values: &AgentValues,
    proxy: Option<&Url>,
    home: &Home,
) -> Result<EmbeddingModelSettings, SettingsError> {
    let provider = values.embedding_provider;
    let named = values.embedding_model.as_str();
    match provider {
        AgentEmbedding::Static if named.is_empty() => {
            return incomplete(
                "the embedding provider is static, but EMBEDDING_MODEL (agent.embedding_model) is not set",
                "name the folder with the model's tokenizer.json and model.safetensors",
            );
        }
        AgentEmbedding::Ollama | AgentEmbedding::OpenAi if named.is_empty() => {
            return incomplete(
                "an embedding provider is set, but EMBEDDING_MODEL (agent.embedding_model) is not",
                "name a model that the server offers",
            );
        }
        AgentEmbedding::OpenAi
            if values.embedding_base_url.is_none() && values.embedding_api_key.is_none() =>
        {
            return incomplete(
                "the embedding provider is openai, but neither EMBEDDING_BASE_URL nor EMBEDDING_API_KEY is set",
                "set EMBEDDING_API_KEY for OpenAI, or EMBEDDING_BASE_URL for another server",
            );
        }
        AgentEmbedding::Mock if !values.allow_mock => {
            return incomplete(
                "the embedding provider mock is only for tests: its vectors know no meaning",
                "choose another provider, or set GROV_ALLOW_MOCK=1",
            );
        }
        _ => {}
    }
    let model = match provider {
        AgentEmbedding::Static => home.root().join(named).display().to_string(),
        AgentEmbedding::Mock => "mock".to_owned(),
        AgentEmbedding::None => String::new(),
        AgentEmbedding::Ollama | AgentEmbedding::OpenAi => named.to_owned(),
    };
    let mock_dims = (provider == AgentEmbedding::Mock).then_some(MOCK_DIMENSION);
    Ok(EmbeddingModelSettings {
        provider,
        base_url: values.embedding_base_url.clone(),
        model,
        api_key: values.embedding_api_key.clone(),
        dims: values.embedding_dims.or(mock_dims),
        proxy: proxy.cloned(),
    })
}

fn webhook_url(values: &AgentValues) -> Result<Option<Secret>, SettingsError> {
    let Some(address) = &values.tool_webhook_url else {
        return Ok(None);
    };
    let parsed = url::Url::parse(address.expose());
    let is_web = parsed.is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if is_web {
        return Ok(Some(address.clone()));
    }
    incomplete(
        "TOOL_WEBHOOK_URL (agent.tool_webhook_url) is no http:// or https:// address",
        "set the address that takes events, or unset it",
    )
}

fn incomplete<T>(reason: &str, hint: &'static str) -> Result<T, SettingsError> {
    Err(SettingsError::Incomplete {
        reason: reason.to_owned(),
        hint,
    })
}
