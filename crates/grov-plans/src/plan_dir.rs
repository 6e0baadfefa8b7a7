//! The plan directories of a working tree.

use crate::branch::Branch;
use crate::file;
use crate::lines::{self, Listed, Query};
use crate::plan_file::PlanFile;
use crate::{PlanError, Status};
use std::collections::HashSet;
use std::io::Write;
use std::path::{Component, Path, PathBuf};

/// The name of the plan in its directory.
pub(crate) const PLAN: &str = "plan.md";
/// The prompts on the branch, one JSON object a line.
pub(crate) const QUERIES: &str = "queries.jsonl";
/// The files that prompts mention, one JSON object a line.
pub(crate) const FILES: &str = "files.jsonl";
/// The exact name of the branch.
const BRANCH: &str = "branch";
/// The maximum length of a recorded branch name in bytes.
const MAX_BRANCH: u64 = 8 * 1024;

/// The folder of all plans of a working tree. It need not exist.
pub fn plans_folder(work_tree: &Path) -> PathBuf {
    work_tree.join(".claude/plans")
}

/// The plan directory of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanDir {
    /// The top of the working tree, with symbolic links resolved.
    root: PathBuf,
    path: PathBuf,
    branch: Option<Branch>,
}

impl PlanDir {
    /// Finds the plan directory of a branch; `None` if it has none.
    ///
    /// A directory that names no branch belongs to the branch whose name it has.
    ///
    /// # Errors
    /// The folder of plans or the directory is no directory, leads out of the working tree, or cannot be read.
    pub fn find(work_tree: &Path, branch: &Branch) -> Result<Option<Self>, PlanError> {
        let Some((root, folder)) = existing_folder(work_tree)? else {
            return Ok(None);
        };
        let mut unnamed = None;
        let mut fault = None;
        for name in branch.directory_names() {
            match Self::at(&root, &folder.join(name)) {
                Ok(Some(plan)) if plan.branch.as_ref() == Some(branch) => return Ok(Some(plan)),
                Ok(Some(plan)) if plan.branch.is_none() => unnamed = unnamed.or(Some(plan)),
                Ok(_) => {}
                Err(error) => fault = fault.or(Some(error)),
            }
        }
        match (unnamed, fault) {
            (Some(plan), _) => Ok(Some(plan.of_branch(branch))),
            (None, Some(fault)) => Err(fault),
            // The plan of a renamed branch keeps its directory.
            (None, None) => {
                let (plans, _) = Self::all(work_tree)?;
                Ok(plans
                    .into_iter()
                    .find(|plan| plan.branch.as_ref() == Some(branch)))
            }
        }
    }

    /// Finds the plan directory of a branch, or creates an empty one. The branch is recorded in it.
    ///
    /// # Errors
    /// As [`PlanDir::find`]; [`PlanError::Taken`]; it cannot be created.
    pub fn find_or_create(work_tree: &Path, branch: &Branch) -> Result<Self, PlanError> {
        if let Some(plan) = Self::find(work_tree, branch)? {
            plan.record_branch(branch)?;
            return Ok(plan);
        }
        let folder = plans_folder(work_tree);
        std::fs::create_dir_all(&folder).map_err(PlanError::io(&folder, "created"))?;
        let Some((root, folder)) = existing_folder(work_tree)? else {
            return Err(PlanError::WrongKind {
                path: folder,
                wanted: "directory",
            });
        };
        let mut path = folder.clone();
        for name in branch.directory_names() {
            path = folder.join(name);
            if let Err(error) = std::fs::create_dir(&path)
                && error.kind() != std::io::ErrorKind::AlreadyExists
            {
                return Err(PlanError::io(&path, "created")(error));
            }
            file::create(&path.join(BRANCH), format!("{branch}\n").as_bytes())?;
            // Another process may have created it for another branch meanwhile.
            if let Some(plan) = Self::at(&root, &path)?
                && plan.branch.as_ref() == Some(branch)
            {
                return Ok(plan);
            }
        }
        Err(PlanError::Taken { path })
    }

    /// Opens the plan directory at a path, which need not be in the folder of plans.
    ///
    /// # Errors
    /// It does not exist, is no directory, or is outside of the working tree.
    pub fn open(work_tree: &Path, path: &Path) -> Result<Self, PlanError> {
        let root = canonical(work_tree)?;
        let path = std::path::absolute(path).map_err(PlanError::io(path, "read"))?;
        match Self::at(&root, &path)? {
            Some(plan) => Ok(plan),
            None => Err(PlanError::io(&path, "read")(std::io::ErrorKind::NotFound.into())),
        }
    }

