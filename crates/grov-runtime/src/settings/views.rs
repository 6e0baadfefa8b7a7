//! Settings as the parts of the program want them: typed, each part its slice.

use super::embedder::EmbeddingSettings;
use super::error::SettingsError;
use super::llm::LlmSettings;
use super::value::Value;
use super::{Home, Resolved};
use crate::Url;
use grov_redact::Secret;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Which request headers are forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderPolicy {
    /// All end-to-end ones.
    Open,
    /// A short list.
    Strict,
}

/// How the project's git user is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserMode {
    /// Name and e-mail.
    Plain,
    /// A hash of them.
    Hash,
    /// Not at all.
    Off,
}

/// Settings of the proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxySettings {
    /// Address to listen on.
    pub host: IpAddr,
    /// Port to listen on; 0 = any free one.
    pub port: u16,
    /// Base address that requests go to.
    pub upstream: Url,
    /// Which request headers are forwarded.
    pub headers: HeaderPolicy,
    /// Largest request body on `/v1/messages` paths, in bytes.
    pub body_limit: u64,
    /// Time for a connection to the upstream.
    pub connect_timeout: Duration,
    /// Time until the upstream's response begins.
    pub response_timeout: Duration,
    /// Time between two frames of a response.
    pub idle_timeout: Duration,
    /// Time that running responses have after the proxy was told to stop.
    pub shutdown_grace: Duration,
    /// Names besides loopback ones that the `Host` header may carry.
    pub allowed_hosts: Vec<String>,
}

/// Settings of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// Levels, as [`crate::logging::init`] takes them.
    pub levels: String,
    /// The file to log to; `None` for standard error.
    pub file: Option<PathBuf>,
}

/// Settings of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreSettings {
    /// How long the steps of completed sessions are kept.
    pub retention_completed: Duration,
    /// How long the drift log is kept.
    pub retention_drift: Duration,
    /// How long a session may rest until it counts as over.
    pub retention_idle: Duration,
    /// How long it is kept what was added to a session that was not seen again.
    pub retention_ledger: Duration,
    /// How long the ledger of own model calls is kept.
    pub retention_spending: Duration,
}

/// Settings of team memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySettings {
    /// Whether it is added to prompts at all.
    pub enabled: bool,
    /// How many tokens may be added to one prompt.
    pub budget_tokens: usize,
}

/// Settings of the watch over the agent's goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriftSettings {
    /// Whether actions are judged at all.
    pub enabled: bool,
    /// Prompts between two looks of a model at a session's work, at least 1.
    pub check_interval: u64,
    /// Whether the agent is told when it leaves its goal; without it that is only recorded.
    pub corrections: bool,
}

/// What the guard does with an action that it finds something of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardMode {
    /// The user is asked.
    Ask,
    /// It does not run.
    Deny,
    /// Nothing: actions are not looked at.
    Off,
}

/// Settings of the guard in front of the agent's actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardSettings {
    /// What it does.
    pub mode: GuardMode,
    /// An action that could not be looked at does not run.
    pub fails_closed: bool,
}

/// Settings of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskSettings {
    /// How long a task may rest until it is saved as abandoned.
    pub abandon_after: Duration,
}

pub(super) struct Views {
    pub(super) proxy: ProxySettings,
    pub(super) log: LogSettings,
    pub(super) store: StoreSettings,
    pub(super) memory: MemorySettings,
    pub(super) drift: DriftSettings,
    pub(super) guard: GuardSettings,
    pub(super) tasks: TaskSettings,
    pub(super) llm: LlmSettings,
    pub(super) embedder: EmbeddingSettings,
    pub(super) user: UserMode,
}

