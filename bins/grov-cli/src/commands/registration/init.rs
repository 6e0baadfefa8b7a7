//! `grov init`

use super::gateway::{self, shown};
use super::over_http::{Daemon, tell_of_readers};
use super::{FileAnswer, clients_folder, made};
use crate::arguments::{Common, InitArguments, InitScope};
use crate::context::Context;
use crate::daemon_health;
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::table::harmless;
use grov_hooks::event::{Event, registered};
use grov_hooks::settings::{
    Hook, Plan, Registry, Route, Scope, SettingsError, SettingsFile, StatusLine, SyntaxError, Wanted,
    inspect, reachable, route, settings_path, shell_word,
};
use grov_runtime::Environment;
use serde::Serialize;
use std::net::IpAddr;
use std::path::PathBuf;

const PROGRAM: &str = "grov";

#[derive(Serialize)]
struct Answer {
    dry_run: bool,
    files: Vec<FileAnswer>,
    /// Where the client will send its requests; null without `--proxy`.
    proxy: Option<String>,
    /// Where it will send hooks; null without `--http`.
    hooks: Option<String>,
    /// Where it sent them before, and where the proxy sends them from now on.
    gateway: Option<String>,
}

/// A file and what it is to hold.
struct Target {
    path: PathBuf,
    hooks: Vec<Hook>,
    /// Hooks over HTTP that stand there are for programs again.
    turns_back: bool,
    /// What the client's environment is made for: the project's directory, where the file belongs to one.
    environment: Option<Option<String>>,
}

