//! The proxy daemon of a home: its lock, and the record with which other programs find it.

use crate::home::{create_private, write_private};
use crate::settings::PROXY_VARIABLES;
use crate::{Environment, Home, KEYS, Settings};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use time::OffsetDateTime;

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
    /// Version of the daemon.
    pub version: String,
    /// When it started to listen.
    #[serde(with = "time::serde::rfc3339")]
    pub started_at: OffsetDateTime,
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
            version: version.into(),
            started_at,
        }
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

/// The environment for a process that outlives the command that starts it. It contains only variables that the process needs,
/// because a shell or client may have keys, tokens and addresses for other programs. `ANTHROPIC_API_KEY` is kept only if
/// `llm.use_anthropic_key` allows it. An HTTP proxy variable that names the daemon itself is dropped.
pub fn scrubbed_environment(environment: &Environment, settings: &Settings) -> Environment {
    let is_setting = |name: &str| KEYS.iter().any(|key| key.environment.contains(&name));
    let keep = |name: &str, value: &OsStr| {
        let is_needed = SYSTEM_VARIABLES.contains(&name)
            || SYSTEM_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || is_setting(name);
        let is_own_key = name == "ANTHROPIC_API_KEY" && settings.llm().use_anthropic_key;
        let is_proxy = PROXY_VARIABLES.contains(&name) && !settings.is_own_listener_text(value);
        is_needed || is_own_key || is_proxy
    };
    environment
        .iter()
        .filter(|(name, value)| keep(name, value))
        .collect()
}

