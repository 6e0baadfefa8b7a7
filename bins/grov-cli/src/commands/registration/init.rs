//! `grov init`

use super::gateway::{self, shown};
use super::{FileAnswer, clients_folder, made};
use crate::arguments::{Common, InitArguments, InitScope};
use crate::context::Context;
use crate::daemon_health;
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::table::harmless;
use grov_hooks::event::registered;
use grov_hooks::settings::{
    Hook, Plan, Registry, Route, Scope, SettingsError, SettingsFile, StatusLine, Wanted, inspect, route,
    settings_path, shell_word,
};
use grov_runtime::Environment;
use serde::Serialize;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

const PROGRAM: &str = "grov";

#[derive(Serialize)]
struct Answer {
    dry_run: bool,
    files: Vec<FileAnswer>,
    /// Where the client will send its requests; null without `--proxy`.
    proxy: Option<String>,
    /// Where it sent them before, and where the proxy sends them from now on.
    gateway: Option<String>,
}

/// A file and what it is to hold.
struct Target {
    path: PathBuf,
    hooks: Vec<Hook>,
    /// What the client's environment is made for: the project's directory, where the file belongs to one.
    environment: Option<Option<String>>,
}

pub(crate) fn run(common: &Common, arguments: &InitArguments, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    let environment = Environment::of_process();
    let project = context
        .top()
        .ok_or_else(|| Failure::usage("--project must name a directory that exists"))?;
    let proxy = match arguments.proxy {
        true => Some(listener(&context)?),
        false => None,
    };
    let targets = targets(arguments, &clients_folder(&environment)?, &project, &environment);
    let home = context.home.root();
    let mut registry = match arguments.dry_run {
        true => Registry::look(home)?,
        false => Registry::open(made(&context.home)?.root())?,
    };

    let mut plans = Vec::new();
    let mut upstream = None;
    for target in targets {
        let file = SettingsFile::read(&target.path)?;
        let mut wanted = Wanted {
            hooks: target.hooks,
            ..Wanted::default()
        };
        if let Some(project) = &target.environment {
            if arguments.statusline {
                wanted.status_line = status_line(&file, &environment)?;
            }
            if let Some(url) = &proxy {
                let to = Route {
                    url,
                    project: project.as_deref(),
                };
                let of_process = |name: &str| environment.get(name)?.to_str().map(str::to_owned);
                let changes = registry.changes(&file);
                let routed = route(file.text(), of_process, changes, to).map_err(|error| {
                    SettingsError::Malformed {
                        path: file.path().to_owned(),
                        error,
                    }
                })?;
                routed.notes.iter().for_each(|note| say(note));
                wanted.environment = routed.environment;
                if let Some(gateway) = routed.gateway {
                    upstream = Some((gateway::to_note(&gateway, &context.settings)?, gateway));
                }
            }
            if let Some(home) = common.home.as_ref().and(home.to_str()) {
                // A home that only this command was told of has to be told to the hooks.
                wanted.environment.push(("GROV_HOME".to_owned(), home.to_owned()));
            }
        }
        plans.push(registry.registration(file, &wanted)?);
    }

    let gateway = upstream.as_ref().map(|(_, gateway)| shown(gateway));
    if !arguments.dry_run
        && let Some((Some(upstream), _)) = &upstream
    {
        // Before the client is sent to the proxy, the proxy must know where to send it on.
        gateway::note(&context.home, upstream)?;
        say("a running grov-proxyd must be started anew to forward to the gateway");
    }
    let files = carried_out(&mut registry, &plans, arguments.dry_run)?;
    let anything = files.iter().any(|file| file.changed);
    let answer = Answer {
        dry_run: arguments.dry_run,
        files,
        proxy,
        gateway,
    };
    terminal.answer(answer, text)?;
    if anything && !arguments.dry_run {
        say("sessions that are running keep their old settings; `grov unregister` takes all of it back");
    }
    Ok(Verdict::Found)
}

