//! `grov run`

use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(
    after_help = "With --upstream, --port or --providers the command gets a proxy of its own, which ends with it. \
Otherwise it uses the proxy of the home, which is started if needed and goes on."
)]
pub(crate) struct RunArguments {
    /// Base URL to forward requests to
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Option<String>,
    /// Use ANTHROPIC_BASE_URL instead of HTTPS_PROXY, with which the client keeps its first-party features
    #[arg(long)]
    pub(crate) base_url: bool,
    /// Port of the proxy; 0 = any free one
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) port: Option<String>,
    /// Provider file of other models
    #[arg(long, value_name = "FILE")]
    pub(crate) providers: Option<PathBuf>,
    /// Run no command: print the variables to set, and serve until a signal
    #[arg(long)]
    pub(crate) proxy_only: bool,
    /// Say which proxy is used, and let it log details
    #[arg(long)]
    pub(crate) verbose: bool,
    /// As in claude-hybrid: address to listen on
    #[arg(long, value_name = "IP", hide = true)]
    pub(crate) bind: Option<String>,
    /// As in claude-hybrid: ignored
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) certs_dir: Option<PathBuf>,
    /// The command, behind `--`; arguments that begin with a dash are for claude [default: claude]
    #[arg(
        trailing_var_arg = true,
        value_name = "COMMAND",
        conflicts_with = "proxy_only"
    )]
    pub(crate) command: Vec<OsString>,
}
