//! Starts `grov-proxyd` in the background.

use crate::arguments::DaemonFlags;
use crate::daemon_health::{self, ProxyView};
use crate::failure::{EXIT_ERROR, Failure};
use crate::output::note;
use crate::programs::beside_or_in_path;
use grov_runtime::{EXIT_USAGE, Environment, Home, Inputs, Settings, create_private, daemon};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) const PROGRAM: &str = "grov-proxyd";
/// A daemon usually starts within milliseconds; on a busy machine it takes longer.
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a hook can wait: the client gives a prompt's hook five seconds.
pub(crate) const HOOK_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a daemon that answers may take to record where it listens.
const RECORD_TIMEOUT: Duration = Duration::from_millis(500);
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A daemon to start: its home, environment and settings.
pub(crate) struct DaemonStart<'a> {
    pub(crate) home: &'a Home,
    pub(crate) flags: &'a DaemonFlags,
    /// Without the variables of a client: the daemon outlives this command.
    pub(crate) environment: Environment,
    pub(crate) settings: Settings,
    /// Whether a hook waits, so that there is little time. A daemon that needs longer goes on starting.
    pub(crate) for_hook: bool,
}

impl<'a> DaemonStart<'a> {
    /// Checks that a daemon can start with these flags. Creates nothing.
    pub(crate) fn new(
        home: &'a Home,
        flags: &'a DaemonFlags,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let environment = &environment.outside_of_run();
        let settings = load(home, flags, environment)?;
        // The daemon gets a scrubbed environment, so its settings are read from that.
        let environment = daemon::daemon_environment(home, environment, &settings);
        let settings = load(home, flags, &environment)?;
        settings.ensure_startable(&environment)?;
        Ok(Self {
            home,
            flags,
            environment,
            settings,
            for_hook: false,
        })
    }

    /// With only as much time as a hook has.
    pub(crate) fn for_hook(self, for_hook: bool) -> Self {
        Self { for_hook, ..self }
    }

    /// The running daemon of the home, and whether this call started it.
    pub(crate) fn run(&self) -> Result<(ProxyView, bool), Failure> {
        let running = daemon_health::query(self.home);
        if running.running {
            return Ok((running, false));
        }
        // A daemon that could not record where it listens.
        let unrecorded = || daemon_health::query_at(self.address()?, None);
        if daemon::is_running(self.home)
            && let Some(running) = unrecorded()
        {
            return Ok((running, false));
        }
        let home_fault = self.home.create().err();
        // For messages before the log is open, and for crashes.
        let stderr = self.home.logs().join("grov-proxyd.stderr");
        // Without a writable home the daemon relays all the same.
        let stderr_file = self
            .open_stderr(&stderr)
            .map_or_else(|_| Stdio::null(), Stdio::from);
        let grov = std::env::current_exe().map_err(|error| unusable(Path::new("grov"), error))?;
        let mut command = self.command(&grov, &["proxy", "--own-session"]);
        if home_fault.is_some() {
            command.current_dir("/");
        }
        let child = command.stdin(Stdio::null()).stderr(stderr_file).spawn();
        let child = child.map_err(|error| unusable(&grov, error))?;
        self.wait_until_running(child, &stderr).map(|proxy| (proxy, true))
    }

    fn open_stderr(&self, path: &Path) -> Result<File, Failure> {
        self.home.create_logs()?;
        create_private(path, OpenOptions::new().write(true).create(true).truncate(true))
            .map_err(|error| unusable(path, error))
    }

    /// Where the daemon listens; `None` if it selects the port.
    fn address(&self) -> Option<SocketAddr> {
        let proxy = self.settings.proxy();
        (proxy.port != 0).then(|| SocketAddr::new(proxy.local_host(), proxy.port))
    }

