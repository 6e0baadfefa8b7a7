//! The log: to standard error, or to files of limited size, one or more a day. Every line is redacted.

mod file;

use file::RotatingFile;
use grov_redact::Redactor;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::LogSettings;

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
        None => lines.with_writer(|| Redacted(io::stderr())).boxed(),
        Some(path) => {
            let file = RotatingFile::open(path, settings.keep).map_err(|source| LogError::File {
                path: path.clone(),
                source,
            })?;
            lines.with_writer(Mutex::new(Redacted(file))).boxed()
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

/// Masks secrets in each line. A line is one call of `write`.
struct Redacted<W>(W);

impl<W: Write> Write for Redacted<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        self.0.write_all(Redactor::shared().redact(&text).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_contain_no_secret_and_stay_as_they_are_otherwise() {
        let mut written = Redacted(Vec::new());
        let plain = "2026-01-02T03:04:05.678901Z  INFO grov: LOCAL_OK fast → groq/llama (12ms, in=1 out=2) 0198c2a1-0000-7000-8000-0000deadbeef\n";
        let key = "sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
        written.write_all(plain.as_bytes()).unwrap();
        written
            .write_all(format!("WARN the provider said: bad key {key}\n").as_bytes())
            .unwrap();
        let text = String::from_utf8(written.0).unwrap();
        assert!(text.starts_with(plain) && !text.contains(key), "{text}");
    }

    #[test]
    fn levels_that_settings_accept_are_valid_targets() {
        for text in ["off", "info", "warn,grov_store=debug", "off,a::b=trace"] {
            text.parse::<Targets>().unwrap();
        }
    }
}
