//! The words of `grov drift`.

use clap::Subcommand;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum DriftCommand {
    /// Judge recorded work by today's rules, without a model
    ///
    /// Each line {"seq_id", "goal", "expected_scope"?, "constraints"?, "actions": [{"type", "files", "command"?,
    /// "text"?, "error"?}]} is answered with a line {"seq_id", "scores", "corrections"}, in the same order. Types are read,
    /// edit, write, bash, search, task, web and other; below a score of 5 an action is off goal. A line that cannot be
    /// understood is told, left out, and makes the exit code 1.
    Replay {
        /// The file; - for standard input
        file: PathBuf,
    },
}
