//! `grov hook EVENT`: answers the client's hooks.
//!
//! The client waits for every hook, passes on what it prints, and takes an exit code of 2 as a refusal. So this prints
//! nothing but an answer, always succeeds, and waits for nobody: what cannot be had at once is left out. The one exception is
//! a guard that was set to fail closed. It does not go through the command line's definition, which has opinions about bad
//! usage.

mod following;
mod guard;
mod prompt;
mod proxied;
mod proxy;
mod session;
mod turn;
mod worker;

use following::Whose;
use grov_domain::ClientSessionId;
use grov_hooks::ToldList;
use grov_hooks::event::{self, Input, LONGEST_INPUT};
use grov_redact::Redactor;
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
    what: What,
    home: Option<PathBuf>,
}

#[derive(Debug, PartialEq, Eq)]
enum What {
    /// An answer to an event, where its name is told.
    Event(Option<String>),
    /// What a hook hands over, because nobody waits for it.
    Work,
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
        let mut told = None;
        while let Some(word) = words.next() {
            match word.to_str() {
                Some("--home") => home = words.next().map(PathBuf::from).or(home),
                Some("--project" | "--color") => {
                    words.next();
                }
                Some(flag) if flag.starts_with('-') => {
                    home = flag.strip_prefix("--home=").map(PathBuf::from).or(home);
                }
                other => told = told.or(other),
            }
        }
        let event = match command {
            "hook" => told,
            "inject" => Some(event::SESSION_START),
            "prompt-inject" => Some(event::USER_PROMPT_SUBMIT),
            "capture" => Some(event::STOP),
            "hook-worker" => {
                let what = What::Work;
                return Some(Self { what, home });
            }
            _ => return None,
        };
        let what = What::Event(event.map(str::to_owned));
        Some(Self { what, home })
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
    let reply = unbroken(asked, home.as_ref(), &environment, |home| match &asked.what {
        What::Event(event) => answer(event.as_deref(), asked.home.as_deref(), home, &environment),
        What::Work => worker::run(asked.home.as_deref(), home).map(|()| Reply::Silence),
    });
    match reply {
        Reply::Text(text) => print(&text),
        Reply::Verdict(text, noting) => {
            print(&text);
            if let Err(fault) = noting.finish() {
                note(home.as_ref(), &fault);
            }
        }
        Reply::Refusal(reason) => {
            let _ = writeln!(io::stderr(), "{reason}");
            return ExitCode::from(REFUSED);
        }
        Reply::Silence => {}
    }
    ExitCode::SUCCESS
}

/// What is said, also where finding that out breaks off or there is no home to look in.
fn unbroken(
    asked: &Asked,
    home: Option<&Home>,
    environment: &Environment,
    answer: impl FnOnce(&Home) -> Result<Reply, String>,
) -> Reply {
    let answered = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let home = home?;
        Some(answer(home).unwrap_or_else(|fault| {
            note(Some(home), &fault);
            Reply::Silence
        }))
    }));
    let is_guard = matches!(&asked.what, What::Event(Some(event)) if event == event::PRE_TOOL_USE);
    match answered {
        Ok(Some(reply)) => reply,
        _ if is_guard => guard::broke_off(home, environment),
        _ => Reply::Silence,
    }
}

fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    // Nobody can be told that telling failed.
    let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
}

/// The exit code that the client takes for a refusal; it tells the agent what stands on standard error.
const REFUSED: u8 = 2;

/// What a hook says.
#[derive(Debug)]
enum Reply {
    /// Nothing.
    Silence,
    /// What is printed.
    Text(String),
    /// What is printed about a tool call, and what notes it meanwhile.
    Verdict(String, guard::Noting),
    /// A tool call must not run, because nobody could look at it: why.
    Refusal(String),
}

impl From<Option<String>> for Reply {
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::Silence, Self::Text)
    }
}

