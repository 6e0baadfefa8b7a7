//! Configuration with the origin of each value. Precedence: flag, environment, `.env` of the home, project's file, user's file,
//! default.

mod agent;
mod database;
mod edit;
mod embedder;
mod error;
mod file;
mod keys;
mod llm;
mod origin;
mod proxy;
mod table;
mod tool_grant;
mod types;
mod value;

#[cfg(test)]
mod tests;

pub use agent::{AgentLimits, AgentSettings, ChatModelSettings, EmbeddingModelSettings, TlsFiles};
pub use database::DatabaseUrl;
pub use edit::{ConfigEdit, ConfigFile};
pub use embedder::{EmbeddingProvider, EmbeddingSettings};
pub use error::{EXIT_USAGE, SettingsError};
pub use keys::Key;
pub use llm::{LlmProvider, LlmSettings};
pub use origin::{Candidate, CandidateStatus, Explanation, Origin, Warning};
pub use proxy::TlsSource;
pub use table::{
    ContextSettings, DriftSettings, GuardSettings, KEYS, LogSettings, MemorySettings, MitmSettings,
    OtlpSettings, ProxySettings, RouteSettings, StoreSettings, TaskSettings, ToolSettings,
};
pub use tool_grant::ToolGrant;
pub use types::{AgentEmbedding, ChatProvider, GuardMode, HeaderPolicy, UserMode};
pub use value::{InvalidValue, Kind, Value};

use crate::dotenv::{self, Assignment};
use crate::{Environment, Home};
use file::{FileValue, Owner};
use grov_redact::Secret;
use std::ffi::OsStr;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use table::Sections;

/// The inputs of a configuration.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The home, whose `config.toml` and `.env` are read. It need not exist.
    pub home: &'a Home,
    /// The environment of the process.
    pub environment: &'a Environment,
    /// The directory whose project may have its own configuration. `None` for a process that serves many projects and must not
    /// use the settings of the directory in which it was started.
    pub directory: Option<&'a Path>,
    /// Names of settings, and the texts of their flags.
    pub flags: &'a [(&'static str, String)],
}

/// A complete and valid configuration.
#[derive(Clone, Debug)]
pub struct Settings {
    /// In the order of [`KEYS`].
    resolved: Vec<Explanation>,
    warnings: Vec<Warning>,
    sections: Sections,
    llm: LlmSettings,
    embedder: EmbeddingSettings,
    agent: Result<AgentSettings, Arc<SettingsError>>,
}

impl Settings {
    /// Reads the files and merges all sources.
    ///
    /// An invalid value is an error if it is in a file or would be used. Unknown names in files, and values that a project's file
    /// may not set, are ignored with a warning.
    pub fn load(inputs: Inputs<'_>) -> Result<Self, SettingsError> {
        let mut warnings = Vec::new();
        let env_path = inputs.home.env_file();
        let env_file = read_env_file(&env_path, &mut warnings)?;
        let sources = Sources {
            inputs,
            env_path: &env_path,
            env_file: &env_file,
        };

        let project = match sources.project_file() {
            Some(path) => sources.file(&path, Owner::Project, false, &mut warnings)?,
            None => Vec::new(),
        };
        let (user_path, is_named) = match sources.config_variable() {
            Some(path) => (PathBuf::from(path), true),
            None => (inputs.home.config_file(), false),
        };
        let user = sources.file(&user_path, Owner::User, is_named, &mut warnings)?;

        let mut invalid = Vec::new();
        let resolved = KEYS
            .iter()
            .map(|key| resolve(key, sources.offers(key, &project, &user), &mut invalid))
            .collect::<Result<Vec<_>, _>>()?;
        let sections = Sections::of(&resolved, inputs.home)?;
        let anthropic_key = sources.anthropic_key();
        let allowed_key = anthropic_key.clone().filter(|_| sections.llm.use_anthropic_key);
        let is_of_home = |name: &str| {
            let found = resolved.iter().find(|found| found.key.name == name);
            found.is_some_and(|found| found.is_confirmed_in(inputs.home.root()))
        };
        let llm = LlmSettings::of(&sections.llm, anthropic_key, is_of_home)?;
        let agent = match invalid.into_iter().next() {
            Some(error) => Err(error),
            None => AgentSettings::of(&sections.agent, llm.proxy.as_ref(), allowed_key, inputs.home),
        };
        let embedder = EmbeddingSettings::of(&sections.embedder, &sections.llm, inputs.home)?;
        Ok(Self {
            resolved,
            warnings,
            sections,
            llm,
            embedder,
            agent: agent.map_err(Arc::new),
        })
    }

