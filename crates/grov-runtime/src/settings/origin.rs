//! The origins of values.

use super::keys::Key;
use super::value::Value;
use std::fmt;
use std::path::{Path, PathBuf};

/// Where a value was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A command-line flag.
    Flag(&'static str),
    /// A variable of the environment.
    Environment(&'static str),
    /// A variable in the home's `.env` file.
    EnvFile {
        /// The variable.
        name: &'static str,
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
    },
    /// The project's file.
    Project {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
    },
    /// The user's file.
    User {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
    },
    /// The default.
    Default,
}

impl Origin {
    pub(super) fn is_project(&self) -> bool {
        matches!(self, Self::Project { .. })
    }

    /// Whether this is a file of the user in this directory.
    fn is_within(&self, directory: &Path) -> bool {
        match self {
            Self::EnvFile { path, .. } | Self::User { path, .. } => path.parent() == Some(directory),
            _ => false,
        }
    }

    /// The kind of origin: `flag`, `environment`, `env_file`, `project`, `user` or `default`.
    pub fn rank(&self) -> &'static str {
        match self {
            Self::Flag(_) => "flag",
            Self::Environment(_) => "environment",
            Self::EnvFile { .. } => "env_file",
            Self::Project { .. } => "project",
            Self::User { .. } => "user",
            Self::Default => "default",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "flag {name}"),
            Self::Environment(name) => write!(f, "environment variable {name}"),
            Self::EnvFile { name, path, line } => write!(f, "{}:{line} ({name})", path.display()),
            Self::Project { path, line } | Self::User { path, line } => {
                write!(f, "{}:{line}", path.display())
            }
            Self::Default => f.write_str("default"),
        }
    }
}

/// What happened to a value that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CandidateStatus {
    /// It is the value of the setting.
    Used,
    /// A value with higher precedence is used.
    Overridden,
    /// It is not allowed, for this reason.
    Refused(&'static str),
}

impl CandidateStatus {
    /// `used`, `overridden` or `refused`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Overridden => "overridden",
            Self::Refused(_) => "refused",
        }
    }
}

/// A value that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Where it was found.
    pub origin: Origin,
    /// The value without credentials.
    pub shown: String,
    /// Whether it is used.
    pub status: CandidateStatus,
}

/// A setting's value, its origin and the values that it overrides.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The setting.
    pub key: &'static Key,
    /// Its value.
    pub value: Value,
    /// Where the value came from.
    pub origin: Origin,
    /// All values that were found, highest precedence first, the default last.
    pub candidates: Vec<Candidate>,
}

impl Explanation {
    /// Whether a file of the user in this directory has the value that is used.
    pub(super) fn is_confirmed_in(&self, directory: &Path) -> bool {
        let used = self.value.to_string();
        let mut all = self.candidates.iter();
        all.any(|found| found.shown == used && found.origin.is_within(directory))
    }
}

/// A warning about an ignored part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file.
    pub path: PathBuf,
    /// Line number, from 1.
    pub line: usize,
    /// What was ignored and why. Contains no values.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.message)
    }
}