/// What is said to an event.
fn answer(
    event: Option<&str>,
    named_home: Option<&Path>,
    home: &Home,
    environment: &Environment,
) -> Result<Reply, String> {
    let bytes = read_input();
    let input = Input::read(&bytes);
    if input == Input::default() && !bytes.trim_ascii().is_empty() {
        note(Some(home), "what the client sent could not be read");
    }
    let call = Call {
        input: &input,
        named_home,
        home,
        environment,
    };
    let said = match input.event(event) {
        Some(event::PRE_TOOL_USE) => return Ok(guard::before(&call)),
        Some(event::POST_TOOL_USE | event::POST_TOOL_USE_FAILURE) => guard::after(&call),
        Some(event::SESSION_START) => session::starts(&call),
        Some(event::USER_PROMPT_SUBMIT) => prompt::arrives(&call),
        Some(
            event @ (event::STOP
            | event::STOP_FAILURE
            | event::SUBAGENT_STOP
            | event::SESSION_END
            | event::PRE_COMPACT),
        ) => turn::is_over(&call, event),
        _ => Ok(None),
    };
    said.map(Reply::from)
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
    /// Which session it is, and where; `None` if it has no name or no place in the file system.
    fn whose(&self) -> Option<Whose> {
        let session = self
            .input
            .session_id
            .clone()
            .filter(|session| !session.is_empty())?;
        let directory = PathBuf::from(self.input.cwd.as_deref()?);
        let transcript = self
            .input
            .transcript_path
            .as_deref()
            .filter(|path| !path.is_empty());
        directory.is_dir().then(|| Whose {
            session,
            directory,
            transcript: transcript.map(PathBuf::from),
        })
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
        let _ = file.write_all(format!("{at} {}\n", tellable(fault)).as_bytes());
    }
}

/// A fault as it may be written down and told: without secrets, on one line.
fn tellable(fault: &str) -> String {
    let fault = Redactor::shared().redact(fault);
    let parts: Vec<&str> = fault
        .split(char::is_control)
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Option<(Option<String>, Option<PathBuf>)> {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        Asked::of(&arguments).map(|asked| match asked.what {
            What::Event(event) => (event, asked.home),
            What::Work => (Some("work".to_owned()), asked.home),
        })
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
        for line in [
            "grov hook Stop --home /h",
            "grov hook --home /h Stop",
            "grov hook Stop more --home=/h",
            "grov hook --project p Stop --home /h",
            "grov capture --home /h",
        ] {
            assert_eq!(asked(line), Some((event("Stop"), Some("/h".into()))), "{line}");
        }
        assert_eq!(
            asked("grov --home /h hook Stop --home"),
            Some((event("Stop"), Some("/h".into())))
        );
        assert_eq!(
            asked("grov prompt-inject"),
            Some((event("UserPromptSubmit"), None))
        );
        assert_eq!(asked("grov capture"), Some((event("Stop"), None)));
        assert_eq!(
            asked("grov --home /h hook-worker s"),
            Some((event("work"), Some("/h".into())))
        );
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

    #[test]
    fn a_guard_that_fails_closed_refuses_also_where_something_breaks_off() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.toml"), "[guard]\nfail = \"closed\"\n").unwrap();
        let environment = Environment::of_process().filtered(|name, _| !name.starts_with("GROV_"));
        let home = Home::locate(Some(folder.path()), &environment).unwrap();
        let said = |line: &str| {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let asked = Asked::of(&arguments).unwrap();
            unbroken(&asked, Some(&home), &environment, |_| panic!("a fault of ours"))
        };
        assert!(matches!(said("grov hook PreToolUse"), Reply::Refusal(_)));
        for line in ["grov hook Stop", "grov hook PostToolUse", "grov hook-worker s"] {
            assert!(matches!(said(line), Reply::Silence), "{line}");
        }
        std::fs::write(folder.path().join("config.toml"), "").unwrap();
        assert!(matches!(said("grov hook PreToolUse"), Reply::Silence));
    }

    #[test]
    fn a_fault_is_told_on_one_line_and_without_secrets() {
        let secret = format!("sk-ant-api03-{}", "aB3dE6gH9k".repeat(9));
        let told = tellable(&format!("proxy.port is the text \"{secret}\"\r\n  |\n3 | x\n"));
        assert!(
            !told.contains(&secret) && !told.contains(char::is_control),
            "{told}"
        );
        assert!(told.starts_with("proxy.port is the text"), "{told}");
    }
}