    /// Warnings about ignored parts of the files, to be printed once on standard error.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Settings of the context window.
    pub fn context(&self) -> ContextSettings {
        self.sections.context
    }

    /// Settings of the proxy.
    pub fn proxy(&self) -> &ProxySettings {
        &self.sections.proxy
    }

    /// Settings of the log.
    pub fn log(&self) -> &LogSettings {
        &self.sections.log
    }

    /// Settings of routing to other models.
    pub fn route(&self) -> &RouteSettings {
        &self.sections.route
    }

    /// Settings of the store.
    pub fn store(&self) -> &StoreSettings {
        &self.sections.store
    }

    /// Settings of team memory.
    pub fn memory(&self) -> MemorySettings {
        self.sections.memory
    }

    /// Settings of the CONNECT proxy.
    pub fn mitm(&self) -> &MitmSettings {
        &self.sections.mitm
    }

    /// Settings of traces.
    pub fn otlp(&self) -> &OtlpSettings {
        &self.sections.otlp
    }

    /// Settings of drift detection.
    pub fn drift(&self) -> DriftSettings {
        self.sections.drift
    }

    /// Settings of the guard that checks the agent's actions.
    pub fn guard(&self) -> GuardSettings {
        self.sections.guard
    }

    /// Settings of tasks.
    pub fn tasks(&self) -> &TaskSettings {
        &self.sections.tasks
    }

    /// Settings of external tools.
    pub fn tools(&self) -> &ToolSettings {
        &self.sections.tools
    }

    /// Settings of Grov's own model calls.
    pub fn llm(&self) -> &LlmSettings {
        &self.llm
    }

    /// Settings of embeddings.
    pub fn embedder(&self) -> &EmbeddingSettings {
        &self.embedder
    }

    /// Settings of the agent service.
    ///
    /// # Errors
    /// A variable has an invalid value, or settings do not fit together. Only the agent service minds: other programs use
    /// variables of the same names too.
    pub fn agent(&self) -> Result<&AgentSettings, &SettingsError> {
        self.agent.as_ref().map_err(|error| &**error)
    }

    /// How the user is recorded.
    pub fn user(&self) -> UserMode {
        self.sections.user.mode
    }

    /// Whether a setting is set explicitly, even to its default value.
    pub fn is_set(&self, name: &str) -> bool {
        self.origin(name) != Origin::Default
    }

    /// A setting's value, its origin and the values that it overrides.
    pub fn explain(&self, name: &str) -> Result<&Explanation, SettingsError> {
        let mut all = self.resolved.iter();
        all.find(|explanation| explanation.key.name == name)
            .ok_or_else(|| SettingsError::UnknownKey {
                name: value::shortened(name),
                nearest: keys::nearest(name),
            })
    }

    /// Every setting, sorted by name.
    pub fn explain_all(&self) -> &[Explanation] {
        &self.resolved
    }