    fn wait_until_running(&self, mut child: Child, stderr: &Path) -> Result<ProxyView, Failure> {
        let home = self.home;
        let limit = if self.for_hook {
            HOOK_TIMEOUT
        } else {
            START_TIMEOUT
        };
        let deadline = Instant::now() + limit;
        let mut answering_since: Option<Instant> = None;
        let printed = || std::fs::read_to_string(stderr).unwrap_or_default();
        loop {
            let proxy = daemon_health::query(home);
            if proxy.running && proxy.pid == Some(child.id()) {
                return Ok(proxy);
            }
            let answering = || daemon_health::query_at(self.address()?, Some(child.id()));
            if let Some(answering) = answering() {
                let since = *answering_since.get_or_insert_with(Instant::now);
                if since.elapsed() >= RECORD_TIMEOUT {
                    note!("warning: {}", unrecorded(home, &answering));
                    return Ok(answering);
                }
            }
            match child.try_wait() {
                Ok(None) => {}
                // Another process started one at the same time.
                Ok(Some(_)) if proxy.running => return Ok(proxy),
                Ok(Some(status)) => return Err(not_started(home, &printed(), status.code())),
                Err(error) => return Err(failed(&format!("cannot wait for {PROGRAM}"), &error)),
            }
            if Instant::now() >= deadline {
                if self.for_hook {
                    let message = format!(
                        "{PROGRAM} (process {}) is still starting after {} seconds{}",
                        child.id(),
                        limit.as_secs(),
                        write_fault(home)
                    );
                    return Err(Failure::error("proxy", message).hint("try again in a moment"));
                }
                let _ = child.kill();
                let _ = child.wait();
                return Err(not_started(home, &printed(), None));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// A command with the daemon's arguments behind `words`, its environment and directory, and no standard output.
    pub(crate) fn command(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(words)
            .args(self.flags.words(self.home))
            .env_clear()
            .envs(self.environment.iter())
            // So that the daemon does not keep another directory in use.
            .current_dir(self.home.root())
            .stdout(Stdio::null());
        if self.settings.log().file.is_none() {
            command.env("GROV_LOG_FILE", self.home.daemon_log());
        }
        let config = self.environment.get("GROV_CONFIG");
        if let Some(config) = config.and_then(|path| std::path::absolute(path).ok()) {
            command.env("GROV_CONFIG", config);
        }
        command
    }
}

impl DaemonFlags {
    /// The given flags: setting, flag, value.
    fn given(&self) -> impl Iterator<Item = (&'static str, &'static str, &str)> {
        let flags = [
            ("mitm.port", "--mitm-port", &self.mitm_port),
            ("proxy.port", "--port", &self.port),
            ("proxy.host", "--host", &self.host),
            ("proxy.upstream", "--upstream", &self.upstream),
            ("proxy.tls_cert", "--tls-cert", &self.tls_cert),
            ("proxy.tls_key", "--tls-key", &self.tls_key),
            ("proxy.insecure", "--insecure", &self.insecure),
            ("route.providers", "--providers", &self.providers),
            ("log.level", "--log-level", &self.log_level),
        ];
        flags
            .into_iter()
            .filter_map(|(setting, flag, value)| Some((setting, flag, value.as_deref()?)))
    }

    /// The daemon's command line.
    pub(crate) fn words(&self, home: &Home) -> Vec<OsString> {
        let mut words = vec!["--home".into(), home.root().as_os_str().to_owned()];
        // As one word, so that a value may begin with a dash.
        words.extend(self.mitm.then(|| OsString::from("--mitm")));
        words.extend(
            self.given()
                .map(|(_, flag, value)| format!("{flag}={value}").into()),
        );
        words
    }
}

/// The settings of a daemon with these flags.
pub(crate) fn load(home: &Home, flags: &DaemonFlags, environment: &Environment) -> Result<Settings, Failure> {
    let mitm = flags.mitm.then(|| ("mitm.enabled", "true".to_owned()));
    let given = flags
        .given()
        .map(|(setting, _, value)| (setting, value.to_owned()));
    let flags: Vec<(&str, String)> = given.chain(mitm).collect();
    // The daemon serves many projects, so the configuration of this directory does not apply.
    let inputs = Inputs {
        home,
        environment,
        directory: None,
        flags: &flags,
    };
    Ok(Settings::load(inputs)?)
}

/// The daemon's program: next to this one, else in `PATH`.
pub(crate) fn find_program(environment: &Environment) -> Result<PathBuf, Failure> {
    beside_or_in_path(PROGRAM, environment).ok_or_else(|| {
        Failure::error("proxy", format!("{PROGRAM} is neither next to grov nor in PATH"))
            .hint("install it next to grov, or add its directory to PATH")
    })
}

/// What a daemon that serves but could not record where it listens means.
fn unrecorded(home: &Home, proxy: &ProxyView) -> String {
    format!(
        "{PROGRAM} listens at {} and relays requests, but could not record that{}; nothing is recorded, and other commands \
         may not find it until the home can be written",
        proxy.url.as_deref().unwrap_or("its address"),
        write_fault(home)
    )
}

/// Why the home cannot be written, for the end of a message; empty if it can.
fn write_fault(home: &Home) -> String {
    let fault = home.write_fault();
    fault.map_or_else(String::new, |error| {
        format!(": {} cannot be written: {error}", home.root().display())
    })
}

pub(crate) fn failed(what: &str, error: &std::io::Error) -> Failure {
    Failure::error("proxy", format!("{what}: {error}"))
}

fn unusable(path: &Path, error: std::io::Error) -> Failure {
    failed(&format!("cannot use {}", path.display()), &error)
}

/// A failure with the daemon's own message and hint, from what it printed.
pub(crate) fn not_started(home: &Home, printed: &str, exit_code: Option<i32>) -> Failure {
    let is_usage = exit_code == Some(i32::from(EXIT_USAGE));
    let exit_code = if is_usage { EXIT_USAGE } else { EXIT_ERROR };
    let (message, hint) = match printed.trim().rsplit_once("\nhint: ") {
        Some((message, hint)) => (message, Some(hint)),
        None => (printed.trim(), None),
    };
    let message = match message.strip_prefix("grov-proxyd: ").unwrap_or(message) {
        "" => format!(
            "{PROGRAM} did not start and printed no error; see its log in {}{}",
            home.logs().display(),
            write_fault(home)
        ),
        message => format!("{PROGRAM} did not start: {message}"),
    };
    let failure = Failure::new("proxy", exit_code, message);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