pub(crate) fn run(common: &Common, arguments: &InitArguments, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    let environment = Environment::of_process();
    let project = context
        .top()
        .ok_or_else(|| Failure::usage("--project must name a directory that exists"))?;
    let listener = match arguments.proxy || arguments.http {
        true => Some(listener(&context)?),
        false => None,
    };
    let proxy = listener.clone().filter(|_| arguments.proxy);
    let home = context.home.root();
    let mut registry = match arguments.dry_run {
        true => Registry::look(home)?,
        false => Registry::open(made(&context.home)?.root())?,
    };
    let daemon = match listener.filter(|_| arguments.http) {
        Some(url) => {
            let fails_closed = context.settings.guard().fails_closed;
            Some(Daemon::at(&url, &context.home, fails_closed, arguments.dry_run)?)
        }
        None => None,
    };
    let places = Places {
        folder: clients_folder(&environment)?,
        project,
        program: program(&environment),
    };
    let targets = places.targets(arguments.scope, daemon.as_ref())?;

    let mut plans = Vec::new();
    let mut upstream = None;
    for target in targets {
        let file = SettingsFile::read(&target.path)?;
        let mut wanted = Wanted {
            hooks: target.hooks,
            ..Wanted::default()
        };
        if target.turns_back {
            wanted.hooks = turned_back(&file)?;
        }
        if let Some(project) = &target.environment {
            if arguments.statusline {
                wanted.status_line = status_line(&file, &environment)?;
            }
            let of_process = |name: &str| environment.get(name)?.to_str().map(str::to_owned);
            if let Some(url) = &proxy {
                let to = Route {
                    url,
                    project: project.as_deref(),
                };
                let changes = registry.changes(&file);
                let routed = route(file.text(), of_process, changes, to);
                let routed = routed.map_err(|error| malformed(&file, error))?;
                routed.notes.iter().for_each(|note| say(note));
                wanted.environment = routed.environment;
                if let Some(gateway) = routed.gateway {
                    upstream = Some((gateway::to_note(&gateway, &context.settings)?, gateway));
                }
            } else if daemon.is_some() {
                let reachable = reachable(file.text(), of_process);
                wanted.environment = reachable.map_err(|error| malformed(&file, error))?;
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
    if daemon.is_some() && !arguments.dry_run {
        for plan in &plans {
            tell_of_readers(&SettingsFile::read(plan.path())?);
        }
    }
    let anything = files.iter().any(|file| file.changed);
    let answer = Answer {
        dry_run: arguments.dry_run,
        files,
        proxy,
        hooks: daemon.map(|daemon| daemon.url),
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
    let wanted = format!("{} statusline", program(environment));
    let inspected = inspect(file.text()).map_err(|error| malformed(file, error))?;
    match inspected.status_line {
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

/// Where settings are, and how this program is called.
struct Places {
    /// The client's directory for the user.
    folder: PathBuf,
    project: PathBuf,
    program: String,
}

impl Places {
    /// Which files are to hold what. A file that everybody who works on a project shares says nothing that holds on this
    /// machine alone: no path, no address, no token.
    fn targets(&self, scope: InitScope, daemon: Option<&Daemon>) -> Result<Vec<Target>, SettingsError> {
        let hooks = |program: &str| -> Vec<Hook> {
            let hook = |event: Event| match daemon {
                Some(daemon) => daemon.hook(program, event),
                None => Hook::command(program, event.name, event.timeout),
            };
            registered()
                .map(|event| hook(event).matching(event.matcher))
                .collect()
        };
        let own = Target {
            path: self.path(Scope::Local),
            hooks: hooks(&self.program),
            turns_back: false,
            environment: Some(self.project.to_str().map(str::to_owned)),
        };
        Ok(match scope {
            InitScope::User => vec![Target {
                path: self.path(Scope::User),
                environment: Some(None),
                ..own
            }],
            InitScope::Local => vec![own],
            InitScope::Project if daemon.is_some() => {
                self.tell_of_shared()?;
                vec![own]
            }
            InitScope::Project => {
                say(&format!(
                    "{} is shared, so it calls `{PROGRAM}` by name: whoever works on the project needs it in PATH",
                    self.path(Scope::Project).display()
                ));
                vec![
                    Target {
                        path: self.path(Scope::Project),
                        hooks: hooks(PROGRAM),
                        turns_back: false,
                        environment: None,
                    },
                    Target {
                        hooks: Vec::new(),
                        turns_back: true,
                        ..own
                    },
                ]
            }
        })
    }

    fn path(&self, scope: Scope) -> PathBuf {
        settings_path(scope, &self.folder, &self.project)
    }

    /// That hooks over HTTP are nobody else's, and those of everybody run beside them.
    fn tell_of_shared(&self) -> Result<(), SettingsError> {
        let shared = SettingsFile::read(&self.path(Scope::Project))?;
        let inspected = inspect(shared.text()).map_err(|error| malformed(&shared, error))?;
        let path = shared.path().display();
        say(&match inspected.hooks.is_empty() {
            true => format!("an address and a token hold on this machine alone: {path} stays as it is"),
            false => format!(
                "{path} registers Grov for everybody and stays as it is: here each event runs that hook too, and the one that comes first answers"
            ),
        });
        Ok(())
    }
}

/// Commands in place of the hooks over HTTP in a file that stands beside one that everybody shares: the same words as there,
/// which the client runs once.
fn turned_back(file: &SettingsFile) -> Result<Vec<Hook>, SettingsError> {
    let inspected = inspect(file.text()).map_err(|error| malformed(file, error))?;
    let is_of_daemon = |name: &str| {
        let mut hooks = inspected.hooks.iter();
        hooks.any(|hook| hook.event == name && hook.daemon_port.is_some())
    };
    let events = registered().filter(|event| is_of_daemon(event.name));
    let command = |event: Event| Hook::command(PROGRAM, event.name, event.timeout).matching(event.matcher);
    Ok(events.map(command).collect())
}

fn malformed(file: &SettingsFile, error: SyntaxError) -> SettingsError {
    SettingsError::Malformed {
        path: file.path().to_owned(),
        error,
    }
}

/// How a shell calls this program, whatever its PATH: by the path of a folder of PATH that leads to it, which stays where an
/// upgrade puts the program elsewhere, else by its own path.
fn program(environment: &Environment) -> String {
    let Ok(own) = std::env::current_exe() else {
        return PROGRAM.to_owned();
    };
    let real = own.canonicalize().ok();
    let found = environment.get("PATH").and_then(|path| {
        let mut folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
        folders.find_map(|folder| {
            let program = folder.join(PROGRAM);
            program.canonicalize().ok().map(|real| (program, real))
        })
    });
    let path = match found {
        Some((program, leads_to)) if Some(&leads_to) == real.as_ref() => program,
        _ => own,
    };
    shell_word(&path.to_string_lossy())
}

/// Where the proxy listens, or will.
fn listener(context: &Context) -> Result<String, Failure> {
    let running = daemon_health::ask(&context.home);
    if let (Some(url), true) = (&running.url, running.running) {
        return Ok(url.clone());
    }
    let (host, port) = (context.settings.proxy().host, context.settings.proxy().port);
    if port == 0 {
        return Err(Failure::error(
            "proxy",
            "proxy.port is 0, so nobody knows where the proxy will listen",
            Some("set proxy.port, or start the proxy first: grov proxy --detach"),
        ));
    }
    match running.no_answer() {
        Some((what, fix)) => say(&format!("{what}: {fix}")),
        None => {
            say("grov-proxyd is not running: sessions start it, or start it now with `grov proxy --detach`");
        }
    }
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
    if let Some(hooks) = &answer.hooks {
        text.push_str(&format!(
            "hooks go to {hooks}, which sessions start if it is down\n"
        ));
    }
    text
}
