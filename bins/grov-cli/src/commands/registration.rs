//! `grov init`, `grov unregister`, `grov uninstall`: Grov in the client's settings.

pub(crate) mod clients;
mod comments;
mod gateway;
mod http_hooks;
mod init;
mod judge;
mod shell;
mod unregister;
mod user_token;

use crate::failure::Failure;
use crate::output::Style;
use crate::table::one_line;
use grov_hooks::settings::{Plan, SettingsError, masked, user_folder};
use grov_runtime::Environment;
pub(crate) use http_hooks::others_can_read;
pub(crate) use init::{configured_base_url, run as init, state_file};
use serde::Serialize;
use similar::TextDiff;
use std::path::PathBuf;
pub(crate) use unregister::{run as unregister, uninstall};

/// The change of one file.
#[derive(Serialize)]
struct FileAnswer {
    path: String,
    /// Whether it is, or would be, changed.
    changed: bool,
    /// Path of the copy of the old file.
    backup: Option<String>,
    /// Whether it is, or would be, removed, because only Grov used it.
    removed: bool,
    /// The change as a unified diff, with `--dry-run`.
    diff: Option<String>,
    /// Grov's entries that remain because the user has changed them.
    left: Vec<String>,
}

impl FileAnswer {
    fn of(plan: &Plan, dry_run: bool) -> Self {
        Self {
            path: plan.path().to_string_lossy().into_owned(),
            changed: plan.has_changes(),
            backup: None,
            removed: false,
            diff: dry_run.then(|| {
                masked(&difference(
                    &plan.path().to_string_lossy(),
                    plan.before(),
                    plan.after(),
                ))
            }),
            left: plan.left().to_vec(),
        }
    }

    /// For a person.
    fn text(&self, style: Style) -> String {
        let path = style.bold(&one_line(&self.path));
        let verb = match (self.changed, self.removed, self.diff.is_some()) {
            (false, ..) => "unchanged",
            (true, true, true) => "would be removed",
            (true, true, false) => "removed",
            (true, false, true) => "would be changed",
            (true, false, false) => "changed",
        };
        let mut text = format!("{path} {verb}\n");
        if let Some(backup) = &self.backup {
            text.push_str(&format!("  backup: {}\n", one_line(backup)));
        }
        for line in self.diff.as_deref().unwrap_or_default().lines() {
            let (sign, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
            let line = format!("{sign}{}", safe_line(rest));
            let is_header = line.starts_with("--- ") || line.starts_with("+++ ");
            let line = match sign {
                _ if is_header => style.bold(&line),
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

/// The change of a file in the format of `diff -u`. A file that is created or removed is `/dev/null` on the other side.
fn difference(path: &str, before: &str, after: &str) -> String {
    let name = |text: &str| {
        if text.is_empty() {
            "/dev/null".to_owned()
        } else {
            path.to_owned()
        }
    };
    let (old, new) = (name(before), name(after));
    TextDiff::from_lines(before, after)
        .unified_diff()
        .header(&old, &new)
        .to_string()
}

/// [`one_line`], with the indentation kept.
fn safe_line(line: &str) -> String {
    let indentation = line.len() - line.trim_start().len();
    format!("{}{}", &line[..indentation], one_line(&line[indentation..]))
}

/// The client's configuration directory of the user.
pub(crate) fn client_folder(environment: &Environment) -> Result<PathBuf, Failure> {
    let Some(folder) = user_folder(|name| environment.get(name)) else {
        let message = "the client's settings cannot be found: there is no home directory";
        let hint = "set HOME, or CLAUDE_CONFIG_DIR to the client's directory";
        return Err(Failure::error("settings", message).hint(hint));
    };
    std::path::absolute(&folder)
        .map_err(|error| Failure::error("settings", format!("cannot find {}: {error}", folder.display())))
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        let failure = Self::error("settings", error.to_string());
        match &error {
            SettingsError::Malformed { .. } => {
                failure.hint("correct the file first; comments and trailing commas are allowed")
            }
            SettingsError::NotWritable { .. } | SettingsError::Unreadable { .. } => {
                failure.hint("check the permissions of the file and of its directory")
            }
            SettingsError::Record { .. } => {
                failure.hint("restore it, or move it away and remove Grov from the settings by hand")
            }
            SettingsError::NotText { .. } | SettingsError::Changed { .. } => failure,
        }
    }
}
