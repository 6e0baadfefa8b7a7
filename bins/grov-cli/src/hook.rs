//! `grov hook EVENT`: answers the client's hooks.
//!
//! The client waits for every hook, passes on what it prints, and takes an exit code of 2 as a refusal. So this prints
//! nothing but an answer, always succeeds, and waits for nobody: what cannot be had at once is left out. It does not go
//! through the command line's definition, which has opinions about bad usage.

use grov_domain::ClientSessionId;
use grov_hooks::ToldList;
use grov_hooks::event::{self, Input, LONGEST_INPUT};
use grov_hooks::memory::{Prompt, is_worth_asking, remembered};
use grov_memory::Budget;
use grov_runtime::{Environment, Home, Inputs, Settings, Url, daemon};
use grov_store::{OpenOptions, SqliteStore};
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::OpenOptionsExt;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant, SystemTime};
use time::OffsetDateTime;

/// Time for looking whether files are as memories left them.
const TIME_FOR_FILES: Duration = Duration::from_millis(15);
/// On one machine a connection is made at once or never.
const CONNECT_PATIENCE: Duration = Duration::from_millis(200);
/// The client is told to wait a little longer.
const START_PATIENCE: Duration = Duration::from_secs(17);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// A log of faults that is longer says nothing new.
const LONGEST_LOG: u64 = 1024 * 1024;

/// What the command line asks for, if it is about a hook.
pub(crate) struct Asked {
    event: Option<String>,
    home: Option<PathBuf>,
}

impl Asked {
    /// Looks whether the first word that is no flag names a hook, whatever else stands there.
    pub(crate) fn of(arguments: &[OsString]) -> Option<Self> {
        let mut words = arguments.iter().skip(1);
        let mut home = None;
        let command = loop {
            let word = words.next()?;
            match word.to_str() {
                Some("--home") => home = words.next().map(PathBuf::from),
                Some("--project" | "--color") => {
                    words.next();
                }
                Some(flag) if flag.starts_with('-') => {
                    let value = flag.strip_prefix("--home=").map(PathBuf::from);
                    home = value.or(home);
                }
                other => break other?,
            }
        };
        let event = match command {
            "hook" => words.find_map(|word| word.to_str().filter(|word| !word.starts_with('-'))),
            "inject" => Some(event::SESSION_START),
            "prompt-inject" => Some(event::USER_PROMPT_SUBMIT),
            "capture" => Some("Stop"),
            _ => return None,
        };
        Some(Self {
            event: event.map(str::to_owned),
            home,
        })
    }
}

/// Answers a hook.
pub(crate) fn run(asked: &Asked) -> ExitCode {
    let environment = Environment::of_process();
    let home = Home::locate(asked.home.as_deref(), &environment).ok();
    let log = home.clone();
    std::panic::set_hook(Box::new(move |panic| {
        // By its place only: what a panic says may hold what a user wrote.
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        note(log.as_ref(), &format!("panic at {place}"));
    }));
    let answered = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let home = home.as_ref()?;
        match answer(asked, home, &environment) {
            Ok(answer) => answer,
            Err(fault) => {
                note(Some(home), &fault);
                None
            }
        }
    }));
    if let Ok(Some(text)) = answered {
        let mut stdout = io::stdout().lock();
        // Nobody can be told that telling failed.
        let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
    }
    ExitCode::SUCCESS
}

/// What is printed, if anything.
fn answer(asked: &Asked, home: &Home, environment: &Environment) -> Result<Option<String>, String> {
    let input = Input::read(&read_input());
    match input.event(asked.event.as_deref()) {
        Some(event::SESSION_START) => session_starts(&input, asked, home, environment).map(|()| None),
        Some(event::USER_PROMPT_SUBMIT) => prompt_arrives(&input, home, environment),
        _ => Ok(None),
    }
}

/// What the client sends; nothing if it is too long or a person sits there.
fn read_input() -> Vec<u8> {
    let mut stdin = io::stdin();
    let mut bytes = Vec::new();
    if !stdin.is_terminal() {
        let read = stdin.by_ref().take(LONGEST_INPUT + 1).read_to_end(&mut bytes);
        if read.is_err() || bytes.len() as u64 > LONGEST_INPUT {
            bytes.clear();
        }
    }
    bytes
}

fn settings(home: &Home, environment: &Environment, directory: Option<&Path>) -> Result<Settings, String> {
    let inputs = Inputs {
        home,
        environment,
        directory,
        flags: &[],
    };
    Settings::load(inputs).map_err(|error| error.to_string())
}

/// The proxy must be up before the client's first request, and a history that is gone holds nothing any more.
fn session_starts(
    input: &Input,
    asked: &Asked,
    home: &Home,
    environment: &Environment,
) -> Result<(), String> {
    if matches!(input.source.as_deref(), Some("compact" | "clear"))
        && let Some(told) = told_list(input, home)
    {
        told.clear().map_err(|error| format!("what was told: {error}"))?;
    }
    ToldList::remove_old(home.root(), SystemTime::now());
    start_proxy(asked, home, environment)
}

fn told_list(input: &Input, home: &Home) -> Option<ToldList> {
    let session = ClientSessionId::new(input.session_id.as_deref()?);
    ToldList::of(home.root(), &session)
}