    /// Checks that a proxy can start with these settings.
    ///
    /// # Errors
    /// Other machines could reach the proxy without TLS or without a token, a certificate is set without its key, or the proxy
    /// would send requests to itself: as upstream, as a model's server or by `HTTPS_PROXY`.
    pub fn ensure_startable(&self, environment: &Environment) -> Result<(), SettingsError> {
        let refused = |name, reason, hint| {
            Err(SettingsError::Refused {
                origin: self.origin(name),
                reason,
                hint,
            })
        };
        let proxy = &self.sections.proxy;
        if let Err(unprotected) = proxy.ensure_protected() {
            return refused(unprotected.setting, unprotected.reason, unprotected.hint);
        }
        if proxy.enable_auth && self.sections.mitm.enabled && !proxy.insecure {
            let reason =
                "the CONNECT proxy asks for no token: other users of this machine could use it".to_owned();
            let hint = "switch off mitm.enabled (--mitm) or ENABLE_AUTH, or give --insecure if you trust all users of this machine";
            return refused("mitm.enabled", reason, hint);
        }
        if self.is_own_listener(&proxy.upstream) {
            let reason = format!("the upstream {} is the proxy itself", proxy.upstream);
            let hint = "set proxy.upstream to the server that answers requests, or choose another port";
            return refused("proxy.upstream", reason, hint);
        }
        for (name, url) in [
            ("proxy.openai_upstream", &proxy.openai_upstream),
            ("proxy.gemini_upstream", &proxy.gemini_upstream),
        ] {
            if let Some(url) = url.as_ref().filter(|url| self.is_own_listener(url)) {
                let reason = format!("the upstream {url} is the proxy itself");
                let hint = "set it to the server that answers requests, or choose another port";
                return refused(name, reason, hint);
            }
        }
        for (name, url) in [
            ("llm.base_url", &self.llm.base_url),
            ("llm.proxy", &self.llm.proxy),
            ("embedder.base_url", &self.embedder.base_url),
        ] {
            if url.as_ref().is_some_and(|url| self.is_own_listener(url)) {
                let reason = format!("{name} is the proxy itself: Grov's own calls would come back to it");
                let hint = "set it to the model's server, or choose another port for the proxy";
                return refused(name, reason, hint);
            }
        }
        for name in PROXY_VARIABLES {
            let value = environment.get(name);
            if value.is_some_and(|value| self.is_own_listener_text(value)) {
                return Err(SettingsError::Refused {
                    origin: Origin::Environment(name),
                    reason: "the proxy would send its own requests to itself".to_owned(),
                    hint: "unset the variable for the proxy, or choose another port",
                });
            }
        }
        Ok(())
    }

    /// The addresses of Grov's own listeners, with the proxy at `proxy`. Grov's own calls never go to them.
    pub fn own_listeners(&self, proxy: SocketAddr) -> Vec<SocketAddr> {
        let mitm = &self.sections.mitm;
        let connect =
            (mitm.enabled && mitm.port != 0).then(|| SocketAddr::from((Ipv4Addr::LOCALHOST, mitm.port)));
        std::iter::once(proxy).chain(connect).collect()
    }

    fn origin(&self, name: &str) -> Origin {
        self.explain(name)
            .map_or(Origin::Default, |explanation| explanation.origin.clone())
    }

    /// Whether the value of a proxy variable is the address that the proxy listens on.
    pub(crate) fn is_own_listener_text(&self, text: &OsStr) -> bool {
        let Some(text) = text.to_str() else { return false };
        // These variables may omit the scheme.
        let url = crate::Url::parse(text).or_else(|_| crate::Url::parse(&format!("http://{text}")));
        url.is_ok_and(|url| self.is_own_listener(&url))
    }

    fn is_own_listener(&self, url: &crate::Url) -> bool {
        let (proxy, mitm) = (&self.sections.proxy, &self.sections.mitm);
        let is_at = |port| port != 0 && url.port() == port;
        url.is_loopback() && (is_at(proxy.port) || (mitm.enabled && is_at(mitm.port)))
    }
}

/// The variables that name an HTTP proxy.
pub(crate) const PROXY_VARIABLES: [&str; 6] = [
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "HTTP_PROXY",
    "http_proxy",
];

/// A value that was found, and its origin.
struct Offer {
    origin: Origin,
    parsed: Result<Value, InvalidValue>,
}

/// Chooses the first allowed value. Values that are not used may be invalid: other programs use some of the variables too.
/// An invalid variable of the agent service's is passed over and added to `invalid`.
fn resolve(
    key: &'static Key,
    offers: Vec<Offer>,
    invalid: &mut Vec<SettingsError>,
) -> Result<Explanation, SettingsError> {
    let mut chosen = None;
    let mut candidates = Vec::with_capacity(offers.len());
    for Offer { origin, parsed } in offers {
        let shown = parsed.as_ref().map_or_else(ToString::to_string, Value::to_string);
        let status = if origin.is_project() && !key.project {
            CandidateStatus::Refused("a project's file may not set it")
        } else if chosen.is_some() {
            CandidateStatus::Overridden
        } else {
            match parsed.map_err(|found| key.invalid(origin.clone(), found)) {
                Ok(value) => {
                    chosen = Some((value, origin.clone()));
                    CandidateStatus::Used
                }
                Err(error) if key.is_agents() => {
                    invalid.push(error);
                    CandidateStatus::Refused("it is not valid; grov-agentd does not start with it")
                }
                Err(error) => return Err(error),
            }
        };
        candidates.push(Candidate {
            origin,
            shown,
            status,
        });
    }
    let (value, origin) = chosen.unwrap_or_else(|| (key.kind.unset(), Origin::Default));
    Ok(Explanation {
        key,
        value,
        origin,
        candidates,
    })
}

