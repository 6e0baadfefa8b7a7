//! The command line.

use clap::Parser;
use std::path::PathBuf;

/// The proxy between a coding agent and its model. It records what the agent does and changes nothing.
#[derive(Debug, Parser)]
#[command(name = "grov-proxyd", version, about, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Port to listen on; 0 picks a free one [default: 8080]
    #[arg(long, value_name = "N")]
    port: Option<String>,
    /// Loopback address to listen on [default: 127.0.0.1]
    #[arg(long, value_name = "IP")]
    host: Option<String>,
    /// Upstream URL.
    #[arg(
        long,
        value_name = "URL",
        help = "Where requests go [default: https://api.anthropic.com]"
    )]
    upstream: Option<String>,
    /// Provider file of other models [default: providers.yaml in the home]
    #[arg(long, value_name = "FILE")]
    providers: Option<String>,
    /// Directory of configuration, database and logs [default: ~/.grov]
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// What is logged: error, warn, info, debug, trace, or levels per module
    #[arg(long, value_name = "L")]
    log_level: Option<String>,
}

impl Arguments {
    /// Returns the settings given as flags, as pairs of setting name and value.
    pub(crate) fn flags(&self) -> Vec<(&'static str, String)> {
        [
            ("proxy.port", &self.port),
            ("proxy.host", &self.host),
            ("proxy.upstream", &self.upstream),
            ("route.providers", &self.providers),
            ("log.level", &self.log_level),
        ]
        .into_iter()
        .filter_map(|(name, value)| value.clone().map(|value| (name, value)))
        .collect()
    }
}
