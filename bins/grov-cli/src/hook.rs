//! `grov hook EVENT`: answers the client's hooks.
//!
//! The client waits for every hook, uses its output, and treats exit code 2 as a refusal. So a hook prints its reply or
//! nothing, exits with 0, and omits data that is not available in time. The one exception is a guard that is configured to
//! fail closed. Hooks are not parsed by clap, because even bad usage must exit with 0.

mod processor;
mod programs;

use crate::assembly::hook_services;
use crate::link_worker;
use grov_drift::{Hook, HookResponse, MAX_INPUT_BYTES, Work, handle, handle_without_home, log_error};
use grov_hooks::event;
use grov_hooks::settings::DAEMON_PORT_FLAG;
use grov_runtime::{Environment, Home, HookTime};
use processor::Processor;
use programs::Own;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

const HOME: &str = "--home";
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
        let (mut words, mut home, mut daemon_port) = (Vec::new(), None, None);
        let mut rest = arguments.iter().skip(1);
        while let Some(word) = rest.next() {
            match word.to_str() {
                Some(HOME) => home = rest.next().map(PathBuf::from).or(home),
                Some(DAEMON_PORT_FLAG) => {
                    let port = rest.next().and_then(|port| port.to_str());
                    daemon_port = port.and_then(|port| port.parse().ok());
                }
                // Their value is not a word of the command.
                Some("--project" | "--color") => drop(rest.next()),
                Some(flag) if flag.starts_with('-') => {
                    home = flag.strip_prefix("--home=").map(PathBuf::from).or(home);
                }
                word => words.push(word.unwrap_or_default()),
            }
        }
        let event = |name: Option<&str>| Action::Event(name.map(str::to_owned));
        let action = match *words.first()? {
            "hook" => event(words.get(1).copied()),
            "inject" => event(Some(event::SESSION_START)),
            "prompt-inject" => event(Some(event::USER_PROMPT_SUBMIT)),
            "capture" => event(Some(event::STOP)),
            "hook-worker" => Action::Work,
            _ => return None,
        };
        Some(Self {
            action,
            home,
            daemon_port,
        })
    }
}

/// Replies to a hook, or does its work.
pub(crate) fn run(command: &HookCommand) -> ExitCode {
    let waiting_since = Instant::now();
    let environment = Environment::of_process();
    let home = Home::locate(command.home.as_deref(), &environment).ok();
    let code = answer(command, &environment, home.as_ref(), waiting_since);
    if let (Action::Event(event), Some(home)) = (&command.action, &home) {
        let hook = HookTime {
            is_guard: event.as_deref() == Some(event::PRE_TOOL_USE),
            time: waiting_since.elapsed(),
        };
        hook.note(home);
    }
    code
}

fn answer(
    command: &HookCommand,
    environment: &Environment,
    home: Option<&Home>,
    waiting_since: Instant,
) -> ExitCode {
    let processor = matches!(command.action, Action::Event(_)).then(Processor::keep);
    let log = home.cloned();
    std::panic::set_hook(Box::new(move |panic| {
        // Without its message, which may contain the user's text.
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        log_error(log.as_ref(), format_args!("panic at {place}"));
    }));
    let reply = match (&command.action, home) {
        (Action::Event(event), Some(home)) => handle(&Hook {
            event: event.as_deref(),
            input: &read_input(MAX_INPUT_BYTES),
            home,
            environment,
            daemon_port: command.daemon_port,
            services: &hook_services(home.database()),
            programs: &Own {
                named_home: command.home.as_deref(),
                home,
                environment,
                processor: processor.flatten(),
            },
            waiting_since,
        }),
        (Action::Event(event), None) => handle_without_home(event.as_deref(), environment),
        (Action::Work, Some(home)) => {
            let worked = std::panic::catch_unwind(AssertUnwindSafe(|| work(home, environment)));
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
                log_error(home, fault);
            }
        }
        HookResponse::Block(reason) => {
            let _ = writeln!(io::stderr(), "{reason}");
            return ExitCode::from(REFUSED);
        }
        HookResponse::Empty => {}
    }
    if let (Action::Event(Some(name)), Some(home)) = (&command.action, home)
        && name == event::SESSION_START
    {
        start_link_worker(command, home, environment);
    }
    ExitCode::SUCCESS
}

/// Keeps links to agent services going while the session runs. Without a link, one directory is read.
fn start_link_worker(command: &HookCommand, home: &Home, environment: &Environment) {
    if !link_worker::has_link(home) {
        return;
    }
    let inputs = grov_runtime::Inputs {
        home,
        environment,
        directory: None,
        flags: &[],
    };
    if let Ok(settings) = grov_runtime::Settings::load(inputs) {
        link_worker::start_in(home, command.home.as_deref(), environment, &settings);
    }
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

/// Standard input; empty if it is longer than `max` bytes, cannot be read, or is a terminal.
pub(crate) fn read_input(max: u64) -> Vec<u8> {
    let mut stdin = io::stdin();
    let mut bytes = Vec::new();
    if !stdin.is_terminal() {
        let read = stdin.by_ref().take(max + 1).read_to_end(&mut bytes);
        if read.is_err() || bytes.len() as u64 > max {
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