fn carried_out(
    registry: &mut Registry,
    plans: &[Plan],
    dry_run: bool,
) -> Result<Vec<FileAnswer>, SettingsError> {
    let mut files = Vec::new();
    for plan in plans {
        let mut answer = FileAnswer::of(plan, dry_run);
        if !dry_run {
            let done = registry.carry_out(plan)?;
            answer.backup = done.backup.map(|path| path.to_string_lossy().into_owned());
        }
        files.push(answer);
    }
    Ok(files)
}

/// The command that prints the status line; `None` where there is another one, which is the user's.
fn status_line(file: &SettingsFile, environment: &Environment) -> Result<Option<String>, SettingsError> {
    let malformed = |error| SettingsError::Malformed {
        path: file.path().to_owned(),
        error,
    };
    let wanted = format!("{} statusline", program(environment));
    match inspect(file.text()).map_err(malformed)?.status_line {
        // What else is said there of its look stays.
        Some(line) if line.command == wanted => Ok(None),
        Some(StatusLine {
            command,
            is_grovs: false,
        }) => {
            say(&format!(
                "a status line is set up in {} and stays: {}; its program may pass what it is given on to `grov statusline`",
                file.path().display(),
                harmless(&command)
            ));
            Ok(None)
        }
        _ => Ok(Some(wanted)),
    }
}

/// Which files are to hold what. A file that everybody who works on a project shares says nothing that holds on this
/// machine alone.
fn targets(
    arguments: &InitArguments,
    clients_folder: &Path,
    project: &Path,
    environment: &Environment,
) -> Vec<Target> {
    let path = |scope| settings_path(scope, clients_folder, project);
    let hooks = |program: &str| -> Vec<Hook> {
        let events = registered();
        events
            .map(|event| Hook::command(program, event.name, event.timeout).matching(event.matcher))
            .collect()
    };
    let own = program(environment);
    let of_project = Some(project.to_str().map(str::to_owned));
    match arguments.scope {
        InitScope::User => vec![Target {
            path: path(Scope::User),
            hooks: hooks(&own),
            environment: Some(None),
        }],
        InitScope::Local => vec![Target {
            path: path(Scope::Local),
            hooks: hooks(&own),
            environment: of_project,
        }],
        InitScope::Project => vec![
            Target {
                path: path(Scope::Project),
                hooks: hooks(PROGRAM),
                environment: None,
            },
            Target {
                path: path(Scope::Local),
                hooks: Vec::new(),
                environment: of_project,
            },
        ],
    }
}

/// How a shell calls this program: by its name where that leads to it, else by its path.
fn program(environment: &Environment) -> String {
    let Ok(own) = std::env::current_exe() else {
        return PROGRAM.to_owned();
    };
    let real = own.canonicalize();
    let found = environment.get("PATH").and_then(|path| {
        let mut folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
        folders.find_map(|folder| folder.join(PROGRAM).canonicalize().ok())
    });
    match (found, real) {
        (Some(found), Ok(real)) if found == real => PROGRAM.to_owned(),
        _ => shell_word(&own.to_string_lossy()),
    }
}

/// Where the proxy listens, or will.
fn listener(context: &Context) -> Result<String, Failure> {
    let running = daemon_health::ask(&context.home);
    if let Some(url) = running.url.filter(|_| running.running) {
        return Ok(url);
    }
    let (host, port) = (context.settings.proxy().host, context.settings.proxy().port);
    if port == 0 {
        return Err(Failure::error(
            "proxy",
            "proxy.port is 0, so nobody knows where the proxy will listen",
            Some("set proxy.port, or start the proxy first: grov proxy --detach"),
        ));
    }
    say("grov-proxyd is not running: sessions start it, or start it now with `grov proxy --detach`");
    Ok(match host {
        IpAddr::V4(host) => format!("http://{host}:{port}"),
        IpAddr::V6(host) => format!("http://[{host}]:{port}"),
    })
}

fn text(answer: &Answer, style: Style) -> String {
    let files = answer.files.iter().map(|file| file.text(style));
    let mut text: String = files.collect();
    if let Some(proxy) = &answer.proxy {
        text.push_str(&format!("requests go to {proxy}"));
        if let Some(gateway) = &answer.gateway {
            text.push_str(&format!(", and from there to {gateway} as before"));
        }
        text.push('\n');
    }
    text
}
