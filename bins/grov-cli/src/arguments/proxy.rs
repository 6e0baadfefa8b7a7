//! `grov proxy …`

use clap::{Args, Subcommand};

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ProxyArguments {
    #[command(flatten)]
    pub(crate) flags: DaemonFlags,
    /// Start it in the background, wait until it listens, and print its URL
    #[arg(long)]
    pub(crate) detach: bool,
    /// Start a new process session first; used by --detach
    #[arg(long, hide = true, conflicts_with = "detach")]
    pub(crate) own_session: bool,
    /// Wait no longer than a hook can; used by hooks
    #[arg(long, hide = true, requires = "detach")]
    pub(crate) for_hook: bool,
    #[command(subcommand)]
    pub(crate) command: Option<ProxyCommand>,
}

/// Flags that are passed on to `grov-proxyd`.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct DaemonFlags {
    /// Port to listen on; 0 = any free one
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) port: Option<String>,
    /// Address to listen on; others than loopback need TLS and tokens, or --insecure
    #[arg(long, value_name = "IP")]
    pub(crate) host: Option<String>,
    /// Base URL to forward requests to
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Option<String>,
    /// Provider file of other models [default: providers.yaml in the home]
    #[arg(long, value_name = "FILE")]
    pub(crate) providers: Option<String>,
    /// Also be a CONNECT proxy (HTTPS_PROXY) that decrypts the connections to the API
    #[arg(long)]
    pub(crate) mitm: bool,
    /// Port of the CONNECT proxy; 0 = any free one
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) mitm_port: Option<String>,
    /// File with the TLS certificates in PEM
    #[arg(long, value_name = "FILE", value_parser = absolute)]
    pub(crate) tls_cert: Option<String>,
    /// File with the key of the TLS certificate in PEM
    #[arg(long, value_name = "FILE", value_parser = absolute)]
    pub(crate) tls_key: Option<String>,
    /// Listen beyond loopback even without TLS or tokens
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        default_missing_value = "true",
        require_equals = true
    )]
    pub(crate) insecure: Option<String>,
    /// Log level: off, error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log_level: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProxyCommand {
    /// Start it in the background, unless it is running; replace an older version
    Start(Box<DaemonFlags>),
    /// Stop it once its running responses have ended
    Stop,
    /// Replace it by a new process, which reads the configuration again; no request fails
    Restart,
    /// Start it on a free port, and make registered clients use it; for a port that another program has taken
    Move,
    /// Show whether it is running, where, and its log; exit code 1 if it is not
    Status,
    /// Print the end of its log
    Logs(LogArguments),
}

#[derive(Args, Debug)]
pub(crate) struct LogArguments {
    /// Number of lines
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    pub(crate) lines: usize,
    /// Print new lines as they are written
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) follow: bool,
}

/// The path that a flag names, which is relative to the working directory.
fn absolute(path: &str) -> Result<String, String> {
    let path = std::path::absolute(path).map_err(|error| error.to_string())?;
    Ok(path.to_string_lossy().into_owned())
}
