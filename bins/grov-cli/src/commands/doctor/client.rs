//! The client's settings.

use super::{Check, Remedy};
use crate::commands::registration::clients_folder;
use crate::context::Context;
use crate::failure::Failure;
use grov_hooks::event::registered;
use grov_hooks::settings::{Inspected, Scope, SettingsFile, inspect, settings_path};
use grov_runtime::Environment;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const SETTINGS: &str = "client settings";
const HOOKS: &str = "hooks";
const SCOPES: [(Scope, &str); 3] = [
    (Scope::User, "user"),
    (Scope::Project, "project"),
    (Scope::Local, "local"),
];

/// What the client finds in its settings.
pub(super) struct Found {
    files: Vec<(PathBuf, &'static str, Inspected)>,
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

pub(super) fn checks(context: &Context) -> Result<Vec<Check>, Failure> {
    let environment = Environment::of_process();
    let found = Found::here(context, &environment)?;
    Ok(vec![syntax(&found), hooks(&found, &environment)])
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
    let mut events = BTreeSet::new();
    for (path, scope, inspected) in &found.files {
        for (event, program) in &inspected.hooks {
            if let Some(program) = program
                && !can_run(program, environment)
            {
                let evidence = format!("{}: {event} calls {program}, which cannot be run", path.display());
                let consequence =
                    "the client shows an error at every such event, and the agent is told nothing";
                return Check::ill(HOOKS, evidence, consequence, format!("grov init --scope {scope}"))
                    .with(Remedy::Register(scope));
            }
            events.insert(event.as_str());
        }
    }
    let missing: Vec<&str> = registered()
        .map(|event| event.name)
        .filter(|name| !events.contains(name))
        .collect();
    if missing.is_empty() {
        return Check::well(
            HOOKS,
            format!("registered: {}", Vec::from_iter(events).join(", ")),
        );
    }
    let evidence = match events.is_empty() {
        true => "none is registered".to_owned(),
        false => format!("not registered: {}", missing.join(", ")),
    };
    let consequence = "the agent hears of memory through the proxy alone, and no session starts the proxy";
    Check::ill(HOOKS, evidence, consequence, "grov init")
}

/// Whether a shell finds the program.
fn can_run(program: &str, environment: &Environment) -> bool {
    let is_executable = |path: &Path| {
        let metadata = std::fs::metadata(path);
        metadata.is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return is_executable(Path::new(program));
    }
    let path = environment.get("PATH");
    path.is_some_and(|path| std::env::split_paths(path).any(|folder| is_executable(&folder.join(program))))
}
