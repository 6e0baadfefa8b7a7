//! What a tool needs from the program that runs it.

use grov_domain::{Clock, MicroUsd, SpendingStore};
use grov_runtime::{Home, Variables};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The time limit of a command, unless `ENVOY_TIMEOUT_MS` is set.
const TIMEOUT: Duration = Duration::from_secs(120);

/// What a tool needs from the program that runs it.
#[derive(Clone)]
pub struct Surroundings {
    /// Keys and addresses of providers.
    pub variables: Variables,
    /// Grov's home.
    pub home: Home,
    /// The current directory.
    pub directory: PathBuf,
    /// The spending ledger.
    pub spending: Arc<dyn SpendingStore>,
    /// The clock of the ledger and the cache.
    pub clock: Arc<dyn Clock>,
    /// The budget of a day.
    pub budget: MicroUsd,
    /// The HTTP proxy, from Grov's own setting.
    pub proxy: Option<String>,
    /// Grov's own listeners, which are never called.
    pub own_listeners: Vec<SocketAddr>,
    /// Shows what happens, on a terminal.
    pub progress: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Surroundings {
    /// The time limit of a command; for deep research the limit of silence.
    ///
    /// # Errors
    ///
    /// If `ENVOY_TIMEOUT_MS` is no number of milliseconds.
    pub(crate) fn timeout(&self) -> Result<Duration, grov_tools::ToolError> {
        let Some(text) = self.variables.get("ENVOY_TIMEOUT_MS") else {
            return Ok(TIMEOUT);
        };
        match text.trim().parse::<u64>() {
            Ok(milliseconds) if (1..=86_400_000).contains(&milliseconds) => {
                Ok(Duration::from_millis(milliseconds))
            }
            _ => Err(grov_tools::ToolError::new(
                grov_tools::ErrorKind::Configuration,
                format!(
                    "ENVOY_TIMEOUT_MS is {text:?}, which is no number of milliseconds from 1 to 86400000"
                ),
            )
            .hint("set it to 120000, or unset it")),
        }
    }
}
