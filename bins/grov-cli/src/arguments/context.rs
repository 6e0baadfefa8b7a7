//! The arguments of `grov context`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    /// Show how full the context window is, and the ten largest things in it
    Status {
        /// The session: its id, a task id, or a unique prefix of one [default: the newest working session of this project]
        session: Option<String>,
    },
    /// Show what the client's newest compaction kept and lost, and what the agent was given again
    Audit {
        /// The session: its id, a task id, or a unique prefix of one [default: the newest working session of this project]
        session: Option<String>,
    },
    /// Show the summary that would replace the history
    Summary {
        /// The session: its id, a task id, or a unique prefix of one [default: the newest working session of this project]
        session: Option<String>,
    },
}