/// Why this process cannot become the daemon.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Another daemon is running in this home.
    #[error("another grov-proxyd runs in {}: {}", home.display(), describe(record.as_ref()))]
    Held {
        /// The home.
        home: PathBuf,
        /// The other daemon; `None` while it is starting.
        record: Option<Record>,
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
            }),
            Err(TryLockError::WouldBlock) => Err(LockError::Held {
                home: home.root().to_owned(),
                record: read(home),
            }),
            Err(TryLockError::Error(source)) => Err(failed(&path, source)),
        }
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
fn lock_within(
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
        // Errors are ignored: readers check the record, and the system releases the lock.
        if self.is_in_place() {
            let _ = std::fs::remove_file(self.home.daemon_record());
        }
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Inputs;

    fn settings(directory: &Path, environment: &Environment) -> Settings {
        let inputs = Inputs {
            home: &home(directory),
            environment,
            directory: None,
            flags: &[],
        };
        Settings::load(inputs).unwrap()
    }

    fn home(directory: &Path) -> Home {
        Home::locate(Some(directory), &Environment::default()).unwrap()
    }

    fn record() -> Record {
        Record::of_this_process("http://127.0.0.1:8080", "1.2.3", OffsetDateTime::UNIX_EPOCH)
    }

    #[test]
    fn a_second_daemon_is_refused_with_the_record_of_the_first() {
        let directory = tempfile::tempdir().unwrap();
        let home = home(directory.path());
        assert!(!is_running(&home));
        let lock = Lock::acquire(&home).unwrap();
        assert!(is_running(&home));
        let starting = Lock::acquire(&home).unwrap_err();
        assert!(starting.to_string().contains("just starting"), "{starting}");
        lock.publish(&record()).unwrap();
        assert_eq!(read(&home), Some(record()));
        let refused = Lock::acquire(&home).unwrap_err().to_string();
        assert!(refused.contains("http://127.0.0.1:8080"), "{refused}");
        assert!(refused.contains(&std::process::id().to_string()), "{refused}");
        drop(lock);
        assert_eq!((read(&home), is_running(&home)), (None, false));
        Lock::acquire(&home).unwrap();
    }

    #[test]
    fn a_daemon_starts_while_others_check_whether_one_is_running() {
        let directory = tempfile::tempdir().unwrap();
        let home = home(directory.path());
        drop(Lock::acquire(&home).unwrap());
        let open = || File::open(home.daemon_lock()).unwrap();
        let checking = std::cell::RefCell::new(Some(open()));
        checking.borrow().as_ref().unwrap().try_lock_shared().unwrap();
        let own = open();
        let long = Duration::from_secs(60);
        lock_within(long, || {
            let tried = own.try_lock();
            // The other process releases the lock.
            checking.take();
            tried
        })
        .unwrap();
        let held = lock_within(Duration::ZERO, || open().try_lock());
        assert!(matches!(held, Err(TryLockError::WouldBlock)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_daemon_that_a_signal_stopped_is_reported_as_stopped() {
        let directory = tempfile::tempdir().unwrap();
        let home = home(directory.path());
        let lock = Lock::acquire(&home).unwrap();
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let pid = child.id();
        lock.publish(&Record { pid, ..record() }).unwrap();
        assert_eq!(stopped_process(&home), None);
        let signal = |name: &str| {
            let sent = std::process::Command::new("kill")
                .args([name, &pid.to_string()])
                .status();
            assert!(sent.unwrap().success());
        };
        signal("-STOP");
        while stopped_process(&home).is_none() {
            std::thread::yield_now();
        }
        assert_eq!(stopped_process(&home), Some(pid));
        signal("-KILL");
        child.wait().unwrap();
        assert_eq!(stopped_process(&home), None);
    }

    #[test]
    fn a_lock_whose_file_was_deleted_or_replaced_is_not_in_place() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("home");
        let home = home(&root);
        home.create().unwrap();
        let first = Lock::acquire(&home).unwrap();
        assert!(first.is_in_place());
        std::fs::remove_dir_all(&root).unwrap();
        assert!(!first.is_in_place());
        home.create().unwrap();
        let second = Lock::acquire(&home).unwrap();
        second.publish(&record()).unwrap();
        assert!(second.is_in_place() && !first.is_in_place());
        drop(first);
        assert_eq!(
            read(&home),
            Some(record()),
            "the record of the second one remains"
        );
    }

    #[test]
    fn the_environment_of_a_daemon_contains_nothing_of_the_client() {
        let kept = [
            ("ANTHROPIC_TARGET", "https://gate.example"),
            ("HOME", "/h"),
            ("HTTPS_PROXY", "http://127.0.0.1:3128"),
            ("PROXY_PORT", "8080"),
            ("GROV_LLM_API_KEY", "own"),
            ("PATH", "/bin"),
            ("LC_ALL", "de_DE.UTF-8"),
            ("XDG_RUNTIME_DIR", "/run/user/1"),
            ("SSL_CERT_FILE", "/etc/ca.pem"),
            ("NO_PROXY", "localhost"),
            ("DRIFT_CHECK_INTERVAL", "5"),
            ("TOKEN_CLEAR_THRESHOLD", "180000"),
        ];
        let dropped = [
            ("AWS_SECRET_ACCESS_KEY", "k"),
            ("GITHUB_TOKEN", "k"),
            ("OPENAI_API_KEY", "k"),
            ("SSH_AUTH_SOCK", "/s"),
            ("DATABASE_URL", "postgres://u:p@h/d"),
            ("LD_PRELOAD", "/x.so"),
            ("ANTHROPIC_API_KEY", "k"),
            ("ANTHROPIC_AUTH_TOKEN", "k"),
            ("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080"),
            ("ANTHROPIC_CUSTOM_HEADERS", "x"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_OAUTH_TOKEN", "k"),
            ("http_proxy", "localhost:8080"),
            ("ALL_PROXY", "http://u:p@[::1]:8080/"),
        ];
        let environment: Environment = kept.into_iter().chain(dropped).collect();
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(
            scrubbed_environment(&environment, &settings(directory.path(), &environment)),
            kept.into_iter().collect()
        );
    }

    #[test]
    fn a_daemon_keeps_the_anthropic_key_that_it_may_spend_and_its_own() {
        let directory = tempfile::tempdir().unwrap();
        for (allowed, kept) in [("true", true), ("false", false)] {
            let environment = Environment::from_iter([
                ("ANTHROPIC_API_KEY", "k"),
                ("ANTHROPIC_AUTH_TOKEN", "t"),
                ("GROV_LLM_API_KEY", "own"),
                ("GROV_LLM_USE_ANTHROPIC_KEY", allowed),
            ]);
            let left = scrubbed_environment(&environment, &settings(directory.path(), &environment));
            assert_eq!(left.get("ANTHROPIC_API_KEY").is_some(), kept, "{allowed}");
            assert_eq!(left.get("ANTHROPIC_AUTH_TOKEN"), None);
            assert_eq!(left.get("GROV_LLM_API_KEY"), Some("own".as_ref()));
        }
    }

    #[test]
    fn the_record_has_its_documented_shape() {
        let text = serde_json::to_string(&record()).unwrap();
        let pid = std::process::id();
        assert_eq!(
            text,
            format!(
                r#"{{"schema":1,"pid":{pid},"url":"http://127.0.0.1:8080","version":"1.2.3","started_at":"1970-01-01T00:00:00Z"}}"#
            )
        );
    }

    #[test]
    fn a_damaged_record_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let home = home(directory.path());
        for content in ["", "{", "[]", "{\"schema\":1}"] {
            std::fs::write(home.daemon_record(), content).unwrap();
            assert_eq!(read(&home), None);
        }
    }

    #[test]
    fn a_home_that_does_not_exist_is_a_clear_error() {
        let directory = tempfile::tempdir().unwrap();
        let error = Lock::acquire(&home(&directory.path().join("gone")))
            .unwrap_err()
            .to_string();
        assert!(error.contains("daemon.lock"), "{error}");
    }
}
