//! Errors of settings files.

use std::path::PathBuf;
use thiserror::Error;

/// A syntax error in a settings file. Lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}, column {column}: {what}")]
pub struct SyntaxError {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
    /// What is wrong.
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
    /// The file is not valid JSON, or has another value where an object or array belongs.
    #[error("{}, {error}; nothing was changed", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The syntax error.
        error: SyntaxError,
    },
    /// The file is not UTF-8.
    #[error("{} is not UTF-8 from byte {valid} on; nothing was changed", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// Number of valid bytes at the beginning.
        valid: usize,
    },
    /// The file cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The file, its backup or the record of changes cannot be written.
    #[error("{} cannot be written: {error}; the settings are as they were", path.display())]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// Another program changed the file meanwhile.
    #[error("{} was changed by another program meanwhile; nothing was changed, try again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The record of changes cannot be parsed.
    #[error("{} cannot be parsed: {error}; it records what Grov changed in settings files, so nothing was changed", path.display())]
    Record {
        /// The record.
        path: PathBuf,
        /// What is wrong.
        error: serde_json::Error,
    },
}
