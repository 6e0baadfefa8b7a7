//! The client's settings.

use super::{Check, Remedy, over_http, version};
use crate::commands::registration::clients_folder;
use crate::context::Context;
use crate::failure::Failure;
use grov_hooks::event::{GUARD_TIMEOUT, PRE_TOOL_USE, registered};
use grov_hooks::settings::{Inspected, OwnHook, Scope, SettingsFile, inspect, settings_path};
use grov_runtime::Environment;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const SETTINGS: &str = "client settings";
const HOOKS: &str = "hooks";
/// What is called where no program is.
const OVER_HTTP: &str = "the daemon";
const SCOPES: [(Scope, &str); 3] = [
    (Scope::User, "user"),
    (Scope::Project, "project"),
    (Scope::Local, "local"),
];

/// What the client finds in its settings.
pub(super) struct Found {
    pub(super) files: Vec<(PathBuf, &'static str, Inspected)>,
    broken: Vec<String>,
}

impl Found {
    /// Reads the files that the client reads here.
    pub(super) fn here(context: &Context, environment: &Environment) -> Result<Self, Failure> {
        let folder = clients_folder(environment)?;
        let project = context.top().unwrap_or_else(|| folder.clone());
        let mut found = Self {
            files: Vec::new(),
            broken: Vec::new(),
        };
        for (scope, word) in SCOPES {
            let path = settings_path(scope, &folder, &project);
            match SettingsFile::read(&path) {
                Ok(file) if !file.exists() => {}
                Ok(file) => match inspect(file.text()) {
                    Ok(inspected) => found.files.push((path, word, inspected)),
                    Err(error) => found.broken.push(format!("{}, {error}", path.display())),
                },
                Err(error) => found.broken.push(error.to_string()),
            }
        }
        Ok(found)
    }

