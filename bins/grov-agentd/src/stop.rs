//! Why the program stopped, or did not start.

use grov_runtime::{EXIT_USAGE, SettingsError};

/// An error, its exit code, and what to do.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) code: u8,
    pub(crate) error: anyhow::Error,
    pub(crate) hint: Option<String>,
}

impl Stop {
    /// An error in the command line or the settings.
    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self {
            code: EXIT_USAGE,
            error: error.into(),
            hint: None,
        }
    }

    /// Any other error.
    pub(crate) fn fault(error: impl Into<anyhow::Error>) -> Self {
        Self {
            code: 2,
            ..Self::usage(error)
        }
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// An error of the settings, which several parts may report.
    pub(crate) fn settings(error: &SettingsError) -> Self {
        Self {
            hint: error.hint(),
            ..Self::usage(anyhow::anyhow!("{error}"))
        }
    }
}
