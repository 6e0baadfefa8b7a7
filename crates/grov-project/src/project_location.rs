//! Finds the project and repository of a directory.

use crate::config::{Config, IncludeContext};
use crate::head::Head;
use crate::read::small_text;
use crate::remote::normalize_remote;
use crate::user::GitUser;
use grov_domain::Project;
use std::path::{Path, PathBuf};

/// The maximum size of a pointer file in bytes; it contains one path.
const POINTER_LIMIT: u64 = 8192;

/// The project of a directory, and its repository if it is in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectLocation {
    root: PathBuf,
    work_tree: Option<PathBuf>,
    repository: Option<Repository>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Repository {
    /// The directory with the files of this working tree, such as `HEAD`.
    git_directory: PathBuf,
    /// The directory with the files shared by all working trees: configuration, references.
    common_directory: PathBuf,
}

impl ProjectLocation {
    /// Finds the project of `directory`: the folder that holds the git common directory, so that all working trees of
    /// a repository are one project; a bare repository itself; outside git the directory itself. Symbolic links are
    /// resolved; a directory that does not exist is its own project, with its path unchanged.
    pub fn locate(directory: &Path) -> Self {
        let Ok(start) = directory.canonicalize() else {
            return Self {
                root: directory.to_owned(),
                work_tree: None,
                repository: None,
            };
        };
        start.ancestors().find_map(Self::at).unwrap_or(Self {
            root: start,
            work_tree: None,
            repository: None,
        })
    }

    /// The location if `folder` is the top of a working tree or a bare repository.
    fn at(folder: &Path) -> Option<Self> {
        let entry = folder.join(".git");
        if is_git_directory(&entry) {
            let repository = Repository::of(entry.canonicalize().ok()?);
            // `.git` may be a link to a directory elsewhere; the folder that holds the link is the project.
            return Some(Self {
                root: folder.to_owned(),
                work_tree: Some(folder.to_owned()),
                repository: Some(repository),
            });
        }
        if entry.is_file() {
            return Some(Self::at_pointer(folder, &entry));
        }
        if is_git_directory(folder) {
            let repository = Repository::of(folder.to_owned());
            return Some(Self {
                root: repository.root(),
                work_tree: None,
                repository: Some(repository),
            });
        }
        None
    }

    /// A working tree whose `.git` is a file: a linked working tree, a submodule, or a repository kept elsewhere.
    ///
    /// The file may be part of a download, so it is trusted only if the repository that it names refers back to it.
    /// Otherwise, the folder could impersonate another project and read its memory.
    fn at_pointer(folder: &Path, entry: &Path) -> Self {
        let alone = |repository| Self {
            root: folder.to_owned(),
            work_tree: Some(folder.to_owned()),
            repository,
        };
        let target = pointer_target(folder, entry).filter(|path| is_git_directory(path));
        let Some(target) = target else { return alone(None) };
        let repository = Repository::of(target);
        if repository.git_directory.starts_with(folder) || repository.names_working_tree(folder, entry) {
            return Self {
                root: repository.root(),
                ..alone(Some(repository))
            };
        }
        alone(None)
    }

    /// The project's folder, which identifies the project.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The top of the working tree; `None` in a bare repository and outside git.
    pub fn work_tree(&self) -> Option<&Path> {
        self.work_tree.as_deref()
    }

    /// Whether the directory is in a git repository.
    pub fn is_git(&self) -> bool {
        self.repository.is_some()
    }

    /// The project's path and remote, as they are stored.
    pub fn project(&self) -> Project {
        Project {
            path: Some(self.root.to_string_lossy().into_owned()),
            remote: self.remote(),
        }
    }

    /// The address of the remote `origin`, or of the only remote, [normalized](normalize_remote).
    pub fn remote(&self) -> Option<String> {
        let config = self.repository.as_ref()?.config(None, &[]);
        let names = config.subsections("remote", "url");
        let name = match names.as_slice() {
            [only] => only,
            several => several.iter().find(|name| **name == "origin")?,
        };
        normalize_remote(config.first_in("remote", name, "url")?)
    }

