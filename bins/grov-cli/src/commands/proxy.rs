//! `grov proxy`: finds `grov-proxyd` and becomes it, or starts it in the background.

use crate::arguments::{Common, ProxyArguments};
use crate::daemon_health::{self, ProxyView};
use crate::failure::{EXIT_ERROR, Failure, Told};
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use grov_runtime::{EXIT_USAGE, Environment, Home, Inputs, Settings, daemon};
use serde::Serialize;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = "grov-proxyd";
/// A daemon accepts within milliseconds; a machine under load may take longer.
const START_PATIENCE: Duration = Duration::from_secs(15);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

#[derive(Serialize)]
struct Answer {
    url: Option<String>,
    pid: Option<u32>,
    version: Option<String>,
    /// False if it was running before.
    started: bool,
}

pub(crate) fn run(common: &Common, arguments: &ProxyArguments, terminal: Terminal) -> Outcome {
    let environment = Environment::of_process();
    let home = Home::locate(common.home.as_deref(), &environment)?;
    if arguments.own_session {
        // Fails only for the leader of a process group, which then has what it wants.
        let _ = rustix::process::setsid();
    }
    let flags = flags(arguments);
    let load = |environment: &Environment| {
        // The daemon serves many projects, so the one of this directory has no say.
        let inputs = Inputs {
            home: &home,
            environment,
            directory: None,
            flags: &flags,
        };
        Settings::load(inputs)
    };
    let settings = load(&environment)?;
    let program = find_program(&environment)?;
    if !arguments.detach {
        settings.ensure_startable(&environment)?;
        let failed = Command::new(&program).args(daemon_words(&home, arguments)).exec();
        return Err(Failure::error(
            "proxy",
            format!("{} cannot be started: {failed}", program.display()),
            None,
        ));
    }
    // What holds for the daemon is what it finds in the environment that is left.
    let environment = daemon::scrubbed(&environment, &settings);
    let settings = load(&environment)?;
    settings.ensure_startable(&environment)?;
    for warning in settings.warnings() {
        say(&format!("warning: {warning}"));
    }
    let (proxy, started) = detach(&home, &environment, &settings, arguments)?;
    let answer = Answer {
        url: proxy.url,
        pid: proxy.pid,
        version: proxy.version,
        started,
    };
    terminal.answer(answer, text)?;
    Ok(Verdict::Found)
}

/// What the flags say, as settings.
fn flags(arguments: &ProxyArguments) -> Vec<(&'static str, String)> {
    let given = [
        ("proxy.port", &arguments.port),
        ("proxy.host", &arguments.host),
        ("proxy.upstream", &arguments.upstream),
        ("log.level", &arguments.log_level),
    ];
    given
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.clone()?)))
        .collect()
}

/// The daemon's command line.
fn daemon_words(home: &Home, arguments: &ProxyArguments) -> Vec<OsString> {
    let given = [
        ("--port", &arguments.port),
        ("--host", &arguments.host),
        ("--upstream", &arguments.upstream),
        ("--log-level", &arguments.log_level),
    ];
    let mut words = vec!["--home".into(), home.root().as_os_str().to_owned()];
    for (flag, value) in given {
        if let Some(value) = value {
            // One word, so that a value that begins with a dash stays a value.
            words.push(format!("{flag}={value}").into());
        }
    }
    words
}

