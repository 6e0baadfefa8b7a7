//! What can be wrong with a settings file.

use std::path::PathBuf;
use thiserror::Error;

/// Where a settings file is not what it should be. Lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}, column {column}: {what}")]
pub struct SyntaxError {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
    /// What is wrong there.
    pub what: &'static str,
}

impl SyntaxError {
    pub(super) fn at(text: &str, offset: usize, what: &'static str) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let before = before.strip_prefix('\u{feff}').unwrap_or(before);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            what,
        }
    }
}

/// Why a settings file was not edited.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// It is no JSON, or has something else where an object or a list belongs.
    #[error("{}, {error}; nothing was changed", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where and what.
        error: SyntaxError,
    },
    /// It is no text.
    #[error("{} is not UTF-8 from byte {valid} on; nothing was changed", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// How many bytes are.
        valid: usize,
    },
    /// It cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// It, its backup or the record of what was changed cannot be written.
    #[error("{} cannot be written: {error}; the settings are as they were", path.display())]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// Somebody else wrote it in between.
    #[error("{} was changed by somebody else meanwhile; nothing was changed, try again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The record of what was changed cannot be understood.
    #[error("{} cannot be understood: {error}; it says what Grov changed in settings files, so nothing was changed", path.display())]
    Record {
        /// The record.
        path: PathBuf,
        /// What is wrong.
        error: serde_json::Error,
    },
}
