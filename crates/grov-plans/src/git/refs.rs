//! The branches of a repository, of its remotes, and those that are checked out.

use super::Git;
use crate::PlanError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Names of branches into which others are merged, besides those that a remote names as its HEAD.
const MAIN_NAMES: [&str; 5] = ["main", "master", "trunk", "develop", "development"];

/// The branches of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refs {
    /// Local branches with their commits.
    pub(crate) heads: BTreeMap<String, String>,
    /// Branches of remotes as they were fetched, with one commit for each remote.
    pub(crate) remotes: BTreeMap<String, Vec<String>>,
    /// Branches that are checked out in a working tree, also without commits.
    pub(crate) checked_out: BTreeSet<String>,
    /// The names of main branches, into which others are merged.
    pub(crate) main_names: BTreeSet<String>,
    /// The working trees.
    pub(crate) trees: Vec<PathBuf>,
}

impl Refs {
    pub(crate) fn read(git: &Git) -> Result<Self, PlanError> {
        let mut refs = Self::default();
        let format = "--format=%(refname)%09%(objectname)%09%(symref)";
        let listed = git.read(&["for-each-ref", format, "refs/heads", "refs/remotes"])?;
        for line in listed.lines() {
            let mut fields = line.split('\t');
            let (Some(name), Some(commit)) = (fields.next(), fields.next()) else {
                continue;
            };
            refs.add(name, commit, fields.next().unwrap_or_default());
        }
        for line in git.read(&["worktree", "list", "--porcelain"])?.lines() {
            if let Some(name) = line.strip_prefix("branch refs/heads/") {
                refs.checked_out.insert(name.to_owned());
            } else if let Some(path) = line.strip_prefix("worktree ") {
                refs.trees.push(PathBuf::from(path));
            }
        }
        refs.main_names.extend(MAIN_NAMES.map(str::to_owned));
        if refs.mains().is_empty()
            && let Some(name) = git.try_read(&["config", "init.defaultBranch"])?
        {
            refs.main_names.insert(name);
        }
        Ok(refs)
    }

    fn add(&mut self, name: &str, commit: &str, target: &str) {
        if let Some(name) = name.strip_prefix("refs/heads/") {
            self.heads.insert(name.to_owned(), commit.to_owned());
        } else if let Some((remote, branch)) = name
            .strip_prefix("refs/remotes/")
            .and_then(|name| name.split_once('/'))
        {
            if branch == "HEAD" {
                let main = target
                    .strip_prefix("refs/remotes/")
                    .and_then(|name| name.strip_prefix(remote));
                self.main_names
                    .extend(main.map(|name| name.trim_start_matches('/').to_owned()));
            } else {
                self.remotes
                    .entry(branch.to_owned())
                    .or_default()
                    .push(commit.to_owned());
            }
        }
    }

    /// The commits of the main branches, locally and at remotes.
    pub(crate) fn mains(&self) -> BTreeSet<String> {
        let of = |name: &String| {
            let remotes = self.remotes.get(name).into_iter().flatten();
            self.heads.get(name).into_iter().chain(remotes)
        };
        self.main_names.iter().flat_map(of).cloned().collect()
    }

    /// The commits of the main branches without those that are in the history of another one.
    pub(crate) fn independent_mains(&self, git: &Git) -> Result<BTreeSet<String>, PlanError> {
        let mains = self.mains();
        if mains.len() < 2 {
            return Ok(mains);
        }
        let mut arguments = vec!["merge-base", "--independent"];
        arguments.extend(mains.iter().map(String::as_str));
        Ok(git.read(&arguments)?.lines().map(str::to_owned).collect())
    }

    /// Whether the branch exists: locally, at a remote, or as a checked-out branch without commits.
    pub(crate) fn exists(&self, name: &str) -> bool {
        self.heads.contains_key(name) || self.remotes.contains_key(name) || self.checked_out.contains(name)
    }

    /// The newest commit of a branch: the local one, else one of a remote.
    pub(crate) fn tip(&self, name: &str) -> Option<&String> {
        self.heads.get(name).or_else(|| self.remotes.get(name)?.first())
    }

    /// The commits of all branches but one, locally and at remotes.
    pub(crate) fn others(&self, name: &str) -> impl Iterator<Item = &String> {
        let heads = self.heads.iter().filter(move |(other, _)| *other != name);
        let remotes = self.remotes.iter().filter(move |(other, _)| *other != name);
        heads
            .map(|(_, commit)| commit)
            .chain(remotes.flat_map(|(_, commits)| commits))
    }
}
