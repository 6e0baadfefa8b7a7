//! `grov config set KEY VALUE`, `grov config unset KEY`

use crate::arguments::Common;
use crate::failure::Failure;
use crate::output::{ExitStatus, Outcome, Terminal, note};
use crate::table::one_line;
use grov_project::ProjectLocation;
use grov_runtime::{ConfigEdit, ConfigFile, Environment, Home, Inputs, Settings};
use serde::Serialize;
use std::io::Read;
use std::path::Path;

/// Settings that are set one after the other, and that no proxy starts with alone.
const PAIR: [&str; 2] = ["proxy.tls_cert", "proxy.tls_key"];

/// Maximum bytes of a value on standard input.
const MAX_VALUE: u64 = 64 * 1024;

#[derive(Serialize)]
struct Answer {
    key: String,
    path: String,
    /// Whether the file was changed.
    changed: bool,
    /// The value that now applies, whatever set it.
    value: Option<serde_json::Value>,
    /// What set that value: `flag`, `environment`, `env_file`, `project`, `user` or `default`.
    from: Option<&'static str>,
}

/// A file to change, and what its settings depend on.
struct Scene {
    home: Home,
    environment: Environment,
    directory: Option<std::path::PathBuf>,
    file: ConfigFile,
}

impl Scene {
    /// The settings are not loaded: the change may correct them.
    fn new(common: &Common) -> Result<Self, Failure> {
        let environment = Environment::of_process();
        let home = Home::locate(common.home.as_deref(), &environment)?;
        let (file, directory) = match &common.project {
            None => return Self::of_user(common),
            Some(project) if project.is_dir() => {
                let directory = std::path::absolute(project).unwrap_or_else(|_| project.clone());
                let place = ProjectLocation::locate(&directory);
                let top = place.work_tree().unwrap_or(place.root());
                let file = ConfigFile::of_project(&directory, top, &home, &environment);
                (file, Some(directory))
            }
            Some(project) => {
                let message = format!("the project {} is no directory", project.display());
                return Err(Failure::usage(message));
            }
        };
        Ok(Self {
            home,
            environment,
            directory,
            file,
        })
    }

    /// The user's own file, whatever the project is.
    fn of_user(common: &Common) -> Result<Self, Failure> {
        let environment = Environment::of_process();
        let home = Home::locate(common.home.as_deref(), &environment)?;
        Ok(Self {
            file: ConfigFile::of_user(&home, &environment),
            directory: std::env::current_dir().ok(),
            home,
            environment,
        })
    }

    fn settings(&self) -> Result<Settings, Failure> {
        Ok(Settings::load(Inputs {
            home: &self.home,
            environment: &self.environment,
            directory: self.directory.as_deref(),
            flags: &[],
        })?)
    }

    /// Whether the settings are valid, and a proxy starts with them.
    fn check(&self) -> Result<(), Failure> {
        let settings = self.settings()?;
        settings.ensure_startable(&self.environment)?;
        Ok(())
    }

    /// Writes the change. If the settings were good before and no longer are, the old text is written back. The first half of a
    /// pair is written with a warning.
    fn apply(&self, key: &str, edit: &ConfigEdit) -> Result<(), Failure> {
        let was_valid = self.settings().is_ok();
        let was_good = was_valid && self.check().is_ok();
        self.write(edit)?;
        let Err(failure) = self.check() else {
            return Ok(());
        };
        let stays_readable = self.settings().is_ok() || !was_valid;
        if stays_readable && (!was_good || PAIR.contains(&key)) {
            note!("warning: {failure}");
            return Ok(());
        }
        self.write(&ConfigEdit {
            before: edit.after.clone(),
            after: edit.before.clone(),
        })?;
        Err(failure.hint("nothing was changed"))
    }

    fn write(&self, edit: &ConfigEdit) -> Result<(), Failure> {
        let path = self.file.path().display();
        self.file.write(edit).map_err(|error| {
            Failure::error("configuration", format!("cannot write {path}: {error}"))
                .hint("check the permissions of the file and of its directory")
        })
    }

    fn answer(&self, terminal: Terminal, key: &str, changed: bool) -> Outcome {
        let settings = self.settings().ok();
        let applied = settings.as_ref().and_then(|settings| settings.explain(key).ok());
        let answer = Answer {
            key: key.to_owned(),
            path: self.file.path().display().to_string(),
            changed,
            value: applied.map(|applied| applied.value.to_json()),
            from: applied.map(|applied| applied.origin.rank()),
        };
        let origin = applied.map(|applied| (applied.value.to_string(), applied.origin.to_string()));
        terminal.answer(answer, |answer, style| {
            let key = style.bold(&answer.key);
            match &origin {
                Some((value, origin)) => format!("{key} = {} (from {})\n", one_line(value), one_line(origin)),
                None => format!("{key}: {}\n", one_line(&answer.path)),
            }
        })
    }
}

/// A setting of the user to change, as `grov config set` does.
pub(crate) struct UserChange {
    scene: Scene,
    key: String,
    edit: ConfigEdit,
}

impl UserChange {
    /// Checks the change. Nothing is written.
    pub(crate) fn planned(common: &Common, key: &str, value: &str) -> Result<Self, Failure> {
        let scene = Scene::of_user(common)?;
        let edit = scene.file.set(key, value)?;
        Ok(Self {
            scene,
            key: key.to_owned(),
            edit,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.scene.file.path()
    }

    /// The texts of the file before and after.
    pub(crate) fn edit(&self) -> &ConfigEdit {
        &self.edit
    }

    pub(crate) fn has_changes(&self) -> bool {
        self.edit.before != self.edit.after
    }

    /// Writes the change, and returns the settings that now apply.
    pub(crate) fn apply(&self) -> Result<Settings, Failure> {
        if self.has_changes() {
            self.scene.apply(&self.key, &self.edit)?;
        }
        self.scene.settings()
    }
}

pub(crate) fn set(common: &Common, terminal: Terminal, key: &str, value: &str) -> Outcome {
    let scene = Scene::new(common)?;
    let value = match value {
        "-" => from_input()?,
        value => value.to_owned(),
    };
    let edit = scene.file.set(key, &value)?;
    let changed = edit.before != edit.after;
    if changed {
        scene.apply(key, &edit)?;
    }
    scene.answer(terminal, key, changed)?;
    if changed {
        note!("a running grov-proxyd uses it after a restart; hooks use it at once");
    }
    Ok(ExitStatus::Success)
}

pub(crate) fn unset(common: &Common, terminal: Terminal, key: &str) -> Outcome {
    let scene = Scene::new(common)?;
    let edit = scene.file.unset(key)?;
    match &edit {
        Some(edit) => scene.apply(key, edit)?,
        None => note!("{} does not set {key}", scene.file.path().display()),
    }
    scene.answer(terminal, key, edit.is_some())?;
    Ok(ExitStatus::success_if(edit.is_some()))
}

fn from_input() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin()
        .take(MAX_VALUE)
        .read_to_string(&mut text)
        .map_err(|error| Failure::error("input", format!("cannot read the value: {error}")))?;
    Ok(text.trim().to_owned())
}