    /// The variables that the client gets: files rank above its environment, and later files above earlier ones.
    pub(super) fn environment(&self, process: &Environment) -> BTreeMap<String, String> {
        let own = process.iter();
        let own = own.filter_map(|(name, value)| Some((name.to_owned(), value.to_str()?.to_owned())));
        let files = self
            .files
            .iter()
            .flat_map(|(_, _, inspected)| inspected.environment.clone());
        own.chain(files).collect()
    }
}

/// What registers again what stands in a file.
trait Registration {
    fn registration(&self, scope: &'static str) -> Remedy;
}

impl Registration for Inspected {
    fn registration(&self, scope: &'static str) -> Remedy {
        let http = self.hooks.iter().any(|hook| hook.daemon_port.is_some());
        Remedy::Register {
            scope,
            http,
            status_line: false,
        }
    }
}

pub(super) fn checks(context: &Context) -> Result<Vec<Check>, Failure> {
    let environment = Environment::of_process();
    let found = Found::here(context, &environment)?;
    Ok([
        version::check(&environment),
        syntax(&found),
        hooks(&found, &environment),
    ]
    .into_iter()
    .chain(over_http::check(context, &found, &environment))
    .collect())
}

fn syntax(found: &Found) -> Check {
    if found.broken.is_empty() {
        return Check::well(SETTINGS, format!("{} files, all of them JSON", found.files.len()));
    }
    let consequence =
        "the client ignores the whole file, and Grov can neither register in it nor be taken out";
    Check::ill(
        SETTINGS,
        found.broken.join("; "),
        consequence,
        "mend the file at that place",
    )
}

fn hooks(found: &Found, environment: &Environment) -> Check {
    let own = std::env::current_exe().and_then(|own| own.canonicalize()).ok();
    let mut calls: BTreeMap<&str, BTreeSet<PathBuf>> = BTreeMap::new();
    let mut others = BTreeSet::new();
    for (path, scope, inspected) in &found.files {
        if inspected.hooks_disabled && !inspected.hooks.is_empty() {
            let evidence = format!("{}: disableAllHooks is true", path.display());
            let consequence =
                "the client runs no hook, so nothing is remembered, told or guarded without a proxy";
            return Check::ill(HOOKS, evidence, consequence, "remove disableAllHooks there");
        }
        for hook in &inspected.hooks {
            let (event, called) = (&hook.event, hook.program.as_deref());
            let found = called.map(|program| located(program, environment));
            if let (Some(program), Some(None)) = (called, &found) {
                let evidence = format!("{}: {event} calls {program}, which cannot be run", path.display());
                let consequence =
                    "the client shows an error at every such event, and the agent is told nothing";
                let remedy = inspected.registration(scope);
                return Check::ill(HOOKS, evidence, consequence, remedy.words()).with(remedy);
            }
            let found = found.flatten();
            if let Some(found) = &found
                && own.as_ref().is_some_and(|own| own != found)
            {
                others.insert((found.clone(), inspected.registration(scope).words()));
            }
            // A file that is shared calls by name what another one calls by its path.
            calls
                .entry(event)
                .or_default()
                .insert(found.unwrap_or_else(|| PathBuf::from(OVER_HTTP)));
        }
        if let Some(check) =
            too_short(path, scope, inspected).or_else(|| lost_line(path, scope, inspected, environment))
        {
            return check;
        }
    }
    if let Some((event, programs)) = calls.iter().find(|(_, programs)| programs.len() > 1) {
        let programs: Vec<String> = programs.iter().map(|path| path.display().to_string()).collect();
        let programs = programs.join(" and ");
        return Check::ill(
            HOOKS,
            format!("{event} calls Grov more than once: {programs}"),
            "each costs a process, and the client waits for all of them",
            "grov unregister, then grov init once",
        );
    }
    let missing: Vec<&str> = registered()
        .map(|event| event.name)
        .filter(|name| !calls.contains_key(name))
        .collect();
    if !missing.is_empty() {
        let evidence = match calls.is_empty() {
            true => "none is registered".to_owned(),
            false => format!("not registered: {}", missing.join(", ")),
        };
        let consequence =
            "there Grov neither tells, checks nor keeps anything, and no session starts the proxy";
        return Check::ill(HOOKS, evidence, consequence, "grov init");
    }
    if let Some(check) = by_name(found) {
        return check;
    }
    if let Some((program, again)) = others.first() {
        return Check::ill(
            HOOKS,
            format!(
                "they call {}, which is another Grov than this one",
                program.display()
            ),
            "two versions work on one database, and what this one tells need not hold for the hooks",
            format!("{again}, to have them call this one"),
        );
    }
    Check::well(
        HOOKS,
        format!("registered: {}", Vec::from_iter(calls.into_keys()).join(", ")),
    )
}

/// That the client waits for the guard for less time than the guard may take, as earlier versions registered it.
fn too_short(path: &Path, scope: &'static str, inspected: &Inspected) -> Option<Check> {
    let guard = |hook: &&OwnHook| hook.event == PRE_TOOL_USE;
    let timeout = inspected.hooks.iter().find(guard)?.timeout?;
    let remedy = inspected.registration(scope);
    (timeout < GUARD_TIMEOUT).then(|| {
        Check::ill(
            HOOKS,
            format!(
                "{}: the client waits {timeout} s for the guard, not {GUARD_TIMEOUT} s",
                path.display()
            ),
            "on a busy machine a call that you forbade runs before the guard has answered",
            remedy.words(),
        )
        .with(remedy)
    })
}

/// That hooks of this machine call Grov by its name, as earlier versions registered it. Beside a file that everybody shares the
/// same words are there on purpose.
fn by_name(found: &Found) -> Option<Check> {
    let is_shared = |(_, scope, inspected): &(PathBuf, &str, Inspected)| {
        *scope == "project" && !inspected.hooks.is_empty()
    };
    if found.files.iter().any(is_shared) {
        return None;
    }
    let is_name = |hook: &OwnHook| {
        hook.program
            .as_ref()
            .is_some_and(|program| !program.contains('/'))
    };
    let mut files = found.files.iter();
    let (path, scope, inspected) = files.find(|(_, _, inspected)| inspected.hooks.iter().any(is_name))?;
    let remedy = inspected.registration(scope);
    Some(
        Check::ill(
            HOOKS,
            format!("{}: they call Grov by its name alone", path.display()),
            "a client with another PATH finds no Grov: nothing is guarded, and no session starts the proxy",
            remedy.words(),
        )
        .with(remedy),
    )
}

/// That the status line calls a program that is gone.
fn lost_line(
    path: &Path,
    scope: &'static str,
    inspected: &Inspected,
    environment: &Environment,
) -> Option<Check> {
    let line = inspected.status_line.as_ref().filter(|line| line.is_grovs)?;
    let program = line.program();
    if located(&program, environment).is_some() {
        return None;
    }
    let remedy = match inspected.registration(scope) {
        Remedy::Register { scope, http, .. } => Remedy::Register {
            scope,
            http,
            status_line: true,
        },
        other => other,
    };
    Some(
        Check::ill(
            HOOKS,
            format!(
                "{}: the status line calls {program}, which cannot be run",
                path.display()
            ),
            "the client shows no status line",
            remedy.words(),
        )
        .with(remedy),
    )
}

/// What a shell runs under that name; `None` where there is nothing that can be run.
fn located(program: &str, environment: &Environment) -> Option<PathBuf> {
    let is_executable = |path: &Path| {
        let metadata = std::fs::metadata(path);
        metadata.is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    let found = if program.contains('/') {
        Some(PathBuf::from(program))
    } else {
        let path = environment.get("PATH")?;
        let mut places = std::env::split_paths(path).map(|folder| folder.join(program));
        places.find(|place| is_executable(place))
    };
    found.filter(|found| is_executable(found))?.canonicalize().ok()
}