/// The sources of values.
struct Sources<'a> {
    inputs: Inputs<'a>,
    env_path: &'a Path,
    env_file: &'a [Assignment],
}

impl Sources<'_> {
    /// The values that were found for `key`, highest precedence first.
    fn offers(&self, key: &'static Key, project: &[FileValue], user: &[FileValue]) -> Vec<Offer> {
        let mut offers = Vec::new();
        let mut add = |origin, text: &OsStr| {
            let text = text.to_str().ok_or(InvalidValue::NotUtf8);
            let parsed = text.and_then(|text| key.kind.parse_text(text));
            offers.push(Offer { origin, parsed });
        };
        let mut flags = self.inputs.flags.iter();
        if let (Some(flag), Some((_, value))) = (key.flag, flags.find(|(name, _)| *name == key.name)) {
            add(Origin::Flag(flag), OsStr::new(value));
        }
        for &name in key.environment {
            if let Some(value) = self.inputs.environment.get(name) {
                add(Origin::Environment(name), value);
            }
        }
        for &name in key.environment {
            if let Some(assignment) = self.env_assignment(name) {
                let origin = Origin::EnvFile {
                    name,
                    path: self.env_path.to_owned(),
                    line: assignment.line,
                };
                add(origin, OsStr::new(&assignment.value));
            }
        }
        let in_files = project.iter().chain(user);
        offers.extend(
            in_files
                .filter(|found| found.key.name == key.name)
                .map(|found| Offer {
                    origin: found.origin.clone(),
                    parsed: found.parsed.clone(),
                }),
        );
        if !key.default.is_empty() {
            offers.push(Offer {
                origin: Origin::Default,
                parsed: key.kind.parse_text(key.default),
            });
        }
        offers
    }

    /// An empty variable counts as not set, as in the environment.
    fn env_assignment(&self, name: &str) -> Option<&Assignment> {
        self.env_file
            .iter()
            .find(|assignment| assignment.name == name && !assignment.value.is_empty())
    }

    /// `ANTHROPIC_API_KEY`, which other programs use too: `llm.use_anthropic_key` decides whether it is used.
    fn anthropic_key(&self) -> Option<Secret> {
        let real = self.inputs.environment.get("ANTHROPIC_API_KEY");
        let text = match real {
            Some(value) => value.to_str()?,
            None => &self.env_assignment("ANTHROPIC_API_KEY")?.value,
        };
        match Kind::Secret.parse_text(text) {
            Ok(Value::Secret(secret)) => Some(secret),
            _ => None,
        }
    }

    fn config_variable(&self) -> Option<&OsStr> {
        let real = self.inputs.environment.get("GROV_CONFIG");
        real.or_else(|| {
            self.env_assignment("GROV_CONFIG")
                .map(|assignment| OsStr::new(&assignment.value))
        })
    }

    fn project_file(&self) -> Option<PathBuf> {
        let user_home = self.inputs.environment.get("HOME").map(Path::new);
        file::find_project_file(self.inputs.directory?, user_home, self.inputs.home.root())
    }

    fn file(
        &self,
        path: &Path,
        owner: Owner,
        must_exist: bool,
        warnings: &mut Vec<Warning>,
    ) -> Result<Vec<FileValue>, SettingsError> {
        let Some(text) = file::read_text(path)? else {
            if must_exist {
                let reason = "GROV_CONFIG names it, but it does not exist".to_owned();
                return Err(SettingsError::Unreadable {
                    path: path.to_owned(),
                    reason,
                });
            }
            return Ok(Vec::new());
        };
        let contents = file::read(&text, path, owner)?;
        warnings.extend(contents.warnings);
        Ok(contents.found)
    }
}

fn read_env_file(path: &Path, warnings: &mut Vec<Warning>) -> Result<Vec<Assignment>, SettingsError> {
    let Some(text) = file::read_text(path)? else {
        return Ok(Vec::new());
    };
    let contents = dotenv::parse(&text);
    // The line is not repeated, because it may contain a secret.
    warnings.extend(contents.broken_lines.into_iter().map(|line| Warning {
        path: path.to_owned(),
        line,
        message: "the line is not NAME=VALUE and is ignored".to_owned(),
    }));
    Ok(contents.assignments)
}
