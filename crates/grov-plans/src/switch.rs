//! The projects for which plans are switched on, in one file of Grov's home: prompts are then captured, and git hooks and an
//! ignore rule are installed. The file records every change, so that switching off restores the bytes.
//!
//! It is in the home and not in the project, because a repository must not switch on that prompts are recorded.

mod edits;
mod hooks;

use crate::git::{Git, Refs};
use crate::plan_dir::{canonical, plans_folder};
use crate::{PlanError, file};
use edits::Edit;
use hooks::Hook;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The file in Grov's home.
const FILE: &str = "plans.json";
const MAX_FILE: u64 = 4 * 1024 * 1024;
/// The rule for `.git/info/exclude`.
const RULE: &str = "/.claude/plans/";
/// Ignores the folder that holds it. It is written when plans stay although the rule is removed.
const IGNORE_ALL: &str = "*\n";

/// The projects for which plans are switched on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Projects {
    #[serde(default)]
    projects: Vec<Project>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Project {
    /// The project's folder.
    root: PathBuf,
    /// Its working trees.
    trees: BTreeSet<PathBuf>,
    /// What was changed, in this order.
    edits: Vec<Edit>,
}

/// The switches of all projects.
#[derive(Clone, Debug)]
pub struct Switch {
    home: PathBuf,
}

/// What switching changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwitchChange {
    /// Whether the project's switch changed.
    pub changed: bool,
    /// The files that were changed, created or removed.
    pub files: Vec<PathBuf>,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl Switch {
    /// The switches in Grov's home.
    pub fn of(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
        }
    }

    /// Whether plans are on for a project that may contain `directory`. The paths are only compared as text, and without any
    /// project this opens no file but one that does not exist: a hook calls it for each prompt.
    ///
    /// # Errors
    /// The file cannot be read or understood.
    pub fn may_cover(&self, directory: &Path) -> Result<bool, PlanError> {
        let projects = self.read()?.projects;
        let covers = |project: &Project| {
            let mut trees = project.trees.iter();
            directory.starts_with(&project.root) || trees.any(|tree| directory.starts_with(tree))
        };
        Ok(projects.iter().any(covers))
    }

    /// Whether plans are on for the project with this folder.
    ///
    /// # Errors
    /// As [`Switch::may_cover`].
    pub fn is_on(&self, root: &Path) -> Result<bool, PlanError> {
        Ok(self.read()?.projects.iter().any(|project| project.root == root))
    }

    /// Switches plans on for the project with this folder. `command` is the program that the git hooks run, with arguments.
    /// Repeating it renews what is missing.
    ///
    /// # Errors
    /// A file cannot be written; git fails.
    pub fn on(&self, git: &Git, root: &Path, command: &[String]) -> Result<SwitchChange, PlanError> {
        std::fs::create_dir_all(&self.home).map_err(PlanError::io(&self.home, "created"))?;
        let _lock = self.lock()?;
        let mut projects = self.read()?;
        let mut change = SwitchChange::default();
        let at = match projects.projects.iter().position(|project| project.root == root) {
            Some(at) => at,
            None => {
                change.changed = true;
                projects.projects.push(Project {
                    root: root.to_owned(),
                    trees: BTreeSet::new(),
                    edits: Vec::new(),
                });
                projects.projects.len() - 1
            }
        };
        let changed = self.change_files(git, command, &mut projects.projects, at, &mut change);
        // Also after an error, so that switching off undoes what was done.
        self.write(&projects)?;
        changed.map(|()| change)
    }

    /// Installs hooks and ignore rules for the project at `at`.
    fn change_files(
        &self,
        git: &Git,
        command: &[String],
        projects: &mut [Project],
        at: usize,
        change: &mut SwitchChange,
    ) -> Result<(), PlanError> {
        projects[at].trees.insert(canonical(git.tree())?);
        projects[at].trees.extend(Refs::read(git)?.trees);
        let wanted = hooks::wanted(git, command, &mut change.notes)?;
        for hook in &wanted.hooks {
            install(hook, projects, at, change)?;
        }
        self.exclude(git, &mut projects[at], &wanted.created_in_tree(), change)?;
        remove_ignore_all(git.tree())
    }

    /// Adds the rules to `info/exclude`, after the hooks, so that the rules can name hooks that were created.
    fn exclude(
        &self,
        git: &Git,
        project: &mut Project,
        created: &[String],
        change: &mut SwitchChange,
    ) -> Result<(), PlanError> {
        let path = git.read(&["rev-parse", "--git-path", "info/exclude"])?;
        let path = git.tree().join(path.trim_end_matches('\n'));
        let path = path.canonicalize().unwrap_or(path);
        if project
            .edits
            .iter()
            .any(|edit| edit.path() == path && edit.is_applied())
        {
            return Ok(());
        }
        let rules: Vec<&str> = std::iter::once(RULE)
            .chain(created.iter().map(String::as_str))
            .collect();
        let edit = Edit::append(&path, &format!("# Plans of Grov\n{}\n", rules.join("\n")))?;
        change.files.push(path.clone());
        project.edits.retain(|other| other.path() != path);
        project.edits.push(edit);
        Ok(())
    }

    /// Adds working trees that were created since plans were switched on.
    ///
    /// # Errors
    /// As [`Switch::on`].
    pub fn renew_trees(&self, git: &Git, root: &Path) -> Result<(), PlanError> {
        let tree = canonical(git.tree())?;
        let projects = self.read()?.projects;
        let Some(project) = projects.iter().find(|project| project.root == root) else {
            return Ok(());
        };
        if project.trees.contains(&tree) {
            return Ok(());
        }
        let _lock = self.lock()?;
        let mut projects = self.read()?;
        for project in projects
            .projects
            .iter_mut()
            .filter(|project| project.root == root)
        {
            project.trees.insert(tree.clone());
        }
        self.write(&projects)
    }

    /// Switches plans off for the project with this folder, and restores every file. The plans stay.
    ///
    /// # Errors
    /// A file cannot be restored.
    pub fn off(&self, root: &Path) -> Result<SwitchChange, PlanError> {
        if !self.is_on(root)? {
            return Ok(SwitchChange::default());
        }
        let _lock = self.lock()?;
        let mut projects = self.read()?;
        let Some(at) = projects.projects.iter().position(|project| project.root == root) else {
            return Ok(SwitchChange::default());
        };
        let project = projects.projects.remove(at);
        let mut change = SwitchChange {
            changed: true,
            ..SwitchChange::default()
        };
        for edit in project.edits.iter().rev() {
            let is_shared = projects
                .projects
                .iter()
                .any(|other| other.edits.iter().any(|other| other.path() == edit.path()));
            if is_shared {
                continue;
            }
            match edit.undo()? {
                Some(note) => change.notes.push(note),
                None => change.files.push(edit.path().to_owned()),
            }
        }
        for tree in &project.trees {
            if keep_ignored(tree)? {
                change.notes.push(format!(
                    "the plans in {} stay; a .gitignore there keeps them out of git",
                    plans_folder(tree).display()
                ));
            }
        }
        self.write(&projects)?;
        Ok(change)
    }

    /// The folders of all projects for which plans are on.
    ///
    /// # Errors
    /// As [`Switch::may_cover`].
    pub fn projects(&self) -> Result<Vec<PathBuf>, PlanError> {
        Ok(self
            .read()?
            .projects
            .into_iter()
            .map(|project| project.root)
            .collect())
    }

    fn path(&self) -> PathBuf {
        self.home.join(FILE)
    }

    fn read(&self) -> Result<Projects, PlanError> {
        let path = self.path();
        let Some(text) = read_small(&path)? else {
            return Ok(Projects::default());
        };
        serde_json::from_str(&text).map_err(|error| PlanError::BadRecord {
            path,
            reason: error.to_string(),
        })
    }

    /// Writes the file; without projects it is removed.
    fn write(&self, projects: &Projects) -> Result<(), PlanError> {
        let path = self.path();
        if projects.projects.is_empty() {
            return match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(PlanError::io(&path, "removed")(error))
                }
                _ => Ok(()),
            };
        }
        let text = serde_json::to_string_pretty(projects).map_err(|error| PlanError::BadRecord {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        file::replace(&path, (text + "\n").as_bytes())
    }

    /// Locks Grov's home until the file is dropped.
    fn lock(&self) -> Result<File, PlanError> {
        let home = File::open(&self.home).map_err(PlanError::io(&self.home, "read"))?;
        home.lock().map_err(PlanError::io(&self.home, "written"))?;
        Ok(home)
    }
}

