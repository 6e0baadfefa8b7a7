//! Whether the work of a branch is in a main branch, found by comparing commits and contents.
//!
//! | merged by | recognized by |
//! |---|---|
//! | a merge commit, fast-forward, also at a remote | the commit is an ancestor of the main branch |
//! | rebase, cherry-pick | every commit has one with the same patch in the main branch |
//! | squash | the branch's whole difference is the patch of one commit in the main branch |
//! | squash or rebase on changed neighbours | merging the branch into a commit of the main branch changes nothing |

use super::Git;
use crate::PlanError;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// The maximum number of changed files by which commits are filtered; with more, all commits are compared.
const MAX_PATHS: usize = 200;
/// The maximum number of commits of the main branch that are compared with a branch.
const MAX_COMMITS: usize = 2000;
/// The maximum number of trial merges.
const MAX_MERGES: usize = 500;
/// Options that make a difference independent of the user's configuration.
const PATCH: [&str; 7] = [
    "diff-tree",
    "-p",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--full-index",
    "--no-color",
];

/// How a branch compares with the main branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// Its work is in a main branch.
    Merged,
    /// It has work that is in no main branch.
    Unmerged,
}

/// Compares a branch that is no ancestor of a main branch with each of them. `seen` are commits of the main branches with which it
/// was compared before.
///
/// # Errors
/// Git fails or takes too long.
pub(crate) fn compare(
    git: &Git,
    tip: &str,
    mains: &BTreeSet<String>,
    seen: &[&str],
) -> Result<Comparison, PlanError> {
    for main in mains {
        if is_in(git, tip, main, seen)? {
            return Ok(Comparison::Merged);
        }
    }
    Ok(Comparison::Unmerged)
}

fn is_in(git: &Git, tip: &str, main: &str, seen: &[&str]) -> Result<bool, PlanError> {
    let Some(base) = git.try_read(&["merge-base", main, tip])? else {
        // Unrelated histories.
        return Ok(false);
    };
    // The main branch has nothing that the branch does not have.
    if base == main {
        return Ok(false);
    }
    let paths = changed_paths(git, &base, tip)?;
    let commits = commits(git, &base, main, seen, &paths)?;
    if commits.is_empty() {
        return Ok(false);
    }
    if has_same_patches(git, tip, main)? {
        return Ok(true);
    }
    let Some(patch) = patch_ids(git, &[base.as_str(), tip], None)?.into_iter().next() else {
        // It changes nothing in total, so its contents cannot be recognized.
        return Ok(false);
    };
    Ok(squashed(git, &patch, &commits, &paths)? || merges_to_nothing(git, tip, &commits)?)
}

/// Whether each commit of the branch has one with the same patch in the main branch.
fn has_same_patches(git: &Git, tip: &str, main: &str) -> Result<bool, PlanError> {
    let listed = git.read(&["cherry", main, tip])?;
    Ok(!listed.is_empty() && listed.lines().all(|line| line.starts_with('-')))
}

/// The ids of patches: of one between two commits, or of each commit in `input` as far as it changes `paths`.
fn patch_ids(git: &Git, arguments: &[&str], input: Option<&[u8]>) -> Result<HashSet<String>, PlanError> {
    let arguments: Vec<&str> = PATCH.iter().chain(arguments).copied().collect();
    let output = git.run_piped(&arguments, input, &["patch-id", "--stable"])?;
    if !output.is_success {
        return Err(PlanError::Git {
            command: "diff-tree".to_owned(),
            message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        });
    }
    let ids = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(ids
        .lines()
        .filter_map(|line| Some(line.split(' ').next()?.to_owned()))
        .collect())
}

/// The files that the branch changed; empty if they are too many, or not text.
fn changed_paths(git: &Git, base: &str, tip: &str) -> Result<Vec<String>, PlanError> {
    let output = git.run(
        &["diff-tree", "-r", "-z", "--name-only", "--no-renames", base, tip],
        None,
    )?;
    let Ok(names) = String::from_utf8(output.stdout) else {
        return Ok(Vec::new());
    };
    let paths: Vec<String> = names
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    Ok(if paths.len() > MAX_PATHS {
        Vec::new()
    } else {
        paths
    })
}

/// The newest commits of the main branch since the branches parted that change these files, with their trees, but those in
/// the history of `seen`.
fn commits(
    git: &Git,
    base: &str,
    main: &str,
    seen: &[&str],
    paths: &[String],
) -> Result<Vec<(String, String)>, PlanError> {
    let most = format!("--max-count={MAX_COMMITS}");
    let excluded: Vec<String> = seen
        .iter()
        .chain([&base])
        .map(|commit| format!("^{commit}"))
        .collect();
    // A commit that was seen may have been removed since.
    let mut arguments = vec!["rev-list", "--ignore-missing", "--format=%H %T", &most, main];
    arguments.extend(excluded.iter().map(String::as_str));
    arguments.push("--");
    arguments.extend(paths.iter().map(String::as_str));
    let listed = git.read(&arguments)?;
    let lines = listed.lines().filter(|line| !line.starts_with("commit "));
    let pair = |line: &str| {
        let (commit, tree) = line.split_once(' ')?;
        Some((commit.to_owned(), tree.to_owned()))
    };
    Ok(lines.filter_map(pair).collect())
}

/// Whether the difference of the branch is the patch of one of these commits.
fn squashed(
    git: &Git,
    patch: &str,
    commits: &[(String, String)],
    paths: &[String],
) -> Result<bool, PlanError> {
    let input: String = commits.iter().map(|(commit, _)| format!("{commit}\n")).collect();
    let mut arguments = vec!["--stdin", "--"];
    arguments.extend(paths.iter().map(String::as_str));
    Ok(patch_ids(git, &arguments, Some(input.as_bytes()))?.contains(patch))
}

/// Whether merging the branch into one of these commits changes nothing: then the commit has all of its work.
fn merges_to_nothing(git: &Git, tip: &str, commits: &[(String, String)]) -> Result<bool, PlanError> {
    let objects = tempfile::tempdir().map_err(PlanError::io(&std::env::temp_dir(), "written"))?;
    let existing = git.read(&["rev-parse", "--git-path", "objects"])?;
    let existing: PathBuf = git.tree().join(Path::new(existing.trim_end_matches('\n')));
    let commits = &commits[..commits.len().min(MAX_MERGES)];
    let input: String = commits
        .iter()
        .map(|(commit, _)| format!("{commit} {tip}\n"))
        .collect();
    let output = git.writing_to(objects.path(), &existing).run(
        &["merge-tree", "--stdin", "--no-messages"],
        Some(input.as_bytes()),
    )?;
    // Git before 2.39 cannot do this.
    if !output.is_success {
        return Ok(false);
    }
    // Of each merge: 1 or 0 for a conflict, the tree, the files in conflict, and an empty field.
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut fields = output.split('\0');
    for (_, tree) in commits {
        let (is_clean, merged) = (fields.next() == Some("1"), fields.next());
        if is_clean && merged == Some(tree) {
            return Ok(true);
        }
        fields.find(|field| field.is_empty());
    }
    Ok(false)
}