    /// All plan directories of a working tree, sorted by name. Directories without any file of a plan are left out, and so are
    /// entries that cannot be read: their errors are returned too.
    ///
    /// # Errors
    /// The folder of plans is no directory, leads out of the working tree, or cannot be read.
    pub fn all(work_tree: &Path) -> Result<(Vec<Self>, Vec<PlanError>), PlanError> {
        let Some((root, folder)) = existing_folder(work_tree)? else {
            return Ok((Vec::new(), Vec::new()));
        };
        let (mut plans, mut faults) = (Vec::new(), Vec::new());
        let entries = std::fs::read_dir(&folder).map_err(PlanError::io(&folder, "read"))?;
        for entry in entries {
            let entry = entry.map_err(PlanError::io(&folder, "read"))?;
            let name = entry.file_name();
            // Hidden entries are the archive and files that are being written.
            if name.to_string_lossy().starts_with('.') {
                continue;
            }
            match Self::at(&root, &entry.path()) {
                Ok(Some(plan)) if plan.has_files() => plans.push(plan),
                // A plan that is a single file is not one of a branch.
                Ok(_) | Err(PlanError::WrongKind { .. }) => {}
                Err(error) => faults.push(error),
            }
        }
        plans.sort_by(|a, b| a.path.cmp(&b.path));
        Ok((plans, faults))
    }

    /// The plan directory at a path; `None` if there is nothing.
    fn at(root: &Path, path: &Path) -> Result<Option<Self>, PlanError> {
        if file::status(path)?.is_none() {
            return Ok(None);
        }
        let real = canonical(path)?;
        if !real.starts_with(root) {
            return Err(PlanError::Outside {
                path: path.to_owned(),
            });
        }
        if !real.is_dir() {
            return Err(PlanError::WrongKind {
                path: path.to_owned(),
                wanted: "directory",
            });
        }
        Ok(Some(Self {
            root: root.to_owned(),
            branch: recorded_branch(&real),
            path: real,
        }))
    }

    fn has_files(&self) -> bool {
        let names = [BRANCH, PLAN, QUERIES, FILES];
        names.iter().any(|name| self.path.join(name).exists())
    }

    fn of_branch(mut self, branch: &Branch) -> Self {
        self.branch = Some(branch.clone());
        self
    }

    /// Records the branch if the directory names none.
    pub(crate) fn record_branch(&self, branch: &Branch) -> Result<(), PlanError> {
        file::create(&self.path.join(BRANCH), format!("{branch}\n").as_bytes())?;
        Ok(())
    }

    /// Records that the branch has another name now. The directory keeps its own.
    pub(crate) fn rename_branch(&self, branch: &Branch) -> Result<(), PlanError> {
        file::replace(&self.path.join(BRANCH), format!("{branch}\n").as_bytes())
    }

