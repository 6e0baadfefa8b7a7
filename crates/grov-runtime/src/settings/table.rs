//! The declarations of all settings: field and type, name, kind, default, environment variables, flag, meaning, and whether a
//! project's file may set it.

use super::database::DatabaseUrl;
use super::error::SettingsError;
use super::keys::Key;
use super::tool_grant::ToolGrant;
use super::types::{AgentEmbedding, ChatProvider, FromValue, GuardMode, HeaderPolicy, UserMode};
use super::value::Kind;
use super::{Explanation, Home};
use crate::Url;
use grov_redact::Secret;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Declares the sections, sorted by name: a struct for each, [`Sections`] with all of them, and [`KEYS`].
macro_rules! settings {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $struct:ident $section:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty = $name:literal, $kind:expr, $default:literal, [$($environment:literal),+]
                    $(, flag $flag:literal)? $(, per $project:ident)?;
            )+
        }
    )+) => {
        $(
            $(#[$meta])*
            $vis struct $struct {
                $($(#[doc = $doc])+ pub $field: $type,)+
            }
        )+

        /// The settings by section.
        #[derive(Clone, Debug)]
        pub(super) struct Sections {
            $(pub(super) $section: $struct,)+
        }

        impl Sections {
            pub(super) fn of(resolved: &[Explanation], home: &Home) -> Result<Self, SettingsError> {
                Ok(Self {
                    $($section: $struct { $($field: read(resolved, $name, home)?,)+ },)+
                })
            }
        }

        /// All settings, sorted by name.
        pub static KEYS: &[Key] = &[
            $($(
                Key {
                    name: $name,
                    environment: &[$($environment),+],
                    flag: first(&[$($flag)?]),
                    kind: $kind,
                    default: $default,
                    doc: concat!($($doc),+).trim_ascii_start(),
                    project: !concat!($(stringify!($project))?).is_empty(),
                },
            )+)+
        ];
    };
}

const fn first(flags: &'static [&'static str]) -> Option<&'static str> {
    match flags {
        [flag, ..] => Some(*flag),
        [] => None,
    }
}

fn read<T: FromValue>(resolved: &[Explanation], name: &'static str, home: &Home) -> Result<T, SettingsError> {
    let found = resolved.iter().find(|resolved| resolved.key.name == name);
    found
        .and_then(|resolved| T::from_value(&resolved.value, home))
        .ok_or(SettingsError::Mistyped(name))
}

const MEBIBYTE: u64 = 1024 * 1024;
/// A ledger that is pruned within the current day would lose spending that counts against the day's budget.
const SECONDS_OF_TWO_DAYS: u64 = 2 * 24 * 3600;

