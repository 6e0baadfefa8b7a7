//! `grov proxy`: finds `grov-proxyd` and replaces itself with it, or starts it in the background.

use crate::arguments::{Common, ProxyArguments};
use crate::daemon_health::{self, ProxyView};
use crate::failure::{EXIT_ERROR, Failure};
use crate::output::{Outcome, Style, Terminal, note};
use crate::programs::beside_or_in_path;
use grov_runtime::{EXIT_USAGE, Environment, Home, Inputs, Settings, create_private, daemon};
use serde::Serialize;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = "grov-proxyd";
/// A daemon usually starts within milliseconds; on a busy machine it takes longer.
const START_TIMEOUT: Duration = Duration::from_secs(15);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

#[derive(Serialize)]
struct Answer {
    url: Option<String>,
    pid: Option<u32>,
    version: Option<String>,
    /// False if it was already running.
    started: bool,
}

pub(crate) fn run(common: &Common, arguments: &ProxyArguments, terminal: Terminal) -> Outcome {
    let environment = Environment::of_process();
    let home = Home::locate(common.home.as_deref(), &environment)?;
    if arguments.own_session {
        // Fails only for a process group leader, which does not need it.
        let _ = rustix::process::setsid();
    }
    let flags: Vec<(&str, String)> = given(arguments)
        .map(|(setting, _, value)| (setting, value.to_owned()))
        .collect();
    let load = |environment: &Environment| {
        // The daemon serves many projects, so the configuration of this directory does not apply.
        Settings::load(Inputs {
            home: &home,
            environment,
            directory: None,
            flags: &flags,
        })
    };
    let settings = load(&environment)?;
    let program = find_program(&environment)?;
    if !arguments.detach {
        settings.ensure_startable(&environment)?;
        let error = Command::new(&program)
            .args(daemon_arguments(&home, arguments))
            .exec();
        return Err(failed(&format!("cannot start {}", program.display()), &error));
    }
    // The daemon gets a scrubbed environment, so its settings are read from that.
    let environment = daemon::daemon_environment(&home, &environment, &settings);
    let settings = load(&environment)?;
    settings.ensure_startable(&environment)?;
    for warning in settings.warnings() {
        note!("warning: {warning}");
    }
    let (proxy, started) = detach(&home, &environment, &settings, arguments)?;
    let answer = Answer {
        url: proxy.url,
        pid: proxy.pid,
        version: proxy.version,
        started,
    };
    terminal.answer(answer, text)
}

/// The given flags: setting, flag, value.
fn given(arguments: &ProxyArguments) -> impl Iterator<Item = (&'static str, &'static str, &str)> {
    let flags = [
        ("proxy.port", "--port", &arguments.port),
        ("proxy.host", "--host", &arguments.host),
        ("proxy.upstream", "--upstream", &arguments.upstream),
        ("log.level", "--log-level", &arguments.log_level),
    ];
    flags
        .into_iter()
        .filter_map(|(setting, flag, value)| Some((setting, flag, value.as_deref()?)))
}

fn daemon_arguments(home: &Home, arguments: &ProxyArguments) -> Vec<OsString> {
    let mut words = vec!["--home".into(), home.root().as_os_str().to_owned()];
    // As one word, so that a value may begin with a dash.
    words.extend(given(arguments).map(|(_, flag, value)| format!("{flag}={value}").into()));
    words
}

/// The daemon's program: next to this one, else in `PATH`.
fn find_program(environment: &Environment) -> Result<PathBuf, Failure> {
    beside_or_in_path(PROGRAM, environment).ok_or_else(|| {
        Failure::error("proxy", format!("{PROGRAM} is neither next to grov nor in PATH"))
            .hint("install it next to grov, or add its directory to PATH")
    })
}

/// The running daemon, and whether this command started it.
fn detach(
    home: &Home,
    environment: &Environment,
    settings: &Settings,
    arguments: &ProxyArguments,
) -> Result<(ProxyView, bool), Failure> {
    let running = daemon_health::query(home);
    if running.running {
        return Ok((running, false));
    }
    home.create()?;
    let logs = home.create_logs()?;
    // For messages before the log is open, and for crashes.
    let stderr = logs.join("grov-proxyd.stderr");
    let unusable = |path: &Path, error| failed(&format!("cannot use {}", path.display()), &error);
    let stderr_file = create_private(
        &stderr,
        OpenOptions::new().write(true).create(true).truncate(true),
    )
    .map_err(|error| unusable(&stderr, error))?;
    let grov = std::env::current_exe().map_err(|error| unusable(Path::new("grov"), error))?;

    let mut command = Command::new(&grov);
    command
        .args(["proxy", "--own-session"])
        .args(daemon_arguments(home, arguments))
        .env_clear()
        .envs(environment.iter())
        // So that the daemon does not keep another directory in use.
        .current_dir(home.root())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr_file);
    if settings.log().file.is_none() {
        command.env("GROV_LOG_FILE", logs.join("grov-proxyd.log"));
    }
    let config = environment.get("GROV_CONFIG");
    if let Some(config) = config.and_then(|path| std::path::absolute(path).ok()) {
        command.env("GROV_CONFIG", config);
    }
    let child = command.spawn().map_err(|error| unusable(&grov, error))?;
    wait_until_running(home, child, &stderr).map(|proxy| (proxy, true))
}

fn wait_until_running(home: &Home, mut child: Child, stderr: &Path) -> Result<ProxyView, Failure> {
    let deadline = Instant::now() + START_TIMEOUT;
    loop {
        let proxy = daemon_health::query(home);
        if proxy.running && proxy.pid == Some(child.id()) {
            return Ok(proxy);
        }
        match child.try_wait() {
            Ok(None) => {}
            // Another process started one at the same time.
            Ok(Some(_)) if proxy.running => return Ok(proxy),
            Ok(Some(status)) => {
                let is_usage = status.code() == Some(i32::from(EXIT_USAGE));
                return Err(not_started(
                    stderr,
                    if is_usage { EXIT_USAGE } else { EXIT_ERROR },
                ));
            }
            Err(error) => return Err(failed(&format!("cannot wait for {PROGRAM}"), &error)),
        }
        if Instant::now() >= deadline {
            let _ = child.kill();
            let _ = child.wait();
            return Err(not_started(stderr, EXIT_ERROR));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn failed(what: &str, error: &std::io::Error) -> Failure {
    Failure::error("proxy", format!("{what}: {error}"))
}

/// A failure with the daemon's own message and hint.
fn not_started(stderr: &Path, exit_code: u8) -> Failure {
    let text = std::fs::read_to_string(stderr).unwrap_or_default();
    let (message, hint) = match text.trim().rsplit_once("\nhint: ") {
        Some((message, hint)) => (message, Some(hint)),
        None => (text.trim(), None),
    };
    let message = match message.strip_prefix("grov-proxyd: ").unwrap_or(message) {
        "" => format!(
            "{PROGRAM} did not start and printed no error; its log is next to {}",
            stderr.display()
        ),
        message => format!("{PROGRAM} did not start: {message}"),
    };
    let failure = Failure::new("proxy", exit_code, message);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn text(answer: &Answer, _style: Style) -> String {
    let url = answer.url.as_deref().unwrap_or("an unknown address");
    let pid = answer.pid.map_or("unknown".to_owned(), |pid| pid.to_string());
    let verb = if answer.started {
        "listens"
    } else {
        "was already listening"
    };
    format!("{PROGRAM} {verb} at {url} (pid {pid})\n")
}
