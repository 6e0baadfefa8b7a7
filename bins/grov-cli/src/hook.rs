//! `grov hook EVENT`: answers the client's hooks.
//!
//! The client waits for every hook, passes on what it prints, and takes an exit code of 2 as a refusal. So this prints
//! nothing but an answer, always succeeds, and waits for nobody: what cannot be had at once is left out. The one exception is
//! a guard that was set to fail closed. It does not go through the command line's definition, which has opinions about bad
//! usage.

mod processor;
mod programs;

use crate::assembly::hook_services;
use grov_drift::{Hook, HookResponse, LONGEST_INPUT, Work, handle, handle_without_home, log_error};
use grov_hooks::event;
use grov_hooks::settings::DAEMON_PORT_FLAG;
use grov_runtime::{Environment, Home};
use processor::Processor;
use programs::Own;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

const HOME: &str = "--home";
/// Flags that stand before a value.
const WITH_VALUE: [&str; 4] = [HOME, "--project", "--color", DAEMON_PORT_FLAG];
/// The commands that are hooks.
const COMMANDS: [&str; 5] = ["hook", "inject", "prompt-inject", "capture", "hook-worker"];
/// What is handed over to a worker fits into this.
const LONGEST_WORK: u64 = 1024 * 1024;

/// What the command line asks for, if it is about a hook.
pub(crate) struct Asked {
    what: What,
    home: Option<PathBuf>,
    daemon_port: Option<u16>,
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
        let mut words = Words::default();
        for word in arguments.iter().skip(1) {
            words.take(word);
            // A command that is none of ours is looked at no further.
            if words.said.len() == 1 && !words.is_hook() {
                return None;
            }
        }
        let (command, told) = (words.said.first()?, words.said.get(1));
        let event = match command.as_str() {
            "hook" => told.map(String::as_str),
            "inject" => Some(event::SESSION_START),
            "prompt-inject" => Some(event::USER_PROMPT_SUBMIT),
            "capture" => Some(event::STOP),
            "hook-worker" => return Some(words.asking(What::Work)),
            _ => return None,
        };
        let what = What::Event(event.map(str::to_owned));
        Some(words.asking(what))
    }
}

/// The words of a command line, as far as they matter to a hook.
#[derive(Default)]
struct Words {
    /// What is no flag.
    said: Vec<String>,
    home: Option<PathBuf>,
    daemon_port: Option<u16>,
    /// The flag whose value comes next.
    awaited: Option<&'static str>,
}

impl Words {
    fn take(&mut self, word: &OsString) {
        match (self.awaited.take(), word.to_str()) {
            (Some(HOME), _) => self.home = Some(PathBuf::from(word)),
            (Some(DAEMON_PORT_FLAG), Some(port)) => self.daemon_port = port.parse().ok(),
            (Some(_), _) => {}
            (None, Some(flag)) if flag.starts_with('-') => {
                if let Some(home) = flag.strip_prefix("--home=") {
                    self.home = Some(PathBuf::from(home));
                }
                self.awaited = WITH_VALUE.into_iter().find(|with_value| *with_value == flag);
            }
            (None, word) => self.said.push(word.unwrap_or_default().to_owned()),
        }
    }

    fn is_hook(&self) -> bool {
        let command = self.said.first().map(String::as_str).unwrap_or_default();
        COMMANDS.contains(&command)
    }

    fn asking(self, what: What) -> Asked {
        Asked {
            what,
            home: self.home,
            daemon_port: self.daemon_port,
        }
    }
}

/// Answers a hook.
pub(crate) fn run(asked: &Asked) -> ExitCode {
    let since = Instant::now();
    let processor = matches!(asked.what, What::Event(_)).then(Processor::keep);
    let environment = Environment::of_process();
    let home = Home::locate(asked.home.as_deref(), &environment).ok();
    let log = home.clone();
    std::panic::set_hook(Box::new(move |panic| {
        // By its place only: what a panic says may hold what a user wrote.
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        log_error(log.as_ref(), format_args!("panic at {place}"));
    }));
    let reply = match (&asked.what, &home) {
        (What::Event(event), Some(home)) => handle(&Hook {
            event: event.as_deref(),
            input: &read_input(),
            home,
            environment: &environment,
            daemon_port: asked.daemon_port,
            services: &hook_services(home.database()),
            programs: &Own {
                named_home: asked.home.as_deref(),
                home,
                environment: &environment,
                processor: processor.flatten(),
            },
            since,
        }),
        (What::Event(event), None) => handle_without_home(event.as_deref(), &environment),
        (What::Work, Some(home)) => {
            let worked = std::panic::catch_unwind(AssertUnwindSafe(|| work(home, &environment)));
            if let Ok(Err(fault)) = worked {
                log_error(Some(home), fault);
            }
            HookResponse::Empty
        }
        (What::Work, None) => HookResponse::Empty,
    };
    match reply {
        HookResponse::Json(text) => print(&text),
        HookResponse::Decision(text, noting) => {
            print(&text);
            if let Err(fault) = noting.finish() {
                log_error(home.as_ref(), fault);
            }
        }
        HookResponse::Block(reason) => {
            let _ = writeln!(io::stderr(), "{reason}");
            return ExitCode::from(REFUSED);
        }
        HookResponse::Empty => {}
    }
    ExitCode::SUCCESS
}

/// Does what is handed over on standard input.
fn work(home: &Home, environment: &Environment) -> Result<(), String> {
    let mut text = Vec::new();
    io::stdin()
        .take(LONGEST_WORK)
        .read_to_end(&mut text)
        .map_err(|error| format!("nothing was handed over: {error}"))?;
    let work: Work =
        serde_json::from_slice(&text).map_err(|error| format!("what was handed over: {error}"))?;
    let services = hook_services(home.database());
    work.run(home, environment, &services)
        .map_err(|fault| fault.to_string())
}

fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    // Nobody can be told that telling failed.
    let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
}

/// The exit code that the client takes for a refusal; it tells the agent what stands on standard error.
const REFUSED: u8 = 2;

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
        for line in [
            "grov hook SessionStart --daemon-port 8080",
            "grov hook --daemon-port 8080 SessionStart",
            "grov --home /h hook SessionStart --daemon-port 8080 more",
        ] {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let asked = Asked::of(&arguments).unwrap();
            assert_eq!(asked.daemon_port, Some(8080), "{line}");
            assert_eq!(asked.what, What::Event(event("SessionStart")), "{line}");
        }
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
