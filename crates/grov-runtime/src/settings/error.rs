//! Errors of a configuration.

use super::origin::Origin;
use super::value::InvalidValue;
use std::path::PathBuf;

/// Exit code for bad usage and bad configuration (`EX_USAGE` of sysexits.h).
pub const EXIT_USAGE: u8 = 64;

/// Why a configuration cannot be used. The program exits with [`EXIT_USAGE`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A value has the wrong type or is out of range.
    #[error("{origin}: {key} must be {expected}, but is {found}")]
    Invalid {
        /// The setting.
        key: &'static str,
        /// Where the value was found.
        origin: Origin,
        /// Describes valid values.
        expected: String,
        /// The invalid value.
        found: InvalidValue,
    },
    /// A file is not valid TOML.
    #[error("{}:{line}: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A file cannot be read.
    #[error("{} cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// This version refuses the value of a setting.
    #[error("{origin}: {reason}")]
    Refused {
        /// Where the value was found.
        origin: Origin,
        /// The reason.
        reason: String,
        /// What to do.
        hint: &'static str,
    },
    /// Settings do not fit together.
    #[error("{reason}")]
    Incomplete {
        /// What is missing, or does not fit.
        reason: String,
        /// What to do.
        hint: &'static str,
    },
    /// There is no setting of that name.
    #[error("there is no setting {name:?}")]
    UnknownKey {
        /// The requested name.
        name: String,
        /// The known name nearest to it.
        nearest: Option<&'static str>,
    },
    /// The value that a setting shall have is not valid.
    #[error("{key} must be {expected}, but is {found}")]
    InvalidText {
        /// The setting.
        key: &'static str,
        /// What it must be.
        expected: String,
        /// The invalid value.
        found: InvalidValue,
    },
    /// A project's file may not set it.
    #[error("a project's file may not set {key}")]
    NotForProjects {
        /// The setting.
        key: &'static str,
    },
    /// A setting was read as the wrong type, which is a bug.
    #[error("the setting {0} was read as the wrong type; this is a bug in Grov")]
    Mistyped(&'static str),
}

impl SettingsError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Invalid { key, .. } => Some(format!(
                "`grov config list` shows every setting; {key} is one of them"
            )),
            Self::Syntax { .. } => {
                Some("the file must be TOML: [section] lines and key = value lines".to_owned())
            }
            Self::Unreadable { .. } => Some("check the path and its permissions".to_owned()),
            Self::Refused { hint, .. } | Self::Incomplete { hint, .. } => Some((*hint).to_owned()),
            Self::UnknownKey {
                nearest: Some(nearest),
                ..
            } => Some(format!("did you mean {nearest}?")),
            Self::UnknownKey { nearest: None, .. } => {
                Some("`grov config list` shows every setting".to_owned())
            }
            Self::NotForProjects { key } => Some(format!(
                "a cloned repository must not redirect traffic or weaken protection; set it for yourself: grov config set {key} VALUE"
            )),
            Self::InvalidText { key, .. } => Some(format!("`grov config explain {key}` says what it means")),
            Self::Mistyped(_) => None,
        }
    }
}
