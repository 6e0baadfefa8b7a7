//! The port to the command line: it already answers what is neither recorded nor a session's, and the pages show its answers.

use async_trait::async_trait;
use serde_json::Value;

/// Why a command gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    /// The kind that the command names; empty if it could not be run.
    pub kind: String,
    /// What happened.
    pub message: String,
    /// What to do, if anything is known to help.
    pub hint: Option<String>,
}

/// Runs commands of `grov`.
#[async_trait]
pub trait Commands: Send + Sync {
    /// Runs `grov` with these words and `--json`, and returns the object that it prints. A negative result is an answer, too.
    ///
    /// # Errors
    /// The command cannot be run, or reports an error.
    async fn run(&self, words: &[&str]) -> Result<Value, CommandError>;
}
