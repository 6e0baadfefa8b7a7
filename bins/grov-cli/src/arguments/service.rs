//! `grov service …`

use clap::{Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum ServiceCommand {
    /// Let systemd or launchd start the proxy, and enable that
    Install {
        /// systemd or launchd [default: the one of this system]
        #[arg(long, value_name = "NAME", value_enum, hide_possible_values = true)]
        manager: Option<ServiceManager>,
    },
    /// Disable the service and remove its files
    Remove,
    /// Show whether it is installed and enabled; exit code 1 if it is not
    Status,
}

/// A program that starts services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServiceManager {
    Systemd,
    Launchd,
}
