//! The routes of the running daemon.

use crate::context::{Context, block_on};
use crate::daemon_health;
use crate::failure::Failure;
use grov_llm::{ProviderCallError, ProviderClient, ProviderResponse};
use grov_redact::Secret;
use grov_runtime::{daemon, port};
use serde::Deserialize;
use std::time::Duration;

/// How long the daemon may take to answer.
const DAEMON_TIMEOUT: Duration = Duration::from_secs(2);
/// The path of the routes.
const PATH: &str = "/_grov/routes";

/// The daemon's state of a label.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct LiveRoute {
    pub(super) label: String,
    pub(super) healthy: Option<bool>,
    pub(super) circuit: Option<String>,
    pub(super) contacted: Option<bool>,
    pub(super) limited: Option<bool>,
    /// What was wrong with the newest answer. Missing from a daemon of an older version.
    #[serde(default)]
    pub(super) fault: Option<String>,
}

/// What the daemon knows.
#[derive(Debug, Deserialize)]
pub(super) struct LiveRoutes {
    pub(super) routes: Vec<LiveRoute>,
    #[serde(default)]
    pub(super) decisions: Vec<serde_json::Value>,
}

/// The daemon's routes and decisions; `None` if none answers.
pub(super) fn live_routes(context: &Context) -> Option<LiveRoutes> {
    let answer = ask(context, async |client| client.get(PATH).await);
    serde_json::from_slice(&answer?).ok()
}

/// Makes the daemon, if one runs, read the provider file now and not with its next looks. Without an answer, the looks have to do.
pub(super) fn read_again(context: &Context) {
    ask(context, async |client| client.post(PATH, Vec::new()).await);
}

/// The body of the daemon's answer, if its status is 200.
fn ask(
    context: &Context,
    send: impl AsyncFn(&ProviderClient) -> Result<ProviderResponse, ProviderCallError>,
) -> Option<Vec<u8>> {
    let address = daemon::read(&context.home).and_then(|record| record.local_address())?;
    if !daemon_health::query(&context.home).running {
        return None;
    }
    let url = format!("http://{address}");
    let is_local = [(port::LOCAL_HEADER, Secret::new("1"))];
    let asked = block_on(async {
        let client = ProviderClient::new(&url, &is_local, DAEMON_TIMEOUT).await;
        let response = send(&client.map_err(failure)?).await.map_err(failure)?;
        if response.status() != 200 {
            return Ok(None);
        }
        Ok::<_, Failure>(Some(response.body().await.map_err(failure)?))
    });
    asked.ok().flatten()
}

fn failure(error: ProviderCallError) -> Failure {
    Failure::error("daemon", error.to_string())
}
