//! `grov hook EVENT`: answers the client's hooks.
//!
//! The client waits for every hook, uses its output, and treats exit code 2 as a refusal. So a hook prints its reply or
//! nothing, exits with 0, and omits data that is not available in time. The one exception is a guard that is configured to
//! fail closed. Hooks are not parsed by clap, because even bad usage must exit with 0.

mod processor;
mod programs;

use crate::assembly::hook_services;
use grov_drift::{Hook, HookResponse, MAX_INPUT_BYTES, Work, handle, handle_without_home, log_error};
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
/// Flags that take a value as their next word.
const WITH_VALUE: [&str; 4] = [HOME, "--project", "--color", DAEMON_PORT_FLAG];
/// The commands that are hooks.
const COMMANDS: [&str; 5] = ["hook", "inject", "prompt-inject", "capture", "hook-worker"];
/// Maximum size in bytes of a worker's input.
const MAX_WORK: u64 = 1024 * 1024;

/// A command line that runs a hook or its worker.
pub(crate) struct HookCommand {
    action: Action,
    home: Option<PathBuf>,
    daemon_port: Option<u16>,
}

#[derive(Debug, PartialEq, Eq)]
enum Action {
    /// Reply to an event; `None` if the command line does not name it.
    Event(Option<String>),
    /// Do the work that a hook passed on, so that the client need not wait for it.
    Work,
}

impl HookCommand {
    /// Parses the command line; `None` if its first word that is not a flag does not name a hook. Unknown flags and further
    /// words are ignored.
    pub(crate) fn parse(arguments: &[OsString]) -> Option<Self> {
        let mut words = Words::default();
        for word in arguments.iter().skip(1) {
            words.take(word);
            if words.positional.len() == 1 && !words.is_hook() {
                return None;
            }
        }
        let (command, event) = (words.positional.first()?, words.positional.get(1));
        let event = match command.as_str() {
            "hook" => event.map(String::as_str),
            "inject" => Some(event::SESSION_START),
            "prompt-inject" => Some(event::USER_PROMPT_SUBMIT),
            "capture" => Some(event::STOP),
            "hook-worker" => return Some(words.into_command(Action::Work)),
            _ => return None,
        };
        let action = Action::Event(event.map(str::to_owned));
        Some(words.into_command(action))
    }
}

/// The words of a command line that matter to a hook.
#[derive(Default)]
struct Words {
    /// Words that are neither a flag nor its value.
    positional: Vec<String>,
    home: Option<PathBuf>,
    daemon_port: Option<u16>,
    /// The flag whose value comes next.
    pending: Option<&'static str>,
}

impl Words {
    fn take(&mut self, word: &OsString) {
        match (self.pending.take(), word.to_str()) {
            (Some(HOME), _) => self.home = Some(PathBuf::from(word)),
            (Some(DAEMON_PORT_FLAG), Some(port)) => self.daemon_port = port.parse().ok(),
            (Some(_), _) => {}
            (None, Some(flag)) if flag.starts_with('-') => {
                if let Some(home) = flag.strip_prefix("--home=") {
                    self.home = Some(PathBuf::from(home));
                }
                self.pending = WITH_VALUE.into_iter().find(|with_value| *with_value == flag);
            }
            (None, word) => self.positional.push(word.unwrap_or_default().to_owned()),
        }
    }

    fn is_hook(&self) -> bool {
        let command = self.positional.first().map(String::as_str).unwrap_or_default();
        COMMANDS.contains(&command)
    }

    fn into_command(self, action: Action) -> HookCommand {
        HookCommand {
            action,
            home: self.home,
            daemon_port: self.daemon_port,
        }
    }
}

