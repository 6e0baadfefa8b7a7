//! The client's settings files and the hooks in them.

use super::{Check, Remedy, version};
use crate::commands::registration::client_folder;
use crate::context::Context;
use crate::failure::Failure;
use crate::format::plural;
use crate::programs::{in_path, is_executable};
use grov_hooks::event::{GUARD_TIMEOUT, PRE_TOOL_USE, SESSION_START, registered};
use grov_hooks::settings::{Inspection, OwnHook, Scope, SettingsFile, inspect, plain, settings_path};
use grov_runtime::Environment;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

const SETTINGS: &str = "client settings";
const HOOKS: &str = "hooks";
/// Shown as the program of a hook over HTTP.
const DAEMON: &str = "the daemon";
const SCOPES: [(Scope, &str); 3] = [
    (Scope::User, "user"),
    (Scope::Project, "project"),
    (Scope::Local, "local"),
];

/// The settings that the client reads in this directory.
pub(super) struct ClientSettings {
    pub(super) files: Vec<ClientFile>,
    /// Errors of the files that cannot be read.
    errors: Vec<String>,
    /// The environment of this process.
    pub(super) process: Environment,
}

/// A settings file of the client.
pub(super) struct ClientFile {
    pub(super) path: PathBuf,
    pub(super) scope: &'static str,
    pub(super) content: Inspection,
    /// Whether the client ignores it, because of comments or trailing commas.
    pub(super) is_ignored: bool,
}

impl ClientSettings {
    pub(super) fn read(context: &Context) -> Result<Self, Failure> {
        let process = Environment::of_process();
        let folder = client_folder(&process)?;
        let project = context.top().unwrap_or_else(|| folder.clone());
        let mut settings = Self {
            files: Vec::new(),
            errors: Vec::new(),
            process,
        };
        for (scope, name) in SCOPES {
            let path = settings_path(scope, &folder, &project);
            match SettingsFile::read(&path) {
                Ok(file) if !file.exists() => {}
                Ok(file) => match inspect(file.text()) {
                    Ok(content) => settings.files.push(ClientFile {
                        path,
                        scope: name,
                        content,
                        is_ignored: plain(file.text()).is_ok_and(|plain| plain.is_some()),
                    }),
                    Err(error) => settings.errors.push(format!("{}, {error}", path.display())),
                },
                Err(error) => settings.errors.push(error.to_string()),
            }
        }
        Ok(settings)
    }

    /// Whether a hook starts the proxy at the start of a session.
    pub(super) fn starts_proxy(&self) -> bool {
        let runs = |hook: &OwnHook| match &hook.program {
            Some(program) => hook.event == SESSION_START && resolve(program, &self.process).is_some(),
            None => false,
        };
        let mut files = self
            .files
            .iter()
            .filter(|file| !file.content.hooks_disabled && !file.is_ignored);
        files.any(|file| file.content.hooks.iter().any(runs))
    }

    /// The client's environment variables: files override the process, later files earlier ones.
    pub(super) fn environment(&self) -> BTreeMap<String, String> {
        let process = self.process.iter();
        let process = process.filter_map(|(name, value)| Some((name.to_owned(), value.to_str()?.to_owned())));
        let files = self
            .files
            .iter()
            .flat_map(|file| file.content.environment.clone());
        process.chain(files).collect()
    }
}

impl ClientFile {
    /// Registers again what is registered in this file.
    fn register(&self, status_line: bool) -> Remedy {
        let http = self.content.hooks.iter().any(|hook| hook.daemon_port.is_some());
        Remedy::register(self.scope, http, status_line)
    }

    fn problem(&self, problem: impl std::fmt::Display) -> Check {
        Check::fail(HOOKS, format!("{}: {problem}", self.path.display()))
    }
}

pub(super) fn checks(settings: &ClientSettings) -> [Check; 3] {
    [
        version::check(&settings.process),
        syntax(settings),
        hooks(settings),
    ]
}

fn syntax(settings: &ClientSettings) -> Check {
    if let Some(file) = settings.files.iter().find(|file| file.is_ignored) {
        let evidence = format!(
            "{} has comments or trailing commas, and Claude Code reads plain JSON only",
            file.path.display()
        );
        return Check::fail(SETTINGS, evidence)
            .consequence("The client ignores the whole file, with Grov's hooks and your own settings in it.")
            .fix(format!(
                "grov init --plain --scope {} removes them and keeps a copy of the file",
                file.scope
            ));
    }
    if settings.errors.is_empty() {
        let files = settings.files.len() as u64;
        return Check::ok(SETTINGS, plural(files, "valid file", "valid files"));
    }
    Check::fail(SETTINGS, settings.errors.join("; "))
        .consequence("The client ignores the whole file, and Grov can neither register in it nor unregister.")
        .fix("correct the file at that place")
}