impl Views {
    /// `anthropic_key` is the `ANTHROPIC_API_KEY` of Grov's own environment, used only where a setting allows it.
    pub(super) fn of(
        resolved: &[Resolved],
        home: &Home,
        anthropic_key: Option<Secret>,
    ) -> Result<Self, SettingsError> {
        let values = Values(resolved);
        let proxy = ProxySettings {
            host: values.get("proxy.host", |value| match value {
                Value::Address(address) => Some(*address),
                _ => None,
            })?,
            port: values.get("proxy.port", |value| match value {
                Value::Integer(number) => u16::try_from(*number).ok(),
                _ => None,
            })?,
            upstream: values.get("proxy.upstream", |value| match value {
                Value::Url(url) => Some(url.clone()),
                _ => None,
            })?,
            headers: values.choice("proxy.headers", |word| match word {
                "open" => Some(HeaderPolicy::Open),
                "strict" => Some(HeaderPolicy::Strict),
                _ => None,
            })?,
            body_limit: values.get("proxy.body_limit", |value| match value {
                Value::Size(bytes) => Some(*bytes),
                _ => None,
            })?,
            connect_timeout: values.duration("proxy.connect_timeout")?,
            response_timeout: values.duration("proxy.response_timeout")?,
            idle_timeout: values.duration("proxy.idle_timeout")?,
            shutdown_grace: values.duration("proxy.shutdown_grace")?,
            allowed_hosts: values.get("proxy.allowed_hosts", |value| match value {
                Value::List(items) => Some(items.clone()),
                _ => None,
            })?,
        };
        let log = LogSettings {
            levels: values.choice("log.level", |text| Some(text.to_owned()))?,
            file: values.choice("log.file", |text| {
                Some((!text.is_empty()).then(|| home.root().join(text)))
            })?,
        };
        let store = StoreSettings {
            retention_completed: values.duration("store.retention_completed")?,
            retention_drift: values.duration("store.retention_drift")?,
            retention_idle: values.duration("store.retention_idle")?,
            retention_ledger: values.duration("store.retention_ledger")?,
            retention_spending: values.duration("store.retention_spending")?,
        };
        let memory = MemorySettings {
            enabled: values.get("memory.enabled", |value| match value {
                Value::Boolean(boolean) => Some(*boolean),
                _ => None,
            })?,
            budget_tokens: values.get("memory.budget_tokens", |value| match value {
                Value::Integer(number) => usize::try_from(*number).ok(),
                _ => None,
            })?,
        };
        let drift = DriftSettings {
            enabled: values.get("drift.enabled", |value| match value {
                Value::Boolean(boolean) => Some(*boolean),
                _ => None,
            })?,
            check_interval: values.get("drift.check_interval", |value| match value {
                Value::Integer(number) => Some(*number),
                _ => None,
            })?,
            corrections: values.choice("drift.corrections", |word| match word {
                "on" => Some(true),
                "off" => Some(false),
                _ => None,
            })?,
        };
        let guard = GuardSettings {
            mode: values.choice("guard.mode", |word| match word {
                "ask" => Some(GuardMode::Ask),
                "deny" => Some(GuardMode::Deny),
                "off" => Some(GuardMode::Off),
                _ => None,
            })?,
            fails_closed: values.choice("guard.fail", |word| match word {
                "open" => Some(false),
                "closed" => Some(true),
                _ => None,
            })?,
        };
        let tasks = TaskSettings {
            abandon_after: values.duration("tasks.abandon_after")?,
        };
        let llm = LlmSettings::of(&values, anthropic_key)?;
        let embedder = EmbeddingSettings::of(&values, home)?;
        let user = values.choice("user", |word| match word {
            "plain" => Some(UserMode::Plain),
            "hash" => Some(UserMode::Hash),
            "off" => Some(UserMode::Off),
            _ => None,
        })?;
        Ok(Self {
            proxy,
            log,
            store,
            memory,
            drift,
            guard,
            tasks,
            llm,
            embedder,
            user,
        })
    }
}

/// Typed access; the wrong type is a fault of this program, which the tests of the defaults would show.
pub(super) struct Values<'a>(&'a [Resolved]);

impl Values<'_> {
    pub(super) fn get<T>(
        &self,
        name: &'static str,
        convert: impl Fn(&Value) -> Option<T>,
    ) -> Result<T, SettingsError> {
        let found = self.0.iter().find(|resolved| resolved.key.name == name);
        found
            .and_then(|resolved| convert(&resolved.value))
            .ok_or(SettingsError::Mistyped(name))
    }

    pub(super) fn choice<T>(
        &self,
        name: &'static str,
        convert: impl Fn(&str) -> Option<T>,
    ) -> Result<T, SettingsError> {
        self.get(name, |value| match value {
            Value::Text(text) => convert(text),
            _ => None,
        })
    }

    pub(super) fn duration(&self, name: &'static str) -> Result<Duration, SettingsError> {
        self.get(name, |value| match value {
            Value::Duration(duration) => Some(*duration),
            _ => None,
        })
    }
}
