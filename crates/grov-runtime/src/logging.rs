//! The log: to standard error, or to a file of limited size.

use crate::home::create_private;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::LogSettings;

/// A log file of this size in bytes is renamed to `NAME.1`, so that both take at most 20 MiB.
const MAX_FILE: u64 = 10 * 1024 * 1024;

/// Why logging could not be initialised.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The levels are invalid.
    #[error("invalid log levels {levels:?}: {reason}")]
    Levels {
        /// As given.
        levels: String,
        /// What is wrong.
        reason: String,
    },
    /// The file cannot be written.
    #[error("the log file {} cannot be written: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Logging is already initialised in this process.
    #[error("logging is already initialised in this process")]
    AlreadyInitialized,
}

/// Initialises the log of this process: lines without colour. Panics are logged with their location but without their message,
/// which may contain a user's text.
pub fn init(settings: &LogSettings) -> Result<(), LogError> {
    let levels: Targets = settings.levels.parse().map_err(|error| LogError::Levels {
        levels: settings.levels.clone(),
        reason: format!("{error}"),
    })?;
    let lines = tracing_subscriber::fmt::layer().with_ansi(false);
    let layer = match &settings.file {
        None => lines.with_writer(io::stderr).boxed(),
        Some(path) => {
            let file = RotatingFile::open(path, MAX_FILE).map_err(|source| LogError::File {
                path: path.clone(),
                source,
            })?;
            lines.with_writer(Mutex::new(file)).boxed()
        }
    };
    tracing_subscriber::registry()
        .with(layer.with_filter(levels))
        .try_init()
        .map_err(|_| LogError::AlreadyInitialized)?;
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place, "panic; this is a bug in Grov");
    }));
    Ok(())
}

/// A file that is rotated when it reaches its limit.
struct RotatingFile {
    path: PathBuf,
    file: File,
    length: u64,
    limit: u64,
}

impl RotatingFile {
    fn open(path: &Path, limit: u64) -> io::Result<Self> {
        let file = create_private(path, OpenOptions::new().append(true).create(true))?;
        let length = file.metadata()?.len();
        Ok(Self {
            path: path.to_owned(),
            file,
            length,
            limit,
        })
    }

    fn rotate(&mut self) -> io::Result<()> {
        let mut aside = self.path.clone().into_os_string();
        aside.push(".1");
        std::fs::rename(&self.path, aside)?;
        *self = Self::open(&self.path, self.limit)?;
        Ok(())
    }
}

impl Write for RotatingFile {
    /// Writes the whole line to one file.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.length > 0 && self.length + line.len() as u64 > self.limit {
            self.rotate()?;
        }
        self.file.write_all(line)?;
        self.length += line.len() as u64;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_file_is_rotated_at_its_limit_without_splitting_lines() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let mut file = RotatingFile::open(&path, 10).unwrap();
        for line in ["first\n", "second\n", "third\n"] {
            file.write_all(line.as_bytes()).unwrap();
        }
        let read = |path: &Path| std::fs::read_to_string(path).unwrap();
        assert_eq!(
            (read(&path), read(&path.with_extension("1"))),
            ("third\n".into(), "second\n".into())
        );
        drop(file);
        let mut file = RotatingFile::open(&path, 100).unwrap();
        file.write_all(b"more\n").unwrap();
        assert_eq!(read(&path), "third\nmore\n");
    }

    #[test]
    fn levels_that_settings_accept_are_valid_targets() {
        for text in ["off", "info", "warn,grov_store=debug", "off,a::b=trace"] {
            text.parse::<Targets>().unwrap();
        }
    }
}
