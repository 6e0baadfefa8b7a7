//! `grov run`: runs a command through the proxy. Only the command's environment is changed.

mod choice;
mod own_daemon;
mod program;
mod signals;
mod variables;

use crate::arguments::{Common, RunArguments};
use crate::context::Context;
use crate::failure::{EXIT_ERROR, Failure};
use crate::output::{ExitStatus, Outcome, Style, Terminal, note};
use choice::{Choice, Proxy};
use grov_hooks::settings::shell_word;
use grov_runtime::{Environment, RunEnvironment};
use program::Program;
use serde::Serialize;
use signals::Signals;
use std::collections::BTreeMap;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;

const BASE_URL: &str = "ANTHROPIC_BASE_URL";

/// What `--proxy-only` prints.
#[derive(Serialize)]
struct Answer {
    url: String,
    pid: Option<u32>,
    /// Whether the proxy ends with this command.
    own: bool,
    /// The variables that send a client's requests to the proxy.
    environment: BTreeMap<String, String>,
}

/// The changes of the command's environment.
struct Variables {
    set: Vec<(String, String)>,
    /// What they replace. `None` without a command. Deleted when this is dropped.
    record: Option<RunEnvironment>,
    /// Whether to remove the base URL, which is a proxy of this home.
    without_base_url: bool,
}

pub(crate) fn run(common: &Common, arguments: &RunArguments, terminal: Terminal) -> Outcome {
    let context = Context::load(common, terminal)?;
    // A run inside another one replaces its variables.
    let environment = Environment::of_process().outside_of_run();
    if arguments.certs_dir.is_some() {
        note!("--certs-dir is ignored: Grov's certificates are in its home");
    }
    // Before anything is started.
    let program = match arguments.proxy_only {
        true => None,
        false => Some(Program::find(&arguments.command, &environment)?),
    };
    let signals = Signals::catch()?;
    let choice = Choice {
        context: &context,
        arguments,
        environment: &environment,
    };
    let proxy = choice.proxy()?;
    if arguments.verbose {
        note!("{}", proxy.described());
    }
    let mut variables = variables(&choice, &proxy)?;
    if program.is_some() {
        variables.record = Some(record(&context, &environment, &variables.set)?);
    }
    if common.home.is_some() {
        // Hooks do not get this command's --home.
        let home = context.home.root().to_string_lossy().into_owned();
        variables.set.push(("GROV_HOME".to_owned(), home));
    }
    let code = match &program {
        Some(program) => {
            if program.is_client() {
                variables::warn_of_overrides(&context, &variables.set);
            }
            command(program, &environment, &variables, &proxy, &signals)?
        }
        None => {
            let answer = Answer {
                url: proxy.url()?,
                pid: proxy.pid(),
                own: matches!(proxy, Proxy::Own(_)),
                environment: variables.set.into_iter().collect(),
            };
            terminal.answer(answer, text)?;
            signals.wait();
            0
        }
    };
    if let Proxy::Own(daemon) = proxy {
        daemon.end(&signals);
    }
    Ok(ExitStatus::Of(code))
}

/// Records what the command's variables replace, for what outlives the run.
fn record(
    context: &Context,
    environment: &Environment,
    set: &[(String, String)],
) -> Result<RunEnvironment, Failure> {
    RunEnvironment::record(&context.home, environment, set).map_err(|error| {
        let home = context.home.root().display();
        let failure = Failure::error("home", format!("cannot write to {home}: {error}"));
        failure.hint("check the free disk space and the permissions of the directory")
    })
}

/// The variables that send the command's requests to the proxy.
fn variables(choice: &Choice<'_>, proxy: &Proxy) -> Result<Variables, Failure> {
    if choice.arguments.base_url {
        return Ok(Variables {
            set: variables::for_base_url(choice.environment, &proxy.url()?),
            record: None,
            without_base_url: false,
        });
    }
    let url = proxy.mitm_url(&choice.context.home);
    let url = url.ok_or_else(|| {
        let failure = Failure::error("proxy", "the proxy does not accept HTTPS_PROXY connections");
        failure.hint("use --base-url, or stop it: grov proxy stop")
    })?;
    let without_base_url = choice.has_own_base_url();
    if !without_base_url && choice.environment.get(BASE_URL).is_some() {
        note!(
            "warning: {BASE_URL} is set, and requests to it are not recorded unless mitm.hosts names its host; with --base-url they are"
        );
    }
    let bundle = variables::certificates(choice.context, choice.environment)?;
    Ok(Variables {
        set: variables::for_connect_proxy(choice.environment, &url, &bundle),
        record: None,
        without_base_url,
    })
}

/// Runs the command to its end. Returns its exit code, which is 128 and the signal if one ended it.
fn command(
    program: &Program,
    environment: &Environment,
    variables: &Variables,
    proxy: &Proxy,
    signals: &Signals,
) -> Result<u8, Failure> {
    if let Some(signal) = signals.early() {
        return Ok(exit_code(128 + signal));
    }
    let mut command = Command::new(program.path());
    command.arg0(program.name()).args(program.arguments());
    // Of a run around this one, for example its proxy.
    for (name, _) in Environment::of_process().iter() {
        if environment.get(name).is_none() {
            command.env_remove(name);
        }
    }
    command.envs(environment.iter());
    if variables.without_base_url {
        command.env_remove(BASE_URL);
    }
    command.envs(variables.set.iter().cloned());
    command.envs(variables.record.iter().map(RunEnvironment::variable));
    let mut child = command.spawn().map_err(|error| program.not_started(&error))?;
    if let Proxy::Own(daemon) = proxy {
        daemon.serves(child.id());
    }
    signals.forward_to(child.id());
    let status = child.wait();
    signals.forward_to_nobody();
    let status =
        status.map_err(|error| Failure::error("command", format!("cannot wait for the command: {error}")))?;
    let signal = status.signal().map(|signal| 128 + signal);
    Ok(exit_code(
        status.code().or(signal).unwrap_or_else(|| EXIT_ERROR.into()),
    ))
}

fn exit_code(code: i32) -> u8 {
    u8::try_from(code).unwrap_or(EXIT_ERROR)
}

fn text(answer: &Answer, _style: Style) -> String {
    let lines = answer.environment.iter();
    lines
        .map(|(name, value)| format!("export {name}={}\n", shell_word(value)))
        .collect()
}
