//! Why a command ended without its answer.

use crate::table::one_line;
use grov_domain::StoreError;
use grov_runtime::{EXIT_USAGE, HomeError, SettingsError};
use serde::Serialize;
use std::fmt;
use std::io;

/// Exit code of a negative result.
pub(crate) const EXIT_NEGATIVE: u8 = 1;
/// Exit code of an error.
pub(crate) const EXIT_ERROR: u8 = 2;

/// Matches of an ambiguous name that are listed.
const MAX_LISTED: usize = 8;

/// Why a command ended without its answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of standard output closed it. Not an error.
    BrokenPipe,
    /// An error to report.
    Report(Report),
}

/// An error as it is reported: to a person as text, to a script as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// A stable name for scripts.
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    #[serde(skip)]
    pub(crate) exit_code: u8,
}

impl Failure {
    pub(crate) fn new(kind: &'static str, exit_code: u8, message: impl Into<String>) -> Self {
        Self::Report(Report {
            kind,
            message: message.into(),
            hint: None,
            exit_code,
        })
    }

    /// An error with exit code 2.
    pub(crate) fn error(kind: &'static str, message: impl Into<String>) -> Self {
        Self::new(kind, EXIT_ERROR, message)
    }

    /// A negative result: the requested item does not exist or a condition does not hold. Exit code 1.
    pub(crate) fn negative(kind: &'static str, message: impl Into<String>) -> Self {
        Self::new(kind, EXIT_NEGATIVE, message)
    }

    /// Bad usage, exit code 64.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new("usage", EXIT_USAGE, message)
    }

    /// Bad usage: several items match a name. The first ones are listed.
    pub(crate) fn ambiguous(name: &str, what: &str, matches: impl IntoIterator<Item = String>) -> Self {
        let mut message = format!("{:?} matches several {what}:", one_line(name));
        for (place, item) in matches.into_iter().take(MAX_LISTED + 1).enumerate() {
            message.push_str("\n  ");
            message.push_str(if place < MAX_LISTED { &item } else { "…" });
        }
        Self::usage(message).hint("use a longer part of the id")
    }

    /// Adds a hint, before the one that is there.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Self::Report(report) = &mut self {
            let mut hint = hint.into();
            if let Some(present) = &report.hint {
                hint = format!("{hint}; {present}");
            }
            report.hint = Some(hint);
        }
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BrokenPipe => f.write_str("standard output was closed"),
            Self::Report(report) => f.write_str(&report.message),
        }
    }
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        let kind = match &error {
            SettingsError::Refused { .. } | SettingsError::NotForProjects { .. } => "refused",
            SettingsError::UnknownKey { .. } | SettingsError::InvalidText { .. } => "usage",
            _ => "configuration",
        };
        let failure = Self::new(kind, EXIT_USAGE, error.to_string());
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<HomeError> for Failure {
    fn from(error: HomeError) -> Self {
        let exit_code = match &error {
            HomeError::Unknown | HomeError::Relative { .. } => EXIT_USAGE,
            _ => EXIT_ERROR,
        };
        Self::new("home", exit_code, error.to_string()).hint(error.hint())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let (kind, hint) = match &error {
            StoreError::Busy(_) => (
                "store_busy",
                "another process is writing to the database; try again",
            ),
            StoreError::NotWritable(_) => (
                "store_not_writable",
                "check the free disk space and the permissions of the file",
            ),
            StoreError::NewerSchema { .. } => ("store_newer", "install the newest version of Grov"),
            StoreError::Corrupt(_) => (
                "store_corrupt",
                "grov doctor says how to get back what can be read, and how to begin a new one",
            ),
            _ => return Self::error("store", error.to_string()),
        };
        Self::error(kind, error.to_string()).hint(hint)
    }
}

/// For standard output only: errors of other files name the file.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::error("output", format!("cannot write to standard output: {error}")),
        }
    }
}
