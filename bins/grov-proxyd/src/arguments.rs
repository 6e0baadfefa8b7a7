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
    /// Address to listen on; others than loopback need TLS and tokens, or --insecure [default: 127.0.0.1]
    #[arg(long, value_name = "IP")]
    host: Option<String>,
    /// File with the TLS certificates in PEM; with --tls-key, clients use https://
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// File with the key of the TLS certificate in PEM
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Listen beyond loopback even without TLS or tokens
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        default_missing_value = "true",
        require_equals = true
    )]
    insecure: Option<String>,
    /// Upstream URL.
    #[arg(
        long,
        value_name = "URL",
        help = "Where requests go [default: https://api.anthropic.com]"
    )]
    upstream: Option<String>,
    /// Also be a CONNECT proxy (HTTPS_PROXY) that decrypts the connections to the API
    #[arg(long)]
    mitm: bool,
    /// Port of the CONNECT proxy; 0 picks a free one [default: 8079]
    #[arg(long, value_name = "N")]
    mitm_port: Option<String>,
    /// Provider file of other models [default: providers.yaml in the home]
    #[arg(long, value_name = "FILE")]
    providers: Option<String>,
    /// Directory of configuration, database and logs [default: ~/.grov]
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Serve one `grov run`: end with standard input and the process named there, and leave the home's lock alone
    #[arg(long, hide = true)]
    run: bool,
    /// What is logged: error, warn, info, debug, trace, or levels per module
    #[arg(long, value_name = "L")]
    log_level: Option<String>,
}

impl Arguments {
    /// Whether the daemon belongs to one `grov run`.
    pub(crate) fn serves_one_run(&self) -> bool {
        self.run
    }

    /// Returns the settings given as flags, as pairs of setting name and value.
    pub(crate) fn flags(&self) -> Vec<(&'static str, String)> {
        let file = |path: &Option<PathBuf>| -> Option<String> {
            // Relative to the working directory, not to the home.
            let path = std::path::absolute(path.as_ref()?).ok()?;
            Some(path.to_string_lossy().into_owned())
        };
        let mitm = self.mitm.then(|| "true".to_owned());
        let given = [
            ("mitm.enabled", &mitm),
            ("mitm.port", &self.mitm_port),
            ("proxy.port", &self.port),
            ("proxy.host", &self.host),
            ("proxy.upstream", &self.upstream),
            ("route.providers", &self.providers),
            ("log.level", &self.log_level),
        ]
        .map(|(name, value)| (name, value.clone()));
        let more = [
            ("proxy.tls_cert", file(&self.tls_cert)),
            ("proxy.tls_key", file(&self.tls_key)),
            ("proxy.insecure", self.insecure.clone()),
        ];
        given
            .into_iter()
            .chain(more)
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
}
