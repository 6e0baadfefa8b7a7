//! Errors of plans.

use std::io;
use std::path::{Path, PathBuf};

/// Why a plan could not be found, read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The directory is not in the working tree of a git repository.
    #[error("{} is not in the working tree of a git repository", path.display())]
    NoRepository {
        /// The directory.
        path: PathBuf,
    },
    /// There is no plan for the branch.
    #[error("the branch {branch} has no plan")]
    NoPlan {
        /// The branch's name, or that HEAD is detached.
        branch: String,
    },
    /// The directory has no `plan.md`.
    #[error("{} does not exist", path.display())]
    NoPlanText {
        /// The file.
        path: PathBuf,
    },
    /// A file stands where a directory is needed, or the other way round.
    #[error("{} is not a {wanted}", path.display())]
    WrongKind {
        /// The path.
        path: PathBuf,
        /// What it should be, such as `directory` or `regular file`.
        wanted: &'static str,
    },
    /// A symbolic link leads out of the working tree.
    #[error("{} leads out of the project by a symbolic link", path.display())]
    Outside {
        /// The path.
        path: PathBuf,
    },
    /// Every name that the directory of a branch may have belongs to another branch.
    #[error("{} belongs to another branch", path.display())]
    Taken {
        /// The last directory that was tried.
        path: PathBuf,
    },
    /// A file is longer than the limit.
    #[error("{} has more than {limit} bytes", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// A plan is not UTF-8.
    #[error("{} is not UTF-8", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// A file changed while it was edited, several times in a row.
    #[error("{} changed while it was edited; nothing was written", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A file or directory cannot be read or written.
    #[error("{} cannot be {action}: {error}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// `read`, `written`, `created`, `moved` or `removed`.
        action: &'static str,
        /// The system's error.
        error: io::Error,
    },
    /// The `git` program cannot be started.
    #[error("cannot run git: {0}")]
    NoGit(#[source] io::Error),
    /// A git command failed.
    #[error("git {command} failed: {message}")]
    Git {
        /// The command.
        command: String,
        /// What git wrote to standard error.
        message: String,
    },
    /// A git command did not end in time.
    #[error("git {command} took too long")]
    GitTimedOut {
        /// The command.
        command: String,
    },
    /// Another process changes the plans of this project.
    #[error("another process is changing the plans of this project")]
    Busy,
    /// The record of switched-on projects cannot be understood.
    #[error("{} cannot be understood: {reason}", path.display())]
    BadRecord {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

impl PlanError {
    /// What the user can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoRepository { .. } => "change to a git repository, or create one with git init",
            Self::NoPlan { .. } => {
                "list the plans with `plans list`; a plan starts with the first prompt on its branch, or with a plan.md in its directory"
            }
            Self::NoPlanText { .. } => "write the plan to that file first",
            Self::WrongKind { .. } => "move it away, or name another path",
            Self::Outside { .. } => "replace the link by a directory or file in the project",
            Self::Taken { .. } => "archive the plan of the other branch with `plans archive`",
            Self::TooLong { .. } => "shorten the file",
            Self::NotText { .. } => "save the file as UTF-8",
            Self::Changed { .. } | Self::Busy => "try again when nothing else writes to it",
            Self::Io { .. } => "check that it exists and that you may read and write it",
            Self::NoGit(_) => "install git, and check that it is in PATH",
            Self::Git { .. } => "run the command yourself to see what is wrong with the repository",
            Self::GitTimedOut { .. } => "try again; `plans gc` without --quiet has no time limit of its own",
            Self::BadRecord { .. } => "remove the file and switch plans on again",
        }
    }

    /// A stable name for scripts.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoRepository { .. } => "no_repository",
            Self::NoPlan { .. } => "no_plan",
            Self::NoPlanText { .. } => "no_plan_text",
            Self::WrongKind { .. } => "wrong_kind",
            Self::Outside { .. } => "outside_project",
            Self::Taken { .. } => "taken",
            Self::TooLong { .. } => "too_long",
            Self::NotText { .. } => "not_text",
            Self::Changed { .. } => "changed",
            Self::Io { .. } => "io",
            Self::NoGit(_) | Self::Git { .. } | Self::GitTimedOut { .. } => "git",
            Self::Busy => "busy",
            Self::BadRecord { .. } => "bad_record",
        }
    }

    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { path, action, error }
    }
}
