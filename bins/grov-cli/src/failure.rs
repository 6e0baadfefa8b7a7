//! Why a command ended without its answer.

use grov_domain::StoreError;
use grov_runtime::{EXIT_USAGE, HomeError, SettingsError};
use std::io;

/// Exit code of a negative result.
pub(crate) const EXIT_NEGATIVE: u8 = 1;
/// Exit code of an error.
pub(crate) const EXIT_ERROR: u8 = 2;

/// Why a command ended without its answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Whoever read the output has seen enough. No error at all.
    BrokenPipe,
    /// To be told.
    Told(Told),
}

/// What is told to a person, or to a script as JSON.
#[derive(Debug)]
pub(crate) struct Told {
    /// A name that scripts can compare.
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) exit_code: u8,
}

impl Failure {
    /// An error with exit code 2.
    pub(crate) fn error(kind: &'static str, message: impl Into<String>, hint: Option<&str>) -> Self {
        let (message, hint) = (message.into(), hint.map(str::to_owned));
        Self::Told(Told {
            kind,
            message,
            hint,
            exit_code: EXIT_ERROR,
        })
    }

    /// A negative result: what was asked for is not there or does not hold. Exit code 1.
    pub(crate) fn negative(kind: &'static str, message: impl Into<String>, hint: Option<&str>) -> Self {
        let (message, hint) = (message.into(), hint.map(str::to_owned));
        Self::Told(Told {
            kind,
            message,
            hint,
            exit_code: EXIT_NEGATIVE,
        })
    }

    /// The same with this hint in front of its own.
    pub(crate) fn with_hint(self, first: String) -> Self {
        match self {
            Self::BrokenPipe => Self::BrokenPipe,
            Self::Told(told) => Self::Told(Told {
                hint: Some(match told.hint {
                    Some(own) => format!("{first}; {own}"),
                    None => first,
                }),
                ..told
            }),
        }
    }

    /// A command line that cannot be understood, exit code 64.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Told(Told {
            kind: "usage",
            message: message.into(),
            hint: None,
            exit_code: EXIT_USAGE,
        })
    }
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        let kind = match &error {
            SettingsError::Refused { .. } => "refused",
            SettingsError::UnknownKey { .. } => "usage",
            _ => "configuration",
        };
        Self::Told(Told {
            kind,
            message: error.to_string(),
            hint: error.hint(),
            exit_code: EXIT_USAGE,
        })
    }
}

impl From<HomeError> for Failure {
    fn from(error: HomeError) -> Self {
        let exit_code = match &error {
            HomeError::Unknown | HomeError::Relative { .. } => EXIT_USAGE,
            _ => EXIT_ERROR,
        };
        Self::Told(Told {
            kind: "home",
            message: error.to_string(),
            hint: Some(error.hint().to_owned()),
            exit_code,
        })
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let (kind, hint) = match &error {
            StoreError::Busy(_) => ("store_busy", Some("try again; another process is writing to it")),
            StoreError::NotWritable(_) => (
                "store_not_writable",
                Some("check the disk and the file's permissions"),
            ),
            StoreError::NewerSchema { .. } => ("store_newer", Some("install the newest version of Grov")),
            StoreError::Corrupt(_) => (
                "store_corrupt",
                Some("grov-proxyd sets a damaged database aside when it starts and begins a new one"),
            ),
            _ => ("store", None),
        };
        Self::error(kind, error.to_string(), hint)
    }
}

/// For output only: every other use of files says which file it was.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::error(
                "output",
                format!("standard output cannot be written: {error}"),
                None,
            ),
        }
    }
}
