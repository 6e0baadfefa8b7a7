//! The changes of a branch, read by `git diff`.

use crate::material::clean;
use grov_tools::diff::{BoundedDiff, DiffReader, Limits};
use grov_tools::{ErrorKind, ToolError, is_secret_file};
use std::ffi::OsStr;
use std::io::{ErrorKind as IoKind, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Bytes of a line that are kept while it is read.
const MAX_LINE: usize = 16 * 1024;
/// Untracked files that are named.
const MAX_UNTRACKED: usize = 100;

/// The changes of a branch with those of the working tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The reference that the changes are compared with.
    pub against: String,
    /// The bounded diff, redacted.
    pub diff: BoundedDiff,
    /// Files that git does not track; only their names.
    pub untracked: Vec<String>,
}

/// The top of the working tree that contains `directory`.
///
/// # Errors
///
/// If it is in none, or git is missing.
pub(crate) fn top(directory: &Path) -> Result<PathBuf, ToolError> {
    let output = git(directory, &["rev-parse", "--show-toplevel"])?;
    output.map(PathBuf::from).ok_or_else(|| {
        ToolError::new(
            ErrorKind::Git,
            format!("{} is in no git repository", directory.display()),
        )
        .hint("run the command inside a repository, or name it with --project-root")
    })
}

/// The name of the current branch; `None` for a detached HEAD.
pub(crate) fn branch(directory: &Path) -> Result<Option<String>, ToolError> {
    git(directory, &["symbolic-ref", "--quiet", "--short", "HEAD"])
}

/// The changes since the merge base of `against` (default: the main branch) and HEAD, with those of the working tree.
///
/// # Errors
///
/// If there is no repository, no such reference, or no common ancestor.
pub fn changes(directory: &Path, against: Option<&str>, limits: Limits) -> Result<Changes, ToolError> {
    let top = top(directory)?;
    let against = match against {
        Some(reference) => verified(&top, reference)?.ok_or_else(|| {
            ToolError::new(
                ErrorKind::NotFound,
                format!("there is no branch or commit {reference:?}"),
            )
            .hint("name an existing one with --diff-against")
        })?,
        None => main_branch(&top)?,
    };
    let base = match git(&top, &["merge-base", "--", &against, "HEAD"])? {
        Some(base) => base,
        None if git(&top, &["rev-parse", "--verify", "--quiet", "HEAD"])?.is_none() => {
            return Err(ToolError::new(
                ErrorKind::Git,
                "the repository has no commit, so there is nothing to compare with",
            )
            .hint("commit something first"));
        }
        None => {
            return Err(ToolError::new(
                ErrorKind::Git,
                format!("{against} and HEAD have no common ancestor"),
            )
            .hint("name another reference with --diff-against"));
        }
    };
    let mut diff = diff(&top, &base, limits)?;
    diff.text = clean(&diff.text);
    let untracked = untracked(&top)?;
    Ok(Changes {
        against,
        diff,
        untracked,
    })
}

/// The reference, if it names a commit.
fn verified(top: &Path, reference: &str) -> Result<Option<String>, ToolError> {
    if reference.starts_with('-') {
        return Err(ToolError::usage(format!("{reference:?} is no git reference")));
    }
    let commit = format!("{reference}^{{commit}}");
    let found = git(
        top,
        &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit],
    )?;
    Ok(found.map(|_| reference.to_owned()))
}

/// The remote's default branch, else `main` or `master`.
fn main_branch(top: &Path) -> Result<String, ToolError> {
    let remote = git(
        top,
        &["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"],
    )?;
    let local = remote
        .as_deref()
        .and_then(|name| name.strip_prefix("origin/"))
        .map(str::to_owned);
    let candidates = local
        .into_iter()
        .chain(["main", "master"].map(str::to_owned))
        .chain(remote);
    for name in candidates.chain(["origin/main", "origin/master"].map(str::to_owned)) {
        if verified(top, &name)?.is_some() {
            return Ok(name);
        }
    }
    if git(top, &["rev-parse", "--verify", "--quiet", "HEAD"])?.is_some() {
        return Ok("HEAD".to_owned());
    }
    Err(ToolError::new(
        ErrorKind::Git,
        "the repository has no commit, so there is nothing to compare with",
    )
    .hint("commit something first"))
}

fn command(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(directory)
        .args(["-c", "core.fsmonitor=false", "-c", "core.quotePath=false"])
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// The output of a git command without its last line end; `None` if it failed.
fn git(directory: &Path, arguments: &[&str]) -> Result<Option<String>, ToolError> {
    let output = command(directory).args(arguments).output().map_err(cannot_run)?;
    let text = String::from_utf8_lossy(&output.stdout)
        .trim_end_matches('\n')
        .to_owned();
    Ok(output.status.success().then_some(text))
}

fn cannot_run(error: std::io::Error) -> ToolError {
    let message = match error.kind() {
        IoKind::NotFound => "the program `git` is not installed".to_owned(),
        _ => format!("git cannot be run: {error}"),
    };
    ToolError::new(ErrorKind::Git, message).hint("install git")
}

fn diff(top: &Path, base: &str, limits: Limits) -> Result<BoundedDiff, ToolError> {
    let mut child = command(top)
        .args([
            "diff",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--find-renames",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            base,
        ])
        .arg(OsStr::new("--"))
        .stdout(Stdio::piped())
        .spawn()
        .map_err(cannot_run)?;
    let mut reader = DiffReader::new(limits);
    if let Some(mut stdout) = child.stdout.take() {
        each_line(&mut stdout, |line| reader.line(line)).map_err(cannot_run)?;
    }
    let status = child.wait().map_err(cannot_run)?;
    if !status.success() {
        return Err(
            ToolError::new(ErrorKind::Git, format!("`git diff` failed ({status})"))
                .hint("run it yourself to see why"),
        );
    }
    Ok(reader.finish())
}

/// Calls `with` for each line. Of a long line only the beginning is kept in memory.
fn each_line(input: &mut dyn Read, mut with: impl FnMut(&[u8])) -> std::io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    let mut line: Vec<u8> = Vec::new();
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == IoKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut parts = buffer[..count].split(|byte| *byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            let room = MAX_LINE.saturating_sub(line.len());
            line.extend_from_slice(&part[..part.len().min(room)]);
            if parts.peek().is_some() {
                with(&line);
                line.clear();
            }
        }
    }
    if !line.is_empty() {
        with(&line);
    }
    Ok(())
}

fn untracked(top: &Path) -> Result<Vec<String>, ToolError> {
    let listed = git(top, &["ls-files", "--others", "--exclude-standard", "-z"])?.unwrap_or_default();
    let mut paths: Vec<String> = listed
        .split('\0')
        .filter(|path| !path.is_empty() && !is_secret_file(path))
        .map(str::to_owned)
        .collect();
    if paths.len() > MAX_UNTRACKED {
        let more = paths.len() - MAX_UNTRACKED;
        paths.truncate(MAX_UNTRACKED);
        paths.push(format!("… and {more} more"));
    }
    Ok(paths)
}

#[cfg(test)]
mod tests;
