//! `grov proxy`: runs `grov-proxyd`, in the foreground or in the background, stops and restarts it, shows its log.

mod logs;
pub(crate) mod relocate;
mod restart;
mod status;
mod stop;

pub(crate) use stop::stop;

use crate::arguments::{Common, DaemonFlags, ProxyArguments, ProxyCommand};
use crate::context::Context;
use crate::daemon_start::{self, DaemonStart, PROGRAM, failed, find_program};
use crate::output::{Outcome, Style, Terminal, note};
use grov_runtime::{Environment, Home};
use serde::Serialize;
use std::os::unix::process::CommandExt;
use std::process::Command;

#[derive(Serialize)]
struct Answer {
    url: Option<String>,
    pid: Option<u32>,
    version: Option<String>,
    /// False if it was already running.
    started: bool,
    /// Whether this process replaced another one, which passed on its port.
    handed_over: bool,
}

pub(crate) fn run(common: &Common, arguments: &ProxyArguments, terminal: Terminal) -> Outcome {
    let context = || Context::load(common, terminal);
    match &arguments.command {
        None if arguments.detach => start(common, &arguments.flags, arguments.for_hook, terminal),
        None => foreground(common, arguments),
        Some(ProxyCommand::Start(flags)) => start(common, flags, false, terminal),
        Some(ProxyCommand::Stop) => stop::run(common, terminal),
        Some(ProxyCommand::Restart) => restart::run(common, terminal),
        Some(ProxyCommand::Move) => relocate::run(&context()?),
        Some(ProxyCommand::Status) => status::run(&context()?),
        Some(ProxyCommand::Logs(arguments)) => logs::run(&context()?, arguments),
    }
}

/// Replaces this process by the daemon.
fn foreground(common: &Common, arguments: &ProxyArguments) -> Outcome {
    let environment = Environment::of_process();
    let home = Home::locate(common.home.as_deref(), &environment)?;
    if arguments.own_session {
        // Fails only for a process group leader, which does not need it.
        let _ = rustix::process::setsid();
    }
    let settings = daemon_start::load(&home, &arguments.flags, &environment)?;
    let program = find_program(&environment)?;
    settings.ensure_startable(&environment)?;
    let error = Command::new(&program).args(arguments.flags.words(&home)).exec();
    Err(failed(&format!("cannot start {}", program.display()), &error))
}

/// Starts the daemon in the background. One that runs an older version hands over to the installed one.
fn start(common: &Common, flags: &DaemonFlags, for_hook: bool, terminal: Terminal) -> Outcome {
    let environment = Environment::of_process();
    let home = Home::locate(common.home.as_deref(), &environment)?;
    let program = find_program(&environment)?;
    let start = DaemonStart::new(&home, flags, &environment)?.for_hook(for_hook);
    for warning in start.settings.warnings() {
        note!("warning: {warning}");
    }
    let (proxy, started) = start.run()?;
    let answer = match (!started).then(|| restart::upgraded(&home, &proxy, &program)) {
        Some(Some(upgraded)) => upgraded,
        _ => Answer {
            url: proxy.url,
            pid: proxy.pid,
            version: proxy.version,
            started,
            handed_over: false,
        },
    };
    terminal.answer(answer, text)
}

fn text(answer: &Answer, _style: Style) -> String {
    let url = answer.url.as_deref().unwrap_or("an unknown address");
    let pid = answer.pid.map_or("unknown".to_owned(), |pid| pid.to_string());
    let verb = match (answer.started, answer.handed_over) {
        (_, true) => "took over and listens",
        (true, false) => "listens",
        (false, false) => "was already listening",
    };
    format!("{PROGRAM} {verb} at {url} (pid {pid})\n")
}