/// Tells what memory knows about a prompt.
fn prompt_arrives(input: &Input, home: &Home, environment: &Environment) -> Result<Option<String>, String> {
    let Some(prompt) = input.prompt.as_deref().filter(|prompt| is_worth_asking(prompt)) else {
        return Ok(None);
    };
    let directory = input
        .cwd
        .as_deref()
        .map(Path::new)
        .filter(|directory| directory.is_dir());
    // Without a place in the file system nobody knows whose memory it is, without a session nobody what was said.
    let (Some(directory), Some(list)) = (directory, told_list(input, home)) else {
        return Ok(None);
    };
    let settings = settings(home, environment, Some(directory))?;
    let memory = settings.memory();
    // What goes through the proxy hears it from there: two that know nothing of one another would say it twice.
    if !memory.enabled || own_proxy(home, environment, &settings).is_some() {
        return Ok(None);
    }
    let session = input.session_id.as_deref().map(ClientSessionId::new);
    let told = list.read();
    let prompt = Prompt {
        text: prompt,
        session: session.as_ref(),
        directory,
        told: &told,
        budget: Budget {
            tokens: memory.budget_tokens,
        },
        until: Instant::now() + TIME_FOR_FILES,
    };
    let words = ask(&home.database(), &prompt)?;
    let Some(words) = words else { return Ok(None) };
    // First the note: what nobody knows was said would be said again with every prompt.
    list.add(&words.memories)
        .map_err(|error| format!("what was told: {error}"))?;
    Ok(Some(event::context(event::USER_PROMPT_SUBMIT, &words.text)))
}

fn ask(database: &Path, prompt: &Prompt<'_>) -> Result<Option<grov_hooks::memory::Told>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| format!("no runtime: {error}"))?;
    let asked = runtime.block_on(async {
        match SqliteStore::open_existing(database, &OpenOptions::brief()).await? {
            Some(store) => remembered(&store, prompt).await,
            None => Ok(None),
        }
    });
    asked.map_err(|error| error.to_string())
}

/// Starts the proxy if the client is about to talk to it and it is down: a client without it tries for minutes.
fn start_proxy(asked: &Asked, home: &Home, environment: &Environment) -> Result<(), String> {
    if environment.get("ANTHROPIC_BASE_URL").is_none() {
        return Ok(());
    }
    let settings = settings(home, environment, None)?;
    let Some(proxy) = own_proxy(home, environment, &settings) else {
        return Ok(());
    };
    if TcpStream::connect_timeout(&proxy, CONNECT_PATIENCE).is_ok() {
        return Ok(());
    }
    let own = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
    let mut command = Command::new(own);
    if let Some(home) = &asked.home {
        command.arg("--home").arg(home);
    }
    // Where the client looks for it, which the settings may have been changed from since.
    command
        .args(["proxy", "--detach", "--port"])
        .arg(proxy.port().to_string());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("the proxy: {error}"))?;
    let deadline = Instant::now() + START_PATIENCE;
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(LOOK_AGAIN),
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("the proxy did not start: {status}")),
            Err(error) => return Err(format!("the proxy: {error}")),
        }
    }
    Err("the proxy did not start in time".to_owned())
}

/// Where Grov's proxy listens, if that is where the client sends its requests: the port of the settings, or that of the
/// daemon that was started last.
fn own_proxy(home: &Home, environment: &Environment, settings: &Settings) -> Option<SocketAddr> {
    let url = environment.get("ANTHROPIC_BASE_URL").and_then(OsStr::to_str)?;
    let url = Url::parse(url)
        .ok()
        .filter(|url| url.is_loopback() && !url.is_secure())?;
    let configured = settings.proxy();
    let is_last = || {
        let last = daemon::read(home).and_then(|record| Url::parse(&record.url).ok());
        last.is_some_and(|last| last.port() == url.port())
    };
    let is_own = url.port() == configured.port || is_last();
    is_own.then(|| SocketAddr::new(configured.host, url.port()))
}

/// Writes down a fault for whoever looks after it later.
fn note(home: Option<&Home>, fault: &str) {
    let Some(path) = home
        .and_then(|home| home.create_logs().ok())
        .map(|logs| logs.join("hooks.log"))
    else {
        return;
    };
    let fits = std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() < LONGEST_LOG);
    let mut options = std::fs::OpenOptions::new();
    options.create(true).mode(0o600);
    if fits {
        options.append(true);
    } else {
        options.write(true).truncate(true);
    }
    let at = OffsetDateTime::now_utc().unix_timestamp();
    if let Ok(mut file) = options.open(path) {
        let _ = file.write_all(format!("{at} {fault}\n").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Option<(Option<String>, Option<PathBuf>)> {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        Asked::of(&arguments).map(|asked| (asked.event, asked.home))
    }

    #[test]
    fn a_hook_is_one_whatever_else_is_said() {
        let event = |name: &str| Some(name.to_owned());
        assert_eq!(asked("grov hook Stop"), Some((event("Stop"), None)));
        assert_eq!(asked("grov hook"), Some((None, None)));
        assert_eq!(asked("grov hook --loud Stop more"), Some((event("Stop"), None)));
        assert_eq!(
            asked("grov --home /h --bogus hook Stop"),
            Some((event("Stop"), Some("/h".into())))
        );
        assert_eq!(
            asked("grov --home=/h inject"),
            Some((event("SessionStart"), Some("/h".into())))
        );
        assert_eq!(
            asked("grov prompt-inject"),
            Some((event("UserPromptSubmit"), None))
        );
        assert_eq!(asked("grov capture"), Some((event("Stop"), None)));
        for other in [
            "grov",
            "grov status",
            "grov --project hook",
            "grov --project hook status",
            "grov memory hook",
        ] {
            assert_eq!(asked(other), None, "{other}");
        }
    }
}