/// Replies to a hook, or does its work.
pub(crate) fn run(command: &HookCommand) -> ExitCode {
    let waiting_since = Instant::now();
    let processor = matches!(command.action, Action::Event(_)).then(Processor::keep);
    let environment = Environment::of_process();
    let home = Home::locate(command.home.as_deref(), &environment).ok();
    let log = home.clone();
    std::panic::set_hook(Box::new(move |panic| {
        // Without its message, which may contain the user's text.
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        log_error(log.as_ref(), format_args!("panic at {place}"));
    }));
    let reply = match (&command.action, &home) {
        (Action::Event(event), Some(home)) => handle(&Hook {
            event: event.as_deref(),
            input: &read_input(),
            home,
            environment: &environment,
            daemon_port: command.daemon_port,
            services: &hook_services(home.database()),
            programs: &Own {
                named_home: command.home.as_deref(),
                home,
                environment: &environment,
                processor: processor.flatten(),
            },
            waiting_since,
        }),
        (Action::Event(event), None) => handle_without_home(event.as_deref(), &environment),
        (Action::Work, Some(home)) => {
            let worked = std::panic::catch_unwind(AssertUnwindSafe(|| work(home, &environment)));
            if let Ok(Err(fault)) = worked {
                log_error(Some(home), fault);
            }
            HookResponse::Empty
        }
        (Action::Work, None) => HookResponse::Empty,
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

/// Does the work that a hook passes on standard input.
fn work(home: &Home, environment: &Environment) -> Result<(), String> {
    let mut text = Vec::new();
    io::stdin()
        .take(MAX_WORK)
        .read_to_end(&mut text)
        .map_err(|error| format!("cannot read the work: {error}"))?;
    let work: Work =
        serde_json::from_slice(&text).map_err(|error| format!("cannot parse the work: {error}"))?;
    let services = hook_services(home.database());
    work.run(home, environment, &services)
        .map_err(|fault| fault.to_string())
}

fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    // A failed write cannot be reported: the client reads only this output.
    let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
}

/// The exit code that the client treats as a refusal. It passes standard error to the agent.
const REFUSED: u8 = 2;

/// The client's input; empty if it is too long or standard input is a terminal.
fn read_input() -> Vec<u8> {
    let mut stdin = io::stdin();
    let mut bytes = Vec::new();
    if !stdin.is_terminal() {
        let read = stdin.by_ref().take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes);
        if read.is_err() || bytes.len() as u64 > MAX_INPUT_BYTES {
            bytes.clear();
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Option<(Option<String>, Option<PathBuf>)> {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        HookCommand::parse(&arguments).map(|command| match command.action {
            Action::Event(event) => (event, command.home),
            Action::Work => (Some("work".to_owned()), command.home),
        })
    }

    #[test]
    fn hooks_are_recognized_among_unknown_words_and_flags() {
        let event = |name: &str| Some(name.to_owned());
        assert_eq!(parsed("grov hook Stop"), Some((event("Stop"), None)));
        assert_eq!(parsed("grov hook"), Some((None, None)));
        assert_eq!(parsed("grov hook --loud Stop more"), Some((event("Stop"), None)));
        assert_eq!(
            parsed("grov --home /h --bogus hook Stop"),
            Some((event("Stop"), Some("/h".into())))
        );
        assert_eq!(
            parsed("grov --home=/h inject"),
            Some((event("SessionStart"), Some("/h".into())))
        );
        for line in [
            "grov hook Stop --home /h",
            "grov hook --home /h Stop",
            "grov hook Stop more --home=/h",
            "grov hook --project p Stop --home /h",
            "grov capture --home /h",
        ] {
            assert_eq!(parsed(line), Some((event("Stop"), Some("/h".into()))), "{line}");
        }
        assert_eq!(
            parsed("grov --home /h hook Stop --home"),
            Some((event("Stop"), Some("/h".into())))
        );
        assert_eq!(
            parsed("grov prompt-inject"),
            Some((event("UserPromptSubmit"), None))
        );
        assert_eq!(parsed("grov capture"), Some((event("Stop"), None)));
        assert_eq!(
            parsed("grov --home /h hook-worker s"),
            Some((event("work"), Some("/h".into())))
        );
        for line in [
            "grov hook SessionStart --daemon-port 8080",
            "grov hook --daemon-port 8080 SessionStart",
            "grov --home /h hook SessionStart --daemon-port 8080 more",
        ] {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let command = HookCommand::parse(&arguments).unwrap();
            assert_eq!(command.daemon_port, Some(8080), "{line}");
            assert_eq!(command.action, Action::Event(event("SessionStart")), "{line}");
        }
        for other in [
            "grov",
            "grov status",
            "grov --project hook",
            "grov --project hook status",
            "grov memory hook",
        ] {
            assert_eq!(parsed(other), None, "{other}");
        }
    }
}
