//! The arguments of `grov agent`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Link this repository to a project of an agent service: accepted items and finished tasks flow both ways
    Link(Box<LinkArguments>),
    /// End the link; memory stays on both sides
    Unlink,
    /// Show the link of this repository, and what is wrong with it; exit code 1 if there is none
    Status,
    /// Send and receive now
    Sync {
        /// Keep going while sessions are active
        #[arg(long, hide = true)]
        follow: bool,
    },
}

#[derive(Args, Debug)]
pub(crate) struct LinkArguments {
    /// The base URL of the service
    pub(crate) url: String,
    /// The id of the service's project
    #[arg(long, value_name = "ID")]
    pub(crate) remote_project: String,
    /// A key of the service with the role reader, agent or approver; others on this machine can see it: prefer --key-file
    #[arg(long, value_name = "KEY", conflicts_with = "key_file")]
    pub(crate) key: Option<String>,
    /// A file with the key; - for standard input [default: $GROV_AGENT_KEY]
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Allow a URL without encryption
    #[arg(long)]
    pub(crate) insecure: bool,
}