    /// Whether it holds only what Grov adds by itself.
    pub(crate) fn has_only_lists(&self) -> bool {
        let known = |name: &str| [BRANCH, QUERIES, FILES, crate::record::FILE].contains(&name);
        let entries = std::fs::read_dir(&self.path);
        entries.is_ok_and(|mut entries| {
            entries.all(|entry| entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(known)))
        })
    }

    /// Adds the lists of another plan directory that has nothing else, and removes that.
    pub(crate) fn absorb(&self, other: &Self) -> Result<(), PlanError> {
        for name in [QUERIES, FILES] {
            let Some((added, _)) = file::read_beginning(&other.inside(name)?, lines::MAX_LIST)? else {
                continue;
            };
            let path = self.inside(name)?;
            let (mut list, _) = file::open_to_append(&path)?;
            list.write_all(&added).map_err(PlanError::io(&path, "written"))?;
        }
        std::fs::remove_dir_all(&other.path).map_err(PlanError::io(&other.path, "removed"))
    }

    /// The branch that the directory names; `None` if it names none.
    pub fn branch(&self) -> Option<&Branch> {
        self.branch.as_ref()
    }

    /// The directory, with symbolic links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory's name.
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The file `plan.md`, which need not exist.
    ///
    /// # Errors
    /// As [`PlanFile::at`].
    pub fn plan_file(&self) -> Result<PlanFile, PlanError> {
        PlanFile::at(&self.root, &self.path.join(PLAN))
    }

    /// The text of the plan; `None` if there is none yet.
    ///
    /// # Errors
    /// As [`PlanDir::plan_file`] and [`PlanFile::text`].
    pub fn text(&self) -> Result<Option<String>, PlanError> {
        self.plan_file()?.text()
    }

    /// The status of the plan and the text after it, such as who approved it; `None` if there is no plan yet.
    ///
    /// # Errors
    /// As [`PlanDir::text`].
    pub fn status(&self) -> Result<Option<(Status, Option<String>)>, PlanError> {
        self.plan_file()?.status()
    }

    /// The prompts on the branch, oldest first. Broken lines are skipped and counted.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn queries(&self) -> Result<Listed<Query>, PlanError> {
        lines::read(&self.inside(QUERIES)?)
    }

    /// The files that prompts mentioned, relative to the top of the working tree, each once. They need not exist in what is
    /// checked out now. Lines that name anything else, files of git, or plans are skipped and counted.
    ///
    /// # Errors
    /// The list cannot be read.
    pub fn mentioned_files(&self) -> Result<Listed<PathBuf>, PlanError> {
        let listed: Listed<lines::MentionedFile> = lines::read(&self.inside(FILES)?)?;
        let mut files = Listed {
            skipped: listed.skipped,
            is_cut: listed.is_cut,
            items: Vec::new(),
        };
        let mut seen = HashSet::new();
        for mentioned in listed.items {
            let path = PathBuf::from(mentioned.path);
            let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
            if !is_below || path.as_os_str().is_empty() || is_own(&path) {
                files.skipped += 1;
            } else if seen.insert(path.clone()) {
                files.items.push(path);
            }
        }
        Ok(files)
    }

    /// The [mentioned files](Self::mentioned_files) that exist now. Those that do not, and links that lead out of the working
    /// tree, are skipped and counted.
    ///
    /// # Errors
    /// The list cannot be read.
    pub fn files(&self) -> Result<Listed<PathBuf>, PlanError> {
        let mut files = self.mentioned_files()?;
        let mentioned = files.items.len();
        files.items.retain(|path| inside_file(&self.root, path));
        files.skipped += mentioned - files.items.len();
        Ok(files)
    }

    /// The top of the working tree, with symbolic links resolved.
    pub fn work_tree(&self) -> &Path {
        &self.root
    }

    /// The path of a file that Grov keeps in the directory; an error if it is a symbolic link. A repository may contain one that
    /// leads to a file with keys.
    pub(crate) fn inside(&self, name: &str) -> Result<PathBuf, PlanError> {
        let path = self.path.join(name);
        match file::status(&path)? {
            Some(status) if status.is_symlink() => match canonical(&path)?.starts_with(&self.root) {
                true => Err(PlanError::WrongKind {
                    path,
                    wanted: "regular file",
                }),
                false => Err(PlanError::Outside { path }),
            },
            _ => Ok(path),
        }
    }
}

/// Whether a path names a regular file in `root`, also after symbolic links are resolved.
fn inside_file(root: &Path, path: &Path) -> bool {
    let real = root.join(path).canonicalize();
    real.is_ok_and(|real| {
        let inside = real.strip_prefix(root);
        inside.is_ok_and(|inside| !is_own(inside)) && real.is_file()
    })
}

/// Whether a path in the working tree leads to git's files.
pub(crate) fn is_of_git(path: &Path) -> bool {
    path.iter().any(|part| part.eq_ignore_ascii_case(".git"))
}

/// Whether a path in the working tree leads to git's files or Grov's lists, which are not what the user works on.
pub(crate) fn is_own(path: &Path) -> bool {
    is_of_git(path) || path.starts_with(".claude/plans")
}

fn recorded_branch(directory: &Path) -> Option<Branch> {
    let (bytes, _) = file::read_beginning(&directory.join(BRANCH), MAX_BRANCH).ok()??;
    let text = String::from_utf8_lossy(&bytes);
    let name = text.lines().next().filter(|name| !name.is_empty())?;
    Some(Branch::of(Some(name)))
}

/// The working tree and its folder of plans, with symbolic links resolved; `None` if there is no folder.
pub(crate) fn existing_folder(work_tree: &Path) -> Result<Option<(PathBuf, PathBuf)>, PlanError> {
    let folder = plans_folder(work_tree);
    if file::status(&folder)?.is_none() {
        // `.claude` may be a file, which hides everything below it.
        return match file::status(&work_tree.join(".claude"))? {
            Some(status) if !status.is_dir() && !status.is_symlink() => Err(PlanError::WrongKind {
                path: work_tree.join(".claude"),
                wanted: "directory",
            }),
            _ => Ok(None),
        };
    }
    let (root, real) = (canonical(work_tree)?, canonical(&folder)?);
    if !real.starts_with(&root) {
        return Err(PlanError::Outside { path: folder });
    }
    if !real.is_dir() {
        return Err(PlanError::WrongKind {
            path: folder,
            wanted: "directory",
        });
    }
    Ok(Some((root, real)))
}

pub(crate) fn canonical(path: &Path) -> Result<PathBuf, PlanError> {
    path.canonicalize().map_err(PlanError::io(path, "read"))
}

#[cfg(test)]
mod tests;
