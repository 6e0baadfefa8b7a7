//! The proxy daemon of a home: its lock, and the record with which other programs find it.

use crate::home::{create_private, write_private};
use crate::settings::PROXY_VARIABLES;
use crate::{Environment, Home, KEYS, Key, LlmProvider, ProviderFiles, Settings, Url};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use time::OffsetDateTime;

mod run_record;

pub use run_record::{RunRecord, run_records};

/// Maximum time that a starting daemon waits for the lock.
const LOCK_TIMEOUT: Duration = Duration::from_millis(100);

/// Maximum size of a record in bytes.
const MAX_RECORD: u64 = 64 * 1024;

/// The content of `daemon.json`, which describes a running daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Version of this format.
    pub schema: u32,
    /// Process id.
    pub pid: u32,
    /// Its address, such as `http://127.0.0.1:8080`.
    pub url: String,
    /// The base URL for clients, if it has another host than `url`: with TLS, one that the certificate covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Address of its CONNECT proxy, such as `http://127.0.0.1:8079`, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mitm_url: Option<String>,
    /// Version of the daemon.
    pub version: String,
    /// When it started to listen.
    #[serde(with = "time::serde::rfc3339")]
    pub started_at: OffsetDateTime,
    /// The running responses when it was asked to stop: it waits for them and answers nothing new. `None` while it serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<u64>,
}

impl Record {
    /// The record of this process.
    pub fn of_this_process(
        url: impl Into<String>,
        version: impl Into<String>,
        started_at: OffsetDateTime,
    ) -> Self {
        Self {
            schema: 1,
            pid: std::process::id(),
            url: url.into(),
            base_url: None,
            mitm_url: None,
            version: version.into(),
            started_at,
            stopping: None,
        }
    }
}

impl Record {
    /// Returns the address at which programs of this machine reach the daemon.
    pub fn local_address(&self) -> Option<SocketAddr> {
        let url = Url::parse(&self.url).ok()?;
        let host: IpAddr = url.host().parse().ok()?;
        Some(SocketAddr::new(local(host), url.port()))
    }

    /// Returns the base URL for clients on this machine.
    pub fn base_url(&self) -> String {
        let local = || {
            let is_secure = Url::parse(&self.url).is_ok_and(|url| url.is_secure());
            let scheme = if is_secure { "https" } else { "http" };
            Some(format!("{scheme}://{}", self.local_address()?))
        };
        let base_url = self.base_url.clone();
        base_url.or_else(local).unwrap_or_else(|| self.url.clone())
    }
}

/// Returns the address at which programs of this machine reach a listener.
pub(crate) fn local(host: IpAddr) -> IpAddr {
    match host {
        IpAddr::V4(host) if host.is_unspecified() => IpAddr::from([127, 0, 0, 1]),
        IpAddr::V6(host) if host.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        host => host,
    }
}

/// The record of the newest daemon; `None` if it cannot be read. The daemon may have ended, so check that it answers.
pub fn read(home: &Home) -> Option<Record> {
    let mut content = Vec::new();
    File::open(home.daemon_record())
        .ok()?
        .take(MAX_RECORD)
        .read_to_end(&mut content)
        .ok()?;
    serde_json::from_slice(&content).ok()
}

/// Whether a daemon holds the lock of a home: it is running or starting.
pub fn is_running(home: &Home) -> bool {
    let lock = File::open(home.daemon_lock());
    // If the lock was free, it is released at once.
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// The process id of a home's daemon if a signal has stopped it, so that it accepts connections but does not answer.
pub fn stopped_process(home: &Home) -> Option<u32> {
    let pid = read(home)?.pid;
    (is_running(home) && is_stopped(pid)).then_some(pid)
}

/// Whether a signal has stopped a process. Always `false` on systems other than Linux.
pub fn is_stopped(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The program name before the state may contain any character.
    let state = status.rsplit_once(") ").map(|(_, rest)| rest);
    state.is_some_and(|state| state.starts_with(['T', 't']))
}

/// Variables that any program may need: paths of programs, files and certificates, and the locale.
const SYSTEM_VARIABLES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "NO_COLOR",
    "TMPDIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NO_PROXY",
    "no_proxy",
    // Directories of shared libraries.
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    // Diagnostics, and the allocator.
    "RUST_BACKTRACE",
    "MALLOC_ARENA_MAX",
];

/// Prefixes of such variables: Grov's settings, the locale, base directories.
const SYSTEM_PREFIXES: &[&str] = &["GROV_", "LC_", "XDG_"];

/// Variables with which the user's own client finds its login, and reaches its API.
const CLIENT_VARIABLES: &[&str] = &[
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
    "NODE_EXTRA_CA_CERTS",
];

/// The environment for a process that outlives the command that starts it. It contains only variables that the process needs,
/// because a shell or client may have keys, tokens and addresses for other programs. `ANTHROPIC_API_KEY` is kept only if
/// `llm.use_anthropic_key` allows it, those for the login of the user's client only if it judges, and settings of the agent
/// service are dropped. An HTTP proxy variable that names the daemon itself is dropped,
/// and what `grov run` replaced is restored, because the process outlives the run.
pub fn scrubbed_environment(environment: &Environment, settings: &Settings) -> Environment {
    let environment = &environment.outside_of_run();
    let setting = |name: &str| KEYS.iter().find(|key| key.environment.contains(&name));
    let keep = |name: &str, value: &OsStr| {
        // Keys and addresses of the agent service are no business of the proxy.
        if setting(name).is_some_and(Key::is_agents) {
            return false;
        }
        let is_needed = SYSTEM_VARIABLES.contains(&name)
            || SYSTEM_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || setting(name).is_some();
        let is_own_key = name == "ANTHROPIC_API_KEY" && settings.llm().use_anthropic_key;
        let is_of_client =
            CLIENT_VARIABLES.contains(&name) && settings.llm().provider == LlmProvider::ClaudeCli;
        let is_proxy = PROXY_VARIABLES.contains(&name) && !settings.is_own_listener_text(value);
        is_needed || is_own_key || is_of_client || is_proxy
    };
    environment
        .iter()
        .filter(|(name, value)| keep(name, value))
        .collect()
}