    /// The checked-out branch and commit; empty outside git.
    pub fn head(&self) -> Head {
        self.repository
            .as_ref()
            .map(|repository| Head::read(&repository.git_directory, &repository.common_directory))
            .unwrap_or_default()
    }

    /// The configured Git user: from the repository's configuration, or else from the global configuration in
    /// the home directory `home`.
    pub fn user(&self, home: Option<&Path>) -> GitUser {
        let global: Vec<PathBuf> = home
            .map(|home| vec![home.join(".config/git/config"), home.join(".gitconfig")])
            .unwrap_or_default();
        let config = match &self.repository {
            Some(repository) => repository.config(home, &global),
            None => Config::read(
                &global,
                IncludeContext {
                    home,
                    git_directory: None,
                },
            ),
        };
        let value = |key| {
            config
                .last("user", key)
                .map(str::trim)
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        GitUser {
            name: value("name"),
            email: value("email"),
        }
    }
}

impl Repository {
    /// The repository of a git directory. It is that of a linked working tree if it is in the `worktrees` folder of its common
    /// directory. Other common directories are not trusted.
    fn of(git_directory: PathBuf) -> Self {
        let common_directory = small_text(&git_directory.join("commondir"), POINTER_LIMIT)
            .and_then(|text| git_directory.join(text.trim()).canonicalize().ok())
            .filter(|path| is_git_directory(path) && git_directory.parent() == Some(&path.join("worktrees")))
            .unwrap_or_else(|| git_directory.clone());
        Self {
            git_directory,
            common_directory,
        }
    }

    fn config(&self, home: Option<&Path>, global: &[PathBuf]) -> Config {
        let mut paths = global.to_vec();
        paths.push(self.common_directory.join("config"));
        Config::read(
            &paths,
            IncludeContext {
                home,
                git_directory: Some(&self.git_directory),
            },
        )
    }

    /// The project's folder.
    fn root(&self) -> PathBuf {
        let common = &self.common_directory;
        match common.parent() {
            Some(parent) if common.file_name().is_some_and(|name| name == ".git") => parent.to_owned(),
            _ => self.configured_work_tree().unwrap_or_else(|| common.clone()),
        }
    }

    /// The main working tree from `core.worktree`, as set in submodules, if its pointer refers back to this repository.
    fn configured_work_tree(&self) -> Option<PathBuf> {
        let config = self.config(None, &[]);
        let work_tree = self
            .common_directory
            .join(config.last("core", "worktree")?)
            .canonicalize()
            .ok()?;
        (pointer_target(&work_tree, &work_tree.join(".git"))? == self.common_directory).then_some(work_tree)
    }

    /// Whether the repository lists the working tree in `folder` with the pointer `entry`.
    fn names_working_tree(&self, folder: &Path, entry: &Path) -> bool {
        if self.git_directory == self.common_directory {
            return self.configured_work_tree().as_deref() == Some(folder);
        }
        let back = small_text(&self.git_directory.join("gitdir"), POINTER_LIMIT)
            .and_then(|text| self.git_directory.join(text.trim()).canonicalize().ok());
        back.as_deref() == Some(entry)
    }
}

/// The target of the `.git` file `entry` in `folder`.
fn pointer_target(folder: &Path, entry: &Path) -> Option<PathBuf> {
    let text = small_text(entry, POINTER_LIMIT)?;
    folder
        .join(text.strip_prefix("gitdir:")?.trim())
        .canonicalize()
        .ok()
}

/// Whether the path looks like a git directory.
fn is_git_directory(path: &Path) -> bool {
    path.join("HEAD").is_file()
        && (path.join("commondir").is_file() || (path.join("objects").is_dir() && path.join("refs").is_dir()))
}

#[cfg(test)]
mod tests;