/// The daemon's program: next to this one, else in the directories of `PATH`.
fn find_program(environment: &Environment) -> Result<PathBuf, Failure> {
    let own = std::env::current_exe().ok();
    let resolved = own.as_deref().and_then(|path| path.canonicalize().ok());
    let beside = own
        .iter()
        .chain(&resolved)
        .filter_map(|path| path.parent())
        .map(Path::to_path_buf);
    let in_path: Vec<PathBuf> = environment
        .get("PATH")
        .map(|path| std::env::split_paths(path).collect())
        .unwrap_or_default();
    beside
        // A relative entry would mean whatever lies in the directory that this was started in.
        .chain(in_path.into_iter().filter(|folder| folder.is_absolute()))
        .map(|folder| folder.join(PROGRAM))
        .find(|path| is_executable(path))
        .ok_or_else(|| {
            Failure::error(
                "proxy",
                format!("{PROGRAM} is neither next to grov nor in a directory of PATH"),
                Some("install it beside grov, or add its directory to PATH"),
            )
        })
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// The running daemon, and whether it was started here.
fn detach(
    home: &Home,
    environment: &Environment,
    settings: &Settings,
    arguments: &ProxyArguments,
) -> Result<(ProxyView, bool), Failure> {
    let running = daemon_health::ask(home);
    if running.running {
        return Ok((running, false));
    }
    home.create()?;
    let logs = home.create_logs()?;
    // What it says before its log is open, and should it crash.
    let said = logs.join("grov-proxyd.stderr");
    let failed = |what: &Path, error| {
        Failure::error(
            "proxy",
            format!("{} cannot be used: {error}", what.display()),
            None,
        )
    };
    let said_file = private(&said).map_err(|error| failed(&said, error))?;
    let own = std::env::current_exe().map_err(|error| failed(Path::new("grov"), error))?;

    let mut command = Command::new(&own);
    command
        .arg("proxy")
        .arg("--own-session")
        .args(daemon_words(home, arguments));
    command.env_clear().envs(environment.iter());
    if settings.log().file.is_none() {
        command.env("GROV_LOG_FILE", logs.join("grov-proxyd.log"));
    }
    if let Some(config) = environment
        .get("GROV_CONFIG")
        .and_then(|path| std::path::absolute(path).ok())
    {
        command.env("GROV_CONFIG", config);
    }
    // In its home, so that it keeps no other directory in use.
    command
        .current_dir(home.root())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(said_file);
    let child = command.spawn().map_err(|error| failed(&own, error))?;
    wait_until_it_accepts(home, child, &said).map(|proxy| (proxy, true))
}

fn private(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}

fn wait_until_it_accepts(home: &Home, mut child: Child, said: &Path) -> Result<ProxyView, Failure> {
    let deadline = Instant::now() + START_PATIENCE;
    loop {
        let proxy = daemon_health::ask(home);
        if proxy.running && proxy.pid == Some(child.id()) {
            return Ok(proxy);
        }
        match child.try_wait() {
            Ok(None) => {}
            // Another one was started at the same moment and won.
            Ok(Some(_)) if proxy.running => return Ok(proxy),
            Ok(Some(status)) => {
                let is_usage = status.code() == Some(i32::from(EXIT_USAGE));
                return Err(not_started(said, if is_usage { EXIT_USAGE } else { EXIT_ERROR }));
            }
            Err(error) => {
                return Err(Failure::error(
                    "proxy",
                    format!("{PROGRAM} is lost: {error}"),
                    None,
                ));
            }
        }
        if Instant::now() >= deadline {
            // It may accept later, when nobody waits for it any more.
            let _ = child.kill();
            let _ = child.wait();
            return Err(not_started(said, EXIT_ERROR));
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// With the daemon's own words and its hint.
fn not_started(said: &Path, exit_code: u8) -> Failure {
    let words = std::fs::read_to_string(said).unwrap_or_default();
    let (words, hint) = match words.trim().rsplit_once("\nhint: ") {
        Some((words, hint)) => (words, Some(hint.to_owned())),
        None => (words.trim(), None),
    };
    let message = match words.strip_prefix("grov-proxyd: ").unwrap_or(words) {
        "" => format!(
            "{PROGRAM} did not start and said nothing; its log is beside {}",
            said.display()
        ),
        words => format!("{PROGRAM} did not start: {words}"),
    };
    Failure::Told(Told {
        kind: "proxy",
        message,
        hint,
        exit_code,
    })
}

fn text(answer: &Answer, _style: Style) -> String {
    let url = answer.url.as_deref().unwrap_or("an unknown address");
    let pid = answer
        .pid
        .map_or_else(|| "unknown".to_owned(), |pid| pid.to_string());
    let verb = if answer.started {
        "listens"
    } else {
        "was already listening"
    };
    format!("{PROGRAM} {verb} at {url} (pid {pid})\n")
}