fn hooks(settings: &ClientSettings) -> Check {
    let environment = &settings.process;
    let grov = std::env::current_exe().and_then(|grov| grov.canonicalize()).ok();
    // The programs that each event calls.
    let mut calls: BTreeMap<&str, BTreeSet<PathBuf>> = BTreeMap::new();
    let mut other_grov = None;
    for file in &settings.files {
        let content = &file.content;
        if content.hooks_disabled && !content.hooks.is_empty() {
            return file
                .problem("disableAllHooks is true")
                .consequence("The client runs no hooks. Without the proxy Grov will not inject memory, guard actions or record sessions.")
                .fix("remove disableAllHooks there");
        }
        for hook in &content.hooks {
            let program = match &hook.program {
                None => PathBuf::from(DAEMON),
                Some(name) => {
                    match resolve(name, environment) {
                        Some(program) => program,
                        None => {
                            return file
                            .problem(format!("{} calls {name}, which cannot be run", hook.event))
                            .consequence("The client shows an error at every such event, and the hook does nothing.")
                            .remedy(file.register(false));
                        }
                    }
                }
            };
            if hook.program.is_some() && grov.as_ref().is_some_and(|grov| *grov != program) {
                other_grov.get_or_insert((program.clone(), file.register(false)));
            }
            // Files may name one program in two ways, so the resolved paths are compared.
            calls.entry(&hook.event).or_default().insert(program);
        }
        if let Some(check) = short_timeout(file).or_else(|| broken_status_line(file, environment)) {
            return check;
        }
    }
    if let Some((event, programs)) = calls.iter().find(|(_, programs)| programs.len() > 1) {
        let programs: Vec<String> = programs.iter().map(|path| path.display().to_string()).collect();
        let programs = programs.join(" and ");
        return Check::warn(HOOKS, format!("{event} calls Grov more than once: {programs}"))
            .consequence("Each call starts a process, and the client waits for all of them.")
            .fix("grov unregister, then grov init once");
    }
    let names = registered().map(|event| event.name);
    let missing: Vec<&str> = names.filter(|name| !calls.contains_key(name)).collect();
    if !missing.is_empty() {
        let evidence = match calls.is_empty() {
            true => "not registered".to_owned(),
            false => format!("not registered: {}", missing.join(", ")),
        };
        return Check::fail(HOOKS, evidence)
            .consequence("Grov will not inject memory, guard actions or record sessions.")
            .fix("grov init");
    }
    if let Some(check) = bare_name(settings) {
        return check;
    }
    if let Some((program, remedy)) = other_grov {
        let evidence = format!(
            "they call {}, which is another Grov than this one",
            program.display()
        );
        return Check::warn(HOOKS, evidence)
            .consequence("Two versions share one database, and this report may not apply to the hooks.")
            .fix(format!("{}, so that they call this one", remedy.command()));
    }
    Check::ok(
        HOOKS,
        format!("registered: {}", Vec::from_iter(calls.into_keys()).join(", ")),
    )
}

/// Reports a timeout that is too short for the guard, as earlier versions registered it.
fn short_timeout(file: &ClientFile) -> Option<Check> {
    let is_guard = |hook: &&OwnHook| hook.event == PRE_TOOL_USE;
    let timeout = file.content.hooks.iter().find(is_guard)?.timeout?;
    (timeout < GUARD_TIMEOUT).then(|| {
        file.problem(format!(
            "the client waits {timeout} s for the guard, not {GUARD_TIMEOUT} s"
        ))
        .consequence("On a busy machine a forbidden action may run before the guard has answered.")
        .remedy(file.register(false))
    })
}

/// Reports hooks that call Grov by its bare name, as earlier versions registered them, unless a shared file does so too: there
/// it is intended.
fn bare_name(settings: &ClientSettings) -> Option<Check> {
    let is_shared = |file: &ClientFile| file.scope == "project" && !file.content.hooks.is_empty();
    if settings.files.iter().any(is_shared) {
        return None;
    }
    let is_bare = |hook: &OwnHook| {
        hook.program
            .as_ref()
            .is_some_and(|program| !program.contains('/'))
    };
    let mut files = settings.files.iter();
    let file = files.find(|file| file.content.hooks.iter().any(is_bare))?;
    Some(
        file.problem("hooks call Grov by its name, without a path")
            .consequence(
                "A client with another PATH does not find Grov: no guard, and no session starts the proxy.",
            )
            .remedy(file.register(false)),
    )
}

/// Reports a status line that calls a missing program.
fn broken_status_line(file: &ClientFile, environment: &Environment) -> Option<Check> {
    let line = file.content.status_line.as_ref().filter(|line| line.is_grovs)?;
    let program = line.program();
    if resolve(&program, environment).is_some() {
        return None;
    }
    Some(
        file.problem(format!("the status line calls {program}, which cannot be run"))
            .consequence("The client shows no status line.")
            .remedy(file.register(true)),
    )
}

/// The executable that a shell runs under this name.
fn resolve(program: &str, environment: &Environment) -> Option<PathBuf> {
    let found = match program.contains('/') {
        true => Some(PathBuf::from(program)).filter(|path| is_executable(path)),
        false => in_path(program, environment).next(),
    };
    found?.canonicalize().ok()
}
