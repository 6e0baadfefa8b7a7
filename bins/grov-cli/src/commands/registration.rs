//! `grov init`, `grov unregister`, `grov uninstall`: Grov in the settings of the client.

mod gateway;
mod init;
mod over_http;
mod unregister;

pub(crate) use gateway::shown;
pub(crate) use init::run as init;
pub(crate) use over_http::others_can_read;
pub(crate) use unregister::{run as unregister, uninstall};

use crate::failure::Failure;
use crate::output::Style;
use crate::table::harmless;
use grov_hooks::settings::{Plan, SettingsError, difference, masked, user_folder};
use grov_runtime::{Environment, Home};
use serde::Serialize;
use std::path::PathBuf;

/// What is done to one file.
#[derive(Serialize)]
struct FileAnswer {
    path: String,
    /// Whether it is, or would be, changed.
    changed: bool,
    /// Where a copy of it was put.
    backup: Option<String>,
    /// Whether it is, or would be, removed, because it was there only for Grov.
    removed: bool,
    /// The lines that differ, with `--dry-run`.
    diff: Option<String>,
    /// What the user has changed since and stays.
    left: Vec<String>,
}

impl FileAnswer {
    fn of(plan: &Plan, dry_run: bool) -> Self {
        Self {
            path: plan.path().to_string_lossy().into_owned(),
            changed: plan.changes_anything(),
            backup: None,
            removed: false,
            diff: dry_run.then(|| masked(&difference(plan.before(), plan.after()))),
            left: plan.left().iter().map(ToString::to_string).collect(),
        }
    }

    /// What was or would be done, in words.
    fn text(&self, style: Style) -> String {
        let path = style.bold(&harmless(&self.path));
        let verb = match (self.changed, self.removed, self.diff.is_some()) {
            (false, ..) => "unchanged",
            (true, true, true) => "would be removed",
            (true, true, false) => "removed",
            (true, false, true) => "would be changed",
            (true, false, false) => "changed",
        };
        let mut text = format!("{path} {verb}\n");
        if let Some(backup) = &self.backup {
            text.push_str(&format!("  as it was: {}\n", harmless(backup)));
        }
        for line in self.diff.as_deref().unwrap_or_default().lines() {
            let (sign, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
            let line = format!("{sign}{}", without_controls(rest));
            let line = match sign {
                "+" => style.green(&line),
                "-" => style.red(&line),
                "@" => style.faint(&line),
                _ => line,
            };
            text.push_str(&format!("{line}\n"));
        }
        text
    }
}

/// A line as it may be shown, indentation kept.
fn without_controls(line: &str) -> String {
    let indentation = line.len() - line.trim_start().len();
    format!("{}{}", &line[..indentation], harmless(&line[indentation..]))
}

/// The client's directory for the user.
pub(crate) fn clients_folder(environment: &Environment) -> Result<PathBuf, Failure> {
    let folder = user_folder(|name| environment.get(name));
    let folder = folder.ok_or_else(|| {
        let hint = Some("set HOME, or CLAUDE_CONFIG_DIR to the client's directory");
        Failure::error(
            "settings",
            "the client's settings cannot be found: there is no home directory",
            hint,
        )
    })?;
    std::path::absolute(&folder).map_err(|error| {
        let message = format!("{} cannot be found: {error}", folder.display());
        Failure::error("settings", message, None)
    })
}

/// The home, made unless it exists.
fn made(home: &Home) -> Result<&Home, Failure> {
    home.create()?;
    Ok(home)
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        let hint = match &error {
            SettingsError::Malformed { .. } => {
                Some("mend the file first; comments and trailing commas are fine")
            }
            SettingsError::NotWritable { .. } | SettingsError::Unreadable { .. } => {
                Some("check the permissions of the file and of its directory")
            }
            SettingsError::Record { .. } => {
                Some("restore it, or move it away and take what Grov registered out of the settings by hand")
            }
            SettingsError::NotText { .. } | SettingsError::Changed { .. } => None,
        };
        Self::error("settings", error.to_string(), hint)
    }
}
