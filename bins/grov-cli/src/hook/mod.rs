//! `grov hook EVENT`: answers the client's hooks.
//!
//! The client waits for every hook, passes on what it prints, and takes an exit code of 2 as a refusal. So this prints
//! nothing but an answer, always succeeds, and waits for nobody: what cannot be had at once is left out. It does not go
//! through the command line's definition, which has opinions about bad usage.

mod prompt;
mod proxy;
mod session;

use grov_domain::ClientSessionId;
use grov_hooks::ToldList;
use grov_hooks::event::{self, Input, LONGEST_INPUT};
use grov_runtime::{Environment, Home, Inputs, Settings};
use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use time::OffsetDateTime;

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
    let call = Call {
        input: &input,
        named_home: asked.home.as_deref(),
        home,
        environment,
    };
    match input.event(asked.event.as_deref()) {
        Some(event::SESSION_START) => session::starts(&call),
        Some(event::USER_PROMPT_SUBMIT) => prompt::arrives(&call),
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

/// What the client asks, and where Grov lives.
#[derive(Clone, Copy)]
struct Call<'a> {
    input: &'a Input,
    /// The home as the command line names it.
    named_home: Option<&'a Path>,
    home: &'a Home,
    environment: &'a Environment,
}

impl Call<'_> {
    /// The directory that the client works in, if it is there.
    fn directory(&self) -> Option<&Path> {
        let directory = self.input.cwd.as_deref().map(Path::new);
        directory.filter(|directory| directory.is_dir())
    }

    /// The settings, as they hold in a directory.
    fn settings(&self, directory: Option<&Path>) -> Result<Settings, String> {
        let inputs = Inputs {
            home: self.home,
            environment: self.environment,
            directory,
            flags: &[],
        };
        Settings::load(inputs).map_err(|error| error.to_string())
    }

    /// This program with the same home.
    fn own_command(&self) -> Result<Command, String> {
        let own = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
        let mut command = Command::new(own);
        if let Some(home) = self.named_home {
            command.arg("--home").arg(home);
        }
        Ok(command)
    }
}

/// What the session was told; `None` if it has no name.
fn told_list(call: &Call<'_>) -> Option<ToldList> {
    let session = ClientSessionId::new(call.input.session_id.as_deref()?);
    ToldList::of(call.home.root(), &session)
}

fn runtime() -> Result<tokio::runtime::Runtime, String> {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| format!("no runtime: {error}"))
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
