//! The command line.

use clap::{Parser, Subcommand, ValueEnum};
use grov_agent::{Category, KeyRole};
use std::path::PathBuf;

/// The agent service: a project's knowledge, decisions and tools behind one API.
///
/// Without a command it serves. Settings come from flags, the environment, GROV_HOME/.env and GROV_HOME/config.toml.
#[derive(Debug, Parser)]
#[command(name = "grov-agentd", version, about, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Port to listen on; 0 picks a free one [default: 8090]
    #[arg(long, value_name = "N")]
    port: Option<String>,
    /// Address to listen on; others than loopback need TLS or --insecure [default: 127.0.0.1]
    #[arg(long, value_name = "IP")]
    host: Option<String>,
    /// Serve other machines without TLS: keys and contents are sent in the clear
    #[arg(long)]
    pub(crate) insecure: bool,
    /// File with the TLS certificates in PEM
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// File with the key of the TLS certificate in PEM
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Directory of configuration, database and uploads [default: ~/.grov]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) home: Option<PathBuf>,
    /// What is logged: error, warn, info, debug, trace, or levels per module
    #[arg(long, value_name = "L", global = true)]
    log_level: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Keys of the API
    Key {
        #[command(subcommand)]
        command: KeyCommand,
    },
    /// Store the documents of a directory; run again, it stores what has changed
    Import {
        /// The directory; files that git ignores, hidden files and links are left out
        directory: PathBuf,
        /// The project, by id
        #[arg(long, value_name = "ID")]
        project: String,
        /// The category of all documents
        #[arg(long, value_name = "C", value_enum, ignore_case = true)]
        category: CategoryName,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check settings, database, uploads and providers
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Copy the SQLite database to a new file while the service runs
    Backup {
        /// The file to create
        file: PathBuf,
    },
    /// Replace the SQLite database by a copy; the service must not run
    Restore {
        /// A file that `backup` made
        file: PathBuf,
    },
    /// Read a PDF on standard input, with bounded memory; the service starts this itself
    #[command(name = crate::pdf::COMMAND, hide = true)]
    ReadPdf,
}

/// The category of documents.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "UPPER")]
pub(crate) enum CategoryName {
    /// Guidelines and processes
    Rules,
    /// Information about the project
    Facts,
    /// The current state
    State,
}

impl From<CategoryName> for Category {
    fn from(name: CategoryName) -> Self {
        match name {
            CategoryName::Rules => Self::Rules,
            CategoryName::Facts => Self::Facts,
            CategoryName::State => Self::State,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key and print its secret, which is not shown again
    Create {
        /// The name, which decisions show
        name: String,
        /// What the key may do; each role includes the ones before it
        #[arg(long, value_enum, default_value = "agent")]
        role: Role,
        /// A project that the key may see, by id; may be repeated; all projects if not given
        #[arg(long = "project", value_name = "ID")]
        projects: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List all keys
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a key; running services refuse it within two seconds
    Revoke {
        /// The name
        name: String,
    },
}

/// A role on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Role {
    /// Reads
    Reader,
    /// Chats, uploads documents, reports results, proposes memory
    Agent,
    /// Approves and rejects
    Approver,
    /// Creates, changes and deletes projects
    Admin,
}

impl From<Role> for KeyRole {
    fn from(role: Role) -> Self {
        match role {
            Role::Reader => Self::Reader,
            Role::Agent => Self::Agent,
            Role::Approver => Self::Approver,
            Role::Admin => Self::Admin,
        }
    }
}

impl Arguments {
    /// The settings that are given as flags, as pairs of setting name and value. Paths are relative to the working directory.
    pub(crate) fn flags(&self) -> Vec<(&'static str, String)> {
        let file = |path: &Option<PathBuf>| {
            let absolute = path
                .as_ref()
                .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
            absolute.map(|path| path.display().to_string())
        };
        [
            ("agent.port", self.port.clone()),
            ("agent.host", self.host.clone()),
            ("agent.tls_cert", file(&self.tls_cert)),
            ("agent.tls_key", file(&self.tls_key)),
            ("log.level", self.log_level.clone()),
        ]
        .into_iter()
        .filter_map(|(name, value)| value.map(|value| (name, value)))
        .collect()
    }
}