/// The environment for a daemon: [`scrubbed_environment`], and the variables that the provider file names.
pub fn daemon_environment(home: &Home, environment: &Environment, settings: &Settings) -> Environment {
    let named = ProviderFiles::new(home, environment, settings.route()).named_variables();
    let scrubbed = scrubbed_environment(environment, settings);
    let of_providers = named
        .iter()
        .filter_map(|name| Some((name.as_str(), environment.get(name)?)));
    scrubbed.iter().chain(of_providers).collect()
}

/// The variables for the user's own client if it judges; none otherwise. The client gets only what it needs of them.
pub fn client_environment(environment: &Environment, settings: &Settings) -> Vec<(String, OsString)> {
    if settings.llm().provider != LlmProvider::ClaudeCli {
        return Vec::new();
    }
    let scrubbed = scrubbed_environment(environment, settings);
    let variables = scrubbed.iter();
    variables
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Why this process cannot become the daemon.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Another daemon is running in this home.
    #[error("another grov-proxyd runs in {}: {}", home.display(), describe(record.as_deref()))]
    Held {
        /// The home.
        home: PathBuf,
        /// The other daemon; `None` while it is starting.
        record: Option<Box<Record>>,
    },
    /// The lock file or the record cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

fn describe(record: Option<&Record>) -> String {
    match record {
        Some(record) => format!("process {} at {}", record.pid, record.url),
        None => "it is just starting".to_owned(),
    }
}

/// The lock of the running daemon; the system releases it also when the process is killed.
#[derive(Debug)]
pub struct Lock {
    home: Home,
    file: File,
    /// Whether another process holds the same lock.
    is_passed_on: bool,
}

impl Lock {
    /// Locks `home`, which must exist, for this daemon. Waits up to 100 ms, because [`is_running`] takes the lock briefly.
    pub fn acquire(home: &Home) -> Result<Self, LockError> {
        Self::acquire_within(home, LOCK_TIMEOUT)
    }

    /// Like [`acquire`](Self::acquire), without waiting.
    pub fn try_acquire(home: &Home) -> Result<Self, LockError> {
        Self::acquire_within(home, Duration::ZERO)
    }

    fn acquire_within(home: &Home, timeout: Duration) -> Result<Self, LockError> {
        let path = home.daemon_lock();
        let failed = |path: &Path, source| LockError::Io {
            path: path.to_owned(),
            source,
        };
        // The file is never removed: otherwise two processes could each lock a file of this name.
        let file = create_private(&path, OpenOptions::new().write(true).create(true).truncate(false))
            .map_err(|source| failed(&path, source))?;
        match lock_within(timeout, || file.try_lock()) {
            Ok(()) => Ok(Self {
                home: home.clone(),
                file,
                is_passed_on: false,
            }),
            Err(TryLockError::WouldBlock) => Err(LockError::Held {
                home: home.root().to_owned(),
                record: read(home).map(Box::new),
            }),
            Err(TryLockError::Error(source)) => Err(failed(&path, source)),
        }
    }

    /// The lock that another process took for this home and passed on with its open file; `None` if the file is not the home's.
    pub fn inherited(home: &Home, file: File) -> Option<Self> {
        let lock = Self {
            home: home.clone(),
            file,
            is_passed_on: false,
        };
        if lock.is_in_place() {
            return Some(lock);
        }
        // Not this home's record.
        lock.pass_on();
        None
    }

    /// The locked file, to be passed to another process, which then holds the lock too.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Closes the file without releasing the lock, because another process has it too. Leaves the record to that process.
    pub fn pass_on(mut self) {
        self.is_passed_on = true;
    }

    /// Whether the lock file is still the locked one. After it was deleted or replaced, alone or with the home, another daemon
    /// can start in this home.
    pub fn is_in_place(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let named = std::fs::metadata(self.home.daemon_lock());
        match (self.file.metadata(), named) {
            (Ok(held), Ok(named)) => (held.dev(), held.ino()) == (named.dev(), named.ino()),
            _ => false,
        }
    }

    /// Writes `daemon.json`. Call it when the daemon accepts connections. Dropping the lock removes the file.
    pub fn publish(&self, record: &Record) -> Result<(), LockError> {
        let path = self.home.daemon_record();
        serde_json::to_vec(record)
            .map_err(io::Error::from)
            .and_then(|content| write_private(&path, &content))
            .map_err(|source| LockError::Io { path, source })
    }
}

/// Tries to lock until `timeout` has passed.
pub(crate) fn lock_within(
    timeout: Duration,
    try_lock: impl Fn() -> Result<(), TryLockError>,
) -> Result<(), TryLockError> {
    let start = Instant::now();
    loop {
        match try_lock() {
            Err(TryLockError::WouldBlock) if start.elapsed() < timeout => {
                std::thread::sleep(Duration::from_millis(1));
            }
            other => return other,
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.is_passed_on {
            return;
        }
        // Errors are ignored: readers check the record, and the system releases the lock.
        if self.is_in_place() {
            let _ = std::fs::remove_file(self.home.daemon_record());
        }
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests;