/// Installs a hook for the project at `at`, and records it. Other projects may share its file: then all of them must be off
/// before it is restored.
fn install(
    hook: &Hook,
    projects: &mut [Project],
    at: usize,
    change: &mut SwitchChange,
) -> Result<(), PlanError> {
    let mut edits = projects.iter().flat_map(|project| &project.edits);
    let known = edits
        .find(|edit| edit.path() == hook.path && edit.is_applied())
        .cloned();
    let edit = match known {
        Some(edit) if hook.is_run_by(&edit) => edit,
        // The program was moved since.
        Some(old) => {
            old.undo()?;
            change.files.push(hook.path.clone());
            hook.install()?
        }
        None => {
            change.files.push(hook.path.clone());
            hook.install()?
        }
    };
    for (place, project) in projects.iter_mut().enumerate() {
        let before = project.edits.len();
        project.edits.retain(|other| other.path() != edit.path());
        if place == at || project.edits.len() < before {
            project.edits.push(edit.clone());
        }
    }
    Ok(())
}

/// The text of the file, with one call of the system if it does not exist.
fn read_small(path: &Path) -> Result<Option<String>, PlanError> {
    use std::io::Read;
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(PlanError::io(path, "read")(error)),
    };
    // Room for a usual file, so that it is read at once.
    let mut text = String::with_capacity(16 * 1024);
    file.take(MAX_FILE)
        .read_to_string(&mut text)
        .map_err(PlanError::io(path, "read"))?;
    Ok(Some(text))
}

/// Keeps plans out of git when the rule is removed, and removes the folder if it is empty. Returns whether plans stay.
fn keep_ignored(tree: &Path) -> Result<bool, PlanError> {
    let folder = plans_folder(tree);
    if !file::status(&folder)?.is_some_and(|status| status.is_dir()) {
        return Ok(false);
    }
    // Fails unless it is empty.
    if std::fs::remove_dir(&folder).is_ok() {
        // The folder above may hold files of the user, and stays then.
        let _ = std::fs::remove_dir(tree.join(".claude"));
        return Ok(false);
    }
    file::create(&folder.join(".gitignore"), IGNORE_ALL.as_bytes())?;
    Ok(true)
}

fn remove_ignore_all(tree: &Path) -> Result<(), PlanError> {
    let path = plans_folder(tree).join(".gitignore");
    if read_small(&path)?.as_deref() == Some(IGNORE_ALL) {
        std::fs::remove_file(&path).map_err(PlanError::io(&path, "removed"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
