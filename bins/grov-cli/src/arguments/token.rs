//! The arguments of `grov token`.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token and print it; it is shown only now
    Create(CreateArguments),
    /// List all tokens with their expiry and last use
    List,
    /// Revoke a token; a running proxy refuses it at once
    Revoke {
        /// The token's name
        name: String,
    },
}

#[derive(Args, Debug)]
pub(crate) struct CreateArguments {
    /// A name for the user; requests with the token are recorded under it
    pub(crate) name: String,
    /// How long it is valid, such as 12h or 30d [default: until it is revoked]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) expires: Option<String>,
}
