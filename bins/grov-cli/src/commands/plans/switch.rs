//! `grov plans on`, `grov plans off`

use super::Place;
use crate::commands::registration::client_folder;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, note};
use crate::table::one_line;
use grov_hooks::event::USER_PROMPT_SUBMIT;
use grov_hooks::settings::{Scope, SettingsFile, inspect, settings_path};
use grov_plans::{Switch, SwitchChange};
use grov_runtime::Environment;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Serialize)]
struct Answer {
    on: bool,
    project: String,
    /// Whether the switch changed.
    changed: bool,
    /// The files that were changed, created or restored.
    files: Vec<String>,
    notes: Vec<String>,
}

pub(super) fn on(context: &Context) -> Outcome {
    let place = Place::of(context)?;
    let own = std::env::current_exe()
        .map_err(|error| Failure::error("system", format!("cannot find this program: {error}")))?;
    // The home is named, because git may run in another environment.
    let command = [own.as_path(), "--home".as_ref(), context.home.root()];
    let command = command.map(|word| word.to_string_lossy().into_owned());
    context.home.create()?;
    let switch = Switch::of(context.home.root());
    let change = switch.on(&place.git(), place.location.root(), &command)?;
    if !is_capturing(context) {
        note!(
            "prompts are captured by Grov's hooks, which are not registered here; register them with grov init"
        );
    }
    answer(context, &place, true, change)
}

pub(super) fn off(context: &Context) -> Outcome {
    let place = Place::of(context)?;
    let change = Switch::of(context.home.root()).off(place.location.root())?;
    answer(context, &place, false, change)
}

/// Switches plans off for all projects. Returns those that were on.
pub(in crate::commands) fn off_everywhere(context: &Context, dry_run: bool) -> Result<Vec<String>, Failure> {
    let switch = Switch::of(context.home.root());
    let projects = switch.projects()?;
    for project in projects.iter().filter(|_| !dry_run) {
        for line in switch.off(project)?.notes {
            note!("{line}");
        }
    }
    Ok(projects
        .into_iter()
        .map(|project| project.to_string_lossy().into_owned())
        .collect())
}

fn answer(context: &Context, place: &Place, on: bool, change: SwitchChange) -> Outcome {
    let path = |path: PathBuf| path.to_string_lossy().into_owned();
    for line in &change.notes {
        note!("{line}");
    }
    let answer = Answer {
        on,
        project: path(place.location.root().to_owned()),
        changed: change.changed,
        files: change.files.into_iter().map(path).collect(),
        notes: change.notes,
    };
    context.answer(answer, text)
}

/// Whether a settings file that the client reads in this directory calls Grov for each prompt.
fn is_capturing(context: &Context) -> bool {
    let Ok(folder) = client_folder(&Environment::of_process()) else {
        return false;
    };
    let project = context.top().unwrap_or_else(|| folder.clone());
    [Scope::User, Scope::Project, Scope::Local]
        .into_iter()
        .any(|scope| {
            let file = SettingsFile::read(&settings_path(scope, &folder, &project)).ok();
            let inspected = file.and_then(|file| inspect(file.text()).ok());
            inspected.is_some_and(|inspected| {
                inspected
                    .hooks
                    .iter()
                    .any(|hook| hook.event == USER_PROMPT_SUBMIT)
            })
        })
}

fn text(answer: &Answer, style: Style) -> String {
    let switch = if answer.on { "on" } else { "off" };
    let mut text = format!(
        "plans are {switch} for {}\n",
        style.bold(&one_line(&answer.project))
    );
    let verb = if answer.on { "changed" } else { "restored" };
    for file in &answer.files {
        text.push_str(&format!("{verb} {}\n", one_line(file)));
    }
    text
}