settings! {
    /// Settings of the agent service, as configured.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(super) struct AgentValues agent {
        /// Whether the embedding provider mock may be used; for tests only
        allow_mock: bool = "agent.allow_mock", Kind::Boolean, "false", ["GROV_AGENT_ALLOW_MOCK", "GROV_ALLOW_MOCK"];
        /// Host headers that grov-agentd accepts besides loopback names and the address that it listens on
        allowed_hosts: Vec<String> = "agent.allowed_hosts", Kind::List, "", ["GROV_AGENT_ALLOWED_HOSTS"];
        /// Key with the role admin for the agent service; without one, one is made and kept in the home
        api_key: Option<Secret> = "agent.api_key", Kind::Secret, "", ["GROV_AGENT_API_KEY", "AGENT_API_KEY"];
        /// Key for the agent service's chat model
        chat_api_key: Option<Secret> = "agent.chat_api_key", Kind::Secret, "",
            ["GROV_AGENT_CHAT_API_KEY", "GROV_CHAT_API_KEY", "CHAT_API_KEY"];
        /// Base address of the chat model's server; the provider's own if not set
        chat_base_url: Option<Url> = "agent.chat_base_url", Kind::Url, "",
            ["GROV_AGENT_CHAT_BASE_URL", "GROV_CHAT_BASE_URL", "CHAT_BASE_URL"];
        /// Chat model; the provider's default if not set (openai has none)
        chat_model: Option<String> = "agent.chat_model", Kind::Word, "",
            ["GROV_AGENT_CHAT_MODEL", "GROV_CHAT_MODEL", "CHAT_MODEL"];
        /// Provider of the chat model: offline = rules that quote what is found, or ask; anthropic; openai = any compatible
        /// server; claude_cli = the installed Claude Code with the login of the user who runs grov-agentd
        chat_provider: ChatProvider = "agent.chat_provider", Kind::Choice(ChatProvider::WORDS), "offline",
            ["GROV_AGENT_CHAT_PROVIDER", "GROV_CHAT_PROVIDER", "CHAT_PROVIDER"];
        /// Timeout of one answer of the chat model, retries included
        chat_timeout: Duration = "agent.chat_timeout", Kind::Duration { min_seconds: 1 }, "2m",
            ["GROV_AGENT_CHAT_TIMEOUT"];
        /// Maximum number of chats of a project at the same time
        chats_at_once: u32 = "agent.chats_at_once", Kind::Integer { min: 1, max: 10_000 }, "8",
            ["GROV_AGENT_CHATS_AT_ONCE"];
        /// Maximum number of chats that a key may start per minute
        chats_per_minute: u32 = "agent.chats_per_minute", Kind::Integer { min: 1, max: 1_000_000 }, "60",
            ["GROV_AGENT_CHATS_PER_MINUTE"];
        /// How long a client may take nothing of an answer that waits for it, event streams included; then its connection is
        /// closed, and its chat cancelled
        client_timeout: Duration = "agent.client_timeout", Kind::Duration { min_seconds: 1 }, "45s",
            ["GROV_AGENT_CLIENT_TIMEOUT"];
        /// Maximum number of tokens of documents and memory in a prompt
        context_tokens: u32 = "agent.context_tokens", Kind::Integer { min: 256, max: 1_000_000 }, "6000",
            ["GROV_AGENT_CONTEXT_TOKENS"];
        /// Maximum number of connections to the database
        database_connections: u32 = "agent.database_connections", Kind::Integer { min: 1, max: 1000 }, "10",
            ["GROV_AGENT_DATABASE_CONNECTIONS"];
        /// Database: sqlite:PATH, relative to the home, or postgresql://USER@HOST/NAME; agent.db in the home if not set
        database_url: Option<DatabaseUrl> = "agent.database_url", Kind::Database, "",
            ["GROV_AGENT_DATABASE_URL", "GROV_DATABASE_URL", "DATABASE_URL"];
        /// Key for the agent service's embedding model
        embedding_api_key: Option<Secret> = "agent.embedding_api_key", Kind::Secret, "",
            ["GROV_AGENT_EMBEDDING_API_KEY", "GROV_EMBEDDING_API_KEY", "EMBEDDING_API_KEY"];
        /// Base address of the embedding model's server; the provider's own if not set (ollama: this machine)
        embedding_base_url: Option<Url> = "agent.embedding_base_url", Kind::Url, "",
            ["GROV_AGENT_EMBEDDING_BASE_URL", "GROV_EMBEDDING_BASE_URL", "EMBEDDING_BASE_URL"];
        /// Dimension of the embeddings. It must be the model's; openai is asked for it. The model's own if not set
        embedding_dims: Option<usize> = "agent.embedding_dims", Kind::Integer { min: 1, max: 4096 }, "",
            ["GROV_AGENT_EMBEDDING_DIMS", "GROV_EMBEDDING_DIMS", "EMBEDDING_DIMS"];
        /// Embedding model by name; with static the folder of its files, relative to the home. A change makes grov-agentd
        /// embed everything again in the background
        embedding_model: String = "agent.embedding_model", Kind::Path, "",
            ["GROV_AGENT_EMBEDDING_MODEL", "GROV_EMBEDDING_MODEL", "EMBEDDING_MODEL"];
        /// Provider of embeddings: none = search by words, static = grov-agentd itself with a static model's files, ollama,
        /// openai = any compatible server, mock = for tests
        embedding_provider: AgentEmbedding = "agent.embedding_provider", Kind::Choice(AgentEmbedding::WORDS), "none",
            ["GROV_AGENT_EMBEDDING_PROVIDER", "GROV_EMBEDDING_PROVIDER", "EMBEDDING_PROVIDER"];
        /// Maximum number of tokens of a thread's history in a prompt; what is older is summarised
        history_tokens: u32 = "agent.history_tokens", Kind::Integer { min: 256, max: 1_000_000 }, "6000",
            ["GROV_AGENT_HISTORY_TOKENS"];
        /// Address that grov-agentd listens on; others than loopback need TLS or --insecure
        host: IpAddr = "agent.host", Kind::Address, "127.0.0.1", ["GROV_AGENT_HOST"], flag "--host";
        /// Largest request body
        max_body_bytes: u64 = "agent.max_body_bytes", Kind::Size { min: 1024, max: 1024 * MEBIBYTE }, "20MiB",
            ["GROV_AGENT_MAX_BODY_BYTES"];
        /// Maximum number of tokens of one answer of the chat model
        max_output_tokens: u32 = "agent.max_output_tokens", Kind::Integer { min: 64, max: 1_000_000 }, "4096",
            ["GROV_AGENT_MAX_OUTPUT_TOKENS"];
        /// Port that grov-agentd listens on; 0 = any free one
        port: u16 = "agent.port", Kind::Integer { min: 0, max: 65_535 }, "8090", ["GROV_AGENT_PORT"], flag "--port";
        /// Address under which others reach grov-agentd, for links in webhook events; where it listens if not set
        public_url: Option<Url> = "agent.public_url", Kind::Url, "", ["GROV_AGENT_PUBLIC_URL"];
        /// Key for Qdrant
        qdrant_api_key: Option<Secret> = "agent.qdrant_api_key", Kind::Secret, "",
            ["GROV_AGENT_QDRANT_API_KEY", "GROV_QDRANT_API_KEY", "QDRANT_API_KEY"];
        /// Base address of Qdrant, which keeps the vectors if it is set
        qdrant_url: Option<Url> = "agent.qdrant_url", Kind::Url, "",
            ["GROV_AGENT_QDRANT_URL", "GROV_QDRANT_URL", "QDRANT_URL"];
        /// How long running chats may continue after grov-agentd was asked to stop
        shutdown_grace: Duration = "agent.shutdown_grace", Kind::Duration { min_seconds: 0 }, "20s",
            ["GROV_AGENT_SHUTDOWN_GRACE"];
        /// File with the TLS certificates of grov-agentd in PEM, relative to the home
        tls_cert: Option<PathBuf> = "agent.tls_cert", Kind::Path, "", ["GROV_AGENT_TLS_CERT"], flag "--tls-cert";
        /// File with the key of the TLS certificate in PEM, relative to the home
        tls_key: Option<PathBuf> = "agent.tls_key", Kind::Path, "", ["GROV_AGENT_TLS_KEY"], flag "--tls-key";
        /// Secret that signs the webhook's events, and the results that are posted back
        tool_webhook_secret: Option<Secret> = "agent.tool_webhook_secret", Kind::Secret, "",
            ["GROV_AGENT_TOOL_WEBHOOK_SECRET", "GROV_TOOL_WEBHOOK_SECRET", "TOOL_WEBHOOK_SECRET"];
        /// Address that events about tool calls and memory are posted to; not shown, because it may contain a token
        tool_webhook_url: Option<Secret> = "agent.tool_webhook_url", Kind::Secret, "",
            ["GROV_AGENT_TOOL_WEBHOOK_URL", "GROV_TOOL_WEBHOOK_URL", "TOOL_WEBHOOK_URL"];
        /// Folder of uploaded documents, relative to the home; uploads in the home if not set
        upload_dir: Option<PathBuf> = "agent.upload_dir", Kind::Path, "",
            ["GROV_AGENT_UPLOAD_DIR", "GROV_UPLOAD_DIR", "UPLOAD_DIR"];
    }

    /// Settings of the context window.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ContextSettings context {
        /// Whether the proxy replaces the beginning of a conversation by a summary when the context window is nearly full
        clear: bool = "context.clear", Kind::Boolean, "false", ["GROV_CONTEXT_CLEAR"];
        /// Tokens in the context window at which it can be cleared; 90 % of the window if not set
        clear_threshold: Option<u64> = "context.clear_threshold", Kind::Integer { min: 1, max: 1_000_000_000 }, "",
            ["GROV_CONTEXT_CLEAR_THRESHOLD", "GROV_TOKEN_CLEAR_THRESHOLD", "TOKEN_CLEAR_THRESHOLD"], per project;
        /// Whether the proxy leaves out results of reads that the conversation repeats, when the prompt cache is cold
        trim: bool = "context.trim", Kind::Boolean, "false", ["GROV_CONTEXT_TRIM"];
        /// Tokens in the context window at which you are warned, once per session; 80 % of the window if not set
        warning_threshold: Option<u64> = "context.warning_threshold", Kind::Integer { min: 1, max: 1_000_000_000 }, "",
            ["GROV_CONTEXT_WARNING_THRESHOLD", "GROV_TOKEN_WARNING_THRESHOLD", "TOKEN_WARNING_THRESHOLD"],
            per project;
        /// Size of the model's context window in tokens; found out by model and request if not set
        window: Option<u64> = "context.window", Kind::Integer { min: 1, max: 1_000_000_000 }, "",
            ["GROV_CONTEXT_WINDOW"];
    }

    /// Settings of drift detection.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DriftSettings drift {
        /// Prompts between two checks of a session by a model; rules check every action, and ask the model when in doubt
        check_interval: u64 = "drift.check_interval", Kind::Integer { min: 1, max: 1_000_000 }, "3",
            ["GROV_DRIFT_CHECK_INTERVAL", "DRIFT_CHECK_INTERVAL"], per project;
        /// Whether corrections are sent to an agent that leaves its goal: on, or off = only record
        corrections: bool = "drift.corrections", Kind::Choice(&["on", "off"]), "on", ["GROV_DRIFT_CORRECTIONS"];
        /// Whether the agent's actions are compared with its goal
        enabled: bool = "drift.enabled", Kind::Boolean, "true", ["GROV_DRIFT_ENABLED"];
    }

    /// Settings of embeddings, as configured.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(super) struct EmbedderValues embedder {
        /// Grov's own key for the embedding model; if not set, llm.api_key if it is for the same server
        api_key: Option<Secret> = "embedder.api_key", Kind::Secret, "", ["GROV_EMBEDDER_API_KEY"];
        /// Base address of the embedding model's server; the provider's own if not set (ollama: this machine)
        base_url: Option<Url> = "embedder.base_url", Kind::Url, "", ["GROV_EMBEDDER_BASE_URL"];
        /// Embedding model by name; with static the folder of its files, relative to the home. A change makes Grov
        /// embed all memories again in the background
        model: String = "embedder.model", Kind::Path, "", ["GROV_EMBEDDER_MODEL"];
        /// Provider of embeddings for `grov memory search`: off, openai = any compatible server, ollama = Ollama,
        /// static = Grov itself, with a static model's tokenizer.json and model.safetensors
        provider: String = "embedder.provider", Kind::Choice(&["off", "openai", "ollama", "static"]), "off",
            ["GROV_EMBEDDER_PROVIDER"];
    }

    /// Settings of the guard that checks the agent's actions.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct GuardSettings guard {
        /// What happens to an action that the guard could not check in time: open = it runs, closed = it does not
        fails_closed: bool = "guard.fail", Kind::Choice(&["open", "closed"]), "open", ["GROV_GUARD_FAIL"];
        /// What the guard does before a forbidden or destructive action: ask = ask you, deny = block it, off = nothing
        mode: GuardMode = "guard.mode", Kind::Choice(GuardMode::WORDS), "ask", ["GROV_GUARD_MODE"];
    }

    /// Settings of Grov's own model calls, as configured.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(super) struct LlmValues llm {
        /// Grov's own key for the model that judges the work; a client's key or login is never used
        api_key: Option<Secret> = "llm.api_key", Kind::Secret, "", ["GROV_LLM_API_KEY"];
        /// Base address of the model's server; the provider's own if not set
        base_url: Option<Url> = "llm.base_url", Kind::Url, "", ["GROV_LLM_BASE_URL"];
        /// Maximum number of Grov's own model calls at the same time; with claude_cli at most 2
        concurrency: usize = "llm.concurrency", Kind::Integer { min: 1, max: 64 }, "2", ["GROV_LLM_CONCURRENCY"];
        /// Budget for Grov's own model calls per UTC day in US dollars; 0 = spend nothing, only rules judge
        daily_budget_micro_usd: u64 = "llm.daily_budget_usd", Kind::Dollars { max: 10_000 }, "0.50",
            ["GROV_LLM_DAILY_BUDGET_USD"];
        /// Model that judges the work; the provider's default if not set (openai has none)
        model: Option<String> = "llm.model", Kind::Word, "", ["GROV_LLM_MODEL"];
        /// Provider of the model that judges the agent's work: auto = anthropic if there is a key, else offline; openai = any
        /// compatible server; claude_cli = the installed Claude Code with your login, only from a file in Grov's home;
        /// offline = only rules
        provider: String = "llm.provider", Kind::Choice(&["auto", "anthropic", "openai", "claude_cli", "offline"]), "auto",
            ["GROV_LLM_PROVIDER"];
        /// HTTP proxy for Grov's own model calls; only claude_cli uses HTTPS_PROXY without it
        proxy: Option<Url> = "llm.proxy", Kind::Url, "", ["GROV_LLM_PROXY"];
        /// Timeout for one of Grov's own model calls
        timeout: Duration = "llm.timeout", Kind::Duration { min_seconds: 1 }, "30s", ["GROV_LLM_TIMEOUT"];
        /// Whether ANTHROPIC_API_KEY of Grov's environment is used if llm.api_key is not set
        use_anthropic_key: bool = "llm.use_anthropic_key", Kind::Boolean, "false", ["GROV_LLM_USE_ANTHROPIC_KEY"];
    }

    /// Settings of the log.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct LogSettings log {
        /// File that grov-proxyd logs to, relative to the home; standard error if not set, logs/proxy.log in the background
        file: Option<PathBuf> = "log.file", Kind::Path, "", ["GROV_LOG_FILE"];
        /// Number of older log files that are kept; a new file begins every day (UTC) and after 10 MiB
        keep: u32 = "log.keep", Kind::Integer { min: 1, max: 1000 }, "7", ["GROV_LOG_KEEP"];
        /// What is logged: off, error, warn, info, debug or trace, also as TARGET=LEVEL, separated by commas
        levels: String = "log.level", Kind::Levels, "info", ["GROV_LOG", "GROV_LOG_LEVEL"], flag "--log-level", per project;
    }

    /// Settings of team memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct MemorySettings memory {
        /// Whether the agent is asked for goal, decisions and open ends of a task that it finished; costs up to 200 tokens
        ask_agent: bool = "memory.ask_agent", Kind::Boolean, "false", ["GROV_MEMORY_ASK_AGENT"];
        /// Maximum number of tokens of team memory that are added to a prompt
        // A smaller budget cannot hold one memory.
        budget_tokens: usize = "memory.budget_tokens", Kind::Integer { min: 200, max: 8000 }, "800",
            ["GROV_MEMORY_BUDGET_TOKENS"];
        /// Whether team memory is added to prompts; text already in a history stays. For one project use `grov off`
        enabled: bool = "memory.enabled", Kind::Boolean, "true", ["GROV_MEMORY_ENABLED"];
    }

    /// Settings of the CONNECT proxy, which decrypts the connections to some hosts.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct MitmSettings mitm {
        /// Maximum number of connections to the CONNECT proxy that are tunnelled or not yet intercepted
        connections: usize = "mitm.connections", Kind::Integer { min: 1, max: 65_536 }, "1024",
            ["GROV_MITM_CONNECTIONS"];
        /// Whether Grov may add text to decrypted requests; they contain a value that may be a check of the body
        edit: bool = "mitm.edit", Kind::Boolean, "false", ["GROV_MITM_EDIT"];
        /// Whether grov-proxyd also is a CONNECT proxy (HTTPS_PROXY)
        enabled: bool = "mitm.enabled", Kind::Boolean, "false", ["GROV_MITM_ENABLED"], flag "--mitm";
        /// Hosts whose connections are decrypted, as HOST or HOST:PORT; all others are tunnelled blindly
        hosts: Vec<String> = "mitm.hosts", Kind::List, "api.anthropic.com", ["GROV_MITM_HOSTS"];
        /// Loopback port of the CONNECT proxy; 0 = any free one
        port: u16 = "mitm.port", Kind::Integer { min: 0, max: 65_535 }, "8079", ["GROV_MITM_PORT"], flag "--mitm-port";
    }

    /// Settings of traces.
    #[derive(Clone, Debug)]
    pub struct OtlpSettings otlp {
        /// Value of the header `authorization` for the collector of traces
        authorization: Option<Secret> = "otlp.authorization", Kind::Secret, "", ["GROV_OTLP_AUTHORIZATION"];
        /// Whether traces hold prompts, commands and injected text, redacted; otherwise names, times and numbers
        content: bool = "otlp.content", Kind::Boolean, "false", ["GROV_OTLP_CONTENT"];
        /// Address of an OpenTelemetry collector (OTLP over HTTP), to which grov-proxyd sends a trace of each turn; none if not set
        endpoint: Option<Url> = "otlp.endpoint", Kind::Url, "", ["GROV_OTLP_ENDPOINT"];
    }

    /// Settings of the proxy.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ProxySettings proxy {
        /// Host headers that the proxy accepts besides loopback names
        allowed_hosts: Vec<String> = "proxy.allowed_hosts", Kind::List, "", ["GROV_PROXY_ALLOWED_HOSTS"];
        /// Largest request body on /v1/messages paths; other bodies stream through unlimited
        body_limit: u64 = "proxy.body_limit", Kind::Size { min: 1024, max: 1024 * MEBIBYTE }, "32MiB",
            ["GROV_PROXY_BODY_LIMIT"];
        /// Timeout for connecting to the upstream
        connect_timeout: Duration = "proxy.connect_timeout", Kind::Duration { min_seconds: 1 }, "30s",
            ["GROV_PROXY_CONNECT_TIMEOUT"];
        /// Whether requests need a token of `grov token create` in the header x-grov-token
        enable_auth: bool = "proxy.enable_auth", Kind::Boolean, "false", ["GROV_PROXY_ENABLE_AUTH", "GROV_ENABLE_AUTH",
            "ENABLE_AUTH"];
        /// Whether requests to /v1/ are limited to proxy.rate_limit
        enable_rate_limit: bool = "proxy.enable_rate_limit", Kind::Boolean, "false", ["GROV_PROXY_ENABLE_RATE_LIMIT",
            "GROV_ENABLE_RATE_LIMIT", "ENABLE_RATE_LIMIT"];
        /// Whether the proxy speaks TLS; setting proxy.tls_cert switches it on too
        enable_tls: bool = "proxy.enable_tls", Kind::Boolean, "false", ["GROV_PROXY_ENABLE_TLS", "GROV_ENABLE_TLS",
            "ENABLE_TLS"];
        /// PEM file with certificates of authorities that the upstream may also be signed by, such as a company's; the
        /// client's NODE_EXTRA_CA_CERTS applies too
        extra_ca: Option<PathBuf> = "proxy.extra_ca", Kind::Path, "", ["GROV_PROXY_EXTRA_CA", "NODE_EXTRA_CA_CERTS"];
        /// Base address for the Gemini API, which Gemini CLI speaks; generativelanguage.googleapis.com if not set, or
        /// proxy.upstream if that is not Anthropic's
        gemini_upstream: Option<Url> = "proxy.gemini_upstream", Kind::Url, "", ["GROV_PROXY_GEMINI_UPSTREAM"];
        /// Request headers that are forwarded: open = all end-to-end ones, strict = a short list
        headers: HeaderPolicy = "proxy.headers", Kind::Choice(HeaderPolicy::WORDS), "open", ["GROV_PROXY_HEADERS"];
        /// Address that the proxy listens on; others than loopback need TLS and tokens, or --insecure
        host: IpAddr = "proxy.host", Kind::Address, "127.0.0.1", ["GROV_PROXY_HOST", "PROXY_HOST"], flag "--host";
        /// Maximum pause between two frames of a response
        idle_timeout: Duration = "proxy.idle_timeout", Kind::Duration { min_seconds: 1 }, "5m",
            ["GROV_PROXY_IDLE_TIMEOUT"];
        /// Whether the proxy listens beyond loopback even without TLS or tokens
        insecure: bool = "proxy.insecure", Kind::Boolean, "false", ["GROV_PROXY_INSECURE"], flag "--insecure";
        /// Base address for OpenAI's Responses and Chat Completions APIs, which Codex and opencode speak; api.openai.com if
        /// not set, or proxy.upstream if that is not Anthropic's
        openai_upstream: Option<Url> = "proxy.openai_upstream", Kind::Url, "", ["GROV_PROXY_OPENAI_UPSTREAM"];
        /// Port that the proxy listens on; 0 = any free one
        port: u16 = "proxy.port", Kind::Integer { min: 0, max: 65_535 }, "8080", ["GROV_PROXY_PORT", "PROXY_PORT"],
            flag "--port";
        /// Requests to /v1/ per minute that a token may send from one address, with proxy.enable_rate_limit
        rate_limit: u32 = "proxy.rate_limit", Kind::Integer { min: 1, max: 1_000_000 }, "100",
            ["GROV_PROXY_RATE_LIMIT"];
        /// Timeout for the start of the upstream's response
        response_timeout: Duration = "proxy.response_timeout", Kind::Duration { min_seconds: 1 }, "15m",
            ["GROV_PROXY_RESPONSE_TIMEOUT"];
        /// How long running responses may continue after the proxy was asked to stop
        shutdown_grace: Duration = "proxy.shutdown_grace", Kind::Duration { min_seconds: 0 }, "30s",
            ["GROV_PROXY_SHUTDOWN_GRACE"];
        /// File with the proxy's TLS certificates in PEM, relative to the home; read again when it changes
        tls_cert: Option<PathBuf> = "proxy.tls_cert", Kind::Path, "", ["GROV_PROXY_TLS_CERT"], flag "--tls-cert";
        /// File with the key of the TLS certificate in PEM, relative to the home
        tls_key: Option<PathBuf> = "proxy.tls_key", Kind::Path, "", ["GROV_PROXY_TLS_KEY"], flag "--tls-key";
        /// Whether the proxy makes itself a self-signed certificate if TLS is on and no certificate is set
        tls_self_signed: bool = "proxy.tls_self_signed", Kind::Boolean, "true", ["GROV_PROXY_TLS_SELF_SIGNED"];
        /// Base address that requests are forwarded to
        upstream: Url = "proxy.upstream", Kind::Url, "https://api.anthropic.com", ["GROV_PROXY_UPSTREAM",
            "GROV_ANTHROPIC_TARGET", "ANTHROPIC_TARGET"], flag "--upstream";
    }

    /// Settings of routing to other models. The limits apply to providers for which the provider file has none.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RouteSettings route {
        /// Timeout for connecting to a provider
        connect_timeout: Duration = "route.connect_timeout", Kind::Duration { min_seconds: 1 }, "10s",
            ["GROV_ROUTE_CONNECT_TIMEOUT"];
        /// Timeout for the start of a provider's response
        first_byte_timeout: Duration = "route.first_byte_timeout", Kind::Duration { min_seconds: 1 }, "10m",
            ["GROV_ROUTE_FIRST_BYTE_TIMEOUT"];
        /// Maximum pause inside a provider's response
        idle_timeout: Duration = "route.idle_timeout", Kind::Duration { min_seconds: 1 }, "5m",
            ["GROV_ROUTE_IDLE_TIMEOUT"];
        /// Interval of ping events to the client while a provider is silent; 0 = none
        ping_interval: Duration = "route.ping_interval", Kind::Duration { min_seconds: 0 }, "10s",
            ["GROV_ROUTE_PING_INTERVAL"];
        /// Provider file, relative to the home; providers.yaml if not set, or ~/.claude-hybrid/config.yaml if there is none
        providers: Option<PathBuf> = "route.providers", Kind::Path, "", ["GROV_ROUTE_PROVIDERS"], flag "--providers";
    }

    /// Settings of the store.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct StoreSettings store {
        /// How long the steps of completed sessions are kept
        retention_completed: Duration = "store.retention_completed", Kind::Duration { min_seconds: 0 }, "24h",
            ["GROV_STORE_RETENTION_COMPLETED"];
        /// How long the drift log is kept
        retention_drift: Duration = "store.retention_drift", Kind::Duration { min_seconds: 0 }, "30d",
            ["GROV_STORE_RETENTION_DRIFT"];
        /// How long a session may be idle until it counts as over
        retention_idle: Duration = "store.retention_idle", Kind::Duration { min_seconds: 0 }, "30d",
            ["GROV_STORE_RETENTION_IDLE"];
        /// How long the text added to a session is kept after the session was last seen; the client keeps its sessions
        /// equally long
        // A resumed session must find the text that was added to it.
        retention_ledger: Duration = "store.retention_ledger", Kind::Duration { min_seconds: SECONDS_OF_TWO_DAYS },
            "30d", ["GROV_STORE_RETENTION_LEDGER"];
        /// How long the ledger of Grov's own model calls is kept; at least two days
        retention_spending: Duration = "store.retention_spending", Kind::Duration { min_seconds: SECONDS_OF_TWO_DAYS,
            }, "90d", ["GROV_STORE_RETENTION_SPENDING"];
    }

    /// Settings of tasks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct TaskSettings tasks {
        /// How long a task may be idle until it is saved as abandoned
        abandon_after: Duration = "tasks.abandon_after", Kind::Duration { min_seconds: 1 }, "1h",
            ["GROV_TASKS_ABANDON_AFTER"];
    }

    /// Settings of external tools.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ToolSettings tools {
        /// Which agent may call which external tool, as AGENT=COMMAND: main=plans list, researcher=perplexity *, *=tavily search.
        /// If empty, every agent may call all; else the guard denies what is not listed
        allow: Vec<ToolGrant> = "tools.allow", Kind::ToolGrants, "", ["GROV_TOOLS_ALLOW"];
        /// Budget for external tools per UTC day in US dollars; 0 = only calls with --yes
        daily_budget_micro_usd: u64 = "tools.daily_budget_usd", Kind::Dollars { max: 10_000 }, "5.00",
            ["GROV_TOOLS_DAILY_BUDGET_USD"];
        /// Projects whose own tools in .claude/envoy/tools may be used, as absolute paths
        trusted_projects: Vec<String> = "tools.trusted_projects", Kind::List, "", ["GROV_TOOLS_TRUSTED_PROJECTS"];
    }

    /// How the user is recorded.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct UserSettings user {
        /// How the project's git user is recorded: plain = name and e-mail, hash = a hash of them, off = not at all
        mode: UserMode = "user", Kind::Choice(UserMode::WORDS), "plain", ["GROV_USER"];
    }
}
