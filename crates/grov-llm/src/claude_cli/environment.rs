//! The environment of the client, and where its program is.

use super::{ClaudeCliSettings, places};
use crate::SetupError;
use crate::endpoint::{self, Endpoint};
use serde_json::{Map, Value, json};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Variables that the client gets: to find its programs and its login, and to reach the network.
/// `ANTHROPIC_BASE_URL` is not among them, because it may be a Grov proxy.
const PASSED: &[&str] = &[
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CONFIG_HOME",
    "https_proxy",
    "http_proxy",
    "no_proxy",
];

/// Variables with the address of an HTTP proxy.
const PROXIES: &[&str] = &["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"];

/// Variables that Grov sets.
const SET: &[(&str, &str)] = &[
    ("DISABLE_AUTOUPDATER", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    // Otherwise the client lets the model think for all but one of the tokens of the answer.
    ("MAX_THINKING_TOKENS", "0"),
    // If an administrator sends the client to a Grov proxy all the same, it does not record the call, and nothing loops.
    ("ANTHROPIC_CUSTOM_HEADERS", "x-grov-bypass: 1"),
];

/// The environment of the client.
#[derive(Clone)]
pub(super) struct ClientEnvironment {
    variables: Vec<(OsString, OsString)>,
    /// Those that the client's own settings must not replace.
    fixed: Map<String, Value>,
}

impl ClientEnvironment {
    /// What the client gets of the environment in `settings`, and what Grov sets.
    pub(super) fn new(settings: &ClaudeCliSettings) -> Result<Self, SetupError> {
        let own = &settings.own_listeners;
        let own_proxy = settings.proxy.as_deref();
        let is_passed = |name: &str, value: &OsStr| {
            PASSED.contains(&name)
                && (!PROXIES.contains(&name) || own_proxy.is_none() && !is_own_proxy(value, own))
        };
        let mut this = Self {
            variables: settings
                .environment
                .iter()
                .filter(|(name, value)| is_passed(name, value))
                .map(|(name, value)| (name.into(), value.clone()))
                .collect(),
            fixed: Map::new(),
        };
        for (name, value) in SET {
            this.set(name, value);
        }
        // Named even if it is the vendor's: the client's own configuration may name a Grov proxy.
        let base_url = settings.base_url.as_deref();
        let base_url = base_url.unwrap_or(crate::model::anthropic::BASE_URL);
        let endpoint = Endpoint::parse(base_url)?;
        refuse_own("base URL", endpoint.url(), own)?;
        // The client adds the version itself.
        let address = base_url.trim().trim_end_matches('/');
        this.set(
            "ANTHROPIC_BASE_URL",
            address.strip_suffix("/v1").unwrap_or(address),
        );
        if let Some(proxy) = own_proxy {
            refuse_own("proxy", &endpoint::proxy(proxy)?, own)?;
            // May contain a password, so it is in no file.
            for name in PROXIES {
                this.variables.push((name.into(), proxy.into()));
            }
        }
        if let Some(key) = settings.api_key.as_ref().filter(|key| !key.is_empty()) {
            this.variables
                .push(("ANTHROPIC_API_KEY".into(), key.expose().into()));
        }
        Ok(this)
    }

    /// Sets a variable that contains no secret.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.into(), value.into()));
        self.fixed.insert(name.to_owned(), value.into());
    }

    /// Names and values.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The settings that the client is started with. They come before those of its own files.
    pub(super) fn client_settings(&self) -> Value {
        json!({"disableAllHooks": true, "env": self.fixed})
    }

    /// The program; `None` if it is not installed.
    pub(super) fn find(&self, program: &Path) -> Option<PathBuf> {
        let value = |name: &str| self.value(name);
        places::find(program, value("PATH"), value("HOME").map(Path::new))
    }

    /// The `PATH` for a program: a script of a version manager needs the interpreter beside it.
    pub(super) fn path_for(&self, program: &Path) -> Option<OsString> {
        let own = program.parent()?;
        let listed = self.value("PATH").into_iter().flat_map(std::env::split_paths);
        let mut folders: Vec<PathBuf> = listed.collect();
        if !folders.iter().any(|folder| folder == own) {
            folders.push(own.to_owned());
        }
        std::env::join_paths(folders).ok()
    }

    fn value(&self, name: &str) -> Option<&OsStr> {
        let mut all = self.variables();
        all.find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

impl fmt::Debug for ClientEnvironment {
    /// Values may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.variables().map(|(name, _)| name))
            .finish()
    }
}

fn refuse_own(what: &'static str, url: &reqwest::Url, own: &[SocketAddr]) -> Result<(), SetupError> {
    match endpoint::own_listener(url, own) {
        Some(listener) => Err(SetupError::OwnListener { what, listener }),
        None => Ok(()),
    }
}

/// Whether the value of a proxy variable names one of our own listeners.
fn is_own_proxy(value: &OsStr, own: &[SocketAddr]) -> bool {
    let Some(text) = value.to_str() else { return true };
    // These variables may omit the scheme.
    let url = endpoint::proxy(text).or_else(|_| endpoint::proxy(&format!("http://{text}")));
    url.is_ok_and(|url| endpoint::own_listener(&url, own).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn settings(environment: &[(&str, &str)]) -> ClaudeCliSettings {
        let variable = |(name, value): &(&str, &str)| ((*name).to_owned(), OsString::from(*value));
        ClaudeCliSettings {
            program: "claude".into(),
            environment: environment.iter().map(variable).collect(),
            model: None,
            base_url: None,
            api_key: None,
            proxy: None,
            timeout: Duration::from_secs(1),
            own_listeners: vec!["127.0.0.1:8090".parse().unwrap()],
        }
    }

    fn passed(settings: &ClaudeCliSettings) -> Vec<String> {
        let environment = ClientEnvironment::new(settings).unwrap();
        let names = environment
            .variables()
            .map(|(name, _)| name.to_str().unwrap().to_owned());
        let is_set = |name: &str| environment.fixed.contains_key(name);
        names.filter(|name| !is_set(name)).collect()
    }

    #[test]
    fn the_client_gets_its_login_and_nothing_of_grovs() {
        let variables = [
            ("HOME", "/home/me"),
            ("PATH", "/bin"),
            ("CLAUDECODE", "1"),
            ("CHAT_API_KEY", "k"),
            ("AGENT_API_KEY", "k"),
            ("GROV_LLM_API_KEY", "k"),
            ("ANTHROPIC_API_KEY", "k"),
            ("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080"),
            ("HTTPS_PROXY", "localhost:8090"),
            ("HTTP_PROXY", "http://proxy:3128"),
        ];
        let mut settings = settings(&variables);
        assert_eq!(passed(&settings), ["HOME", "PATH", "HTTP_PROXY"]);
        settings.proxy = Some("http://own:1".to_owned());
        assert_eq!(passed(&settings)[2..], *PROXIES);
    }

    #[test]
    fn the_clients_own_files_cannot_send_it_elsewhere() {
        let mut settings = settings(&[("HOME", "/home/me")]);
        settings.api_key = Some("hunter2".into());
        settings.proxy = Some("http://me:hunter2@own:1".to_owned());
        let environment = ClientEnvironment::new(&settings).unwrap();
        let given = environment.client_settings();
        assert_eq!(given["disableAllHooks"], true);
        assert_eq!(given["env"]["ANTHROPIC_BASE_URL"], "https://api.anthropic.com");
        assert!(!format!("{given}{environment:?}{settings:?}").contains("hunter2"));
    }

    #[test]
    fn an_own_listener_is_refused() {
        let own = || Some("http://localhost:8090".to_owned());
        let mut looped = settings(&[]);
        looped.base_url = own();
        let mut proxied = settings(&[]);
        proxied.proxy = own();
        for settings in [looped, proxied] {
            let refused = ClientEnvironment::new(&settings);
            assert!(matches!(refused, Err(SetupError::OwnListener { .. })));
        }
    }

    #[test]
    fn a_script_finds_the_interpreter_beside_it() {
        let of = |path| {
            let environment = ClientEnvironment::new(&settings(&[("PATH", path)])).unwrap();
            environment.path_for(Path::new("/n/bin/claude")).unwrap()
        };
        assert_eq!(of("/bin"), "/bin:/n/bin");
        assert_eq!(of("/n/bin:/bin"), "/n/bin:/bin");
    }
}
