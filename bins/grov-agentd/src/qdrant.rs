//! The connection to Qdrant, and the work that keeps its copy of the embeddings up to date.

use async_trait::async_trait;
use grov_agent_store::{AgentDatabase, QdrantServer, QdrantTransport};
use grov_llm::{ProviderCallError, ProviderClient};
use grov_redact::Secret;
use grov_runtime::{Shutdown, Url};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// How long the server may be silent.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How often noted changes are looked for: those of other instances, and what is deleted with something else.
const POLL: Duration = Duration::from_secs(1);
/// The pause after a failure.
const PAUSE: Duration = Duration::from_secs(5);

/// Sends requests by HTTP.
#[derive(Debug)]
struct Transport(Client);

/// The client, which shows neither address nor key.
struct Client(ProviderClient);

impl std::fmt::Debug for Client {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a client of Qdrant")
    }
}

/// A server at an address, with its key if it needs one.
///
/// # Errors
///
/// The key cannot be sent, or the system's certificates cannot be loaded.
pub(crate) async fn server(url: &Url, key: Option<&Secret>) -> Result<QdrantServer, ProviderCallError> {
    let headers: Vec<_> = key.map(|key| ("api-key", key.clone())).into_iter().collect();
    let client = ProviderClient::new(url.as_str(), &headers, TIMEOUT).await?;
    Ok(QdrantServer {
        address: format!("{}:{}", url.host(), url.port()),
        transport: Arc::new(Transport(Client(client))),
    })
}

#[async_trait]
impl QdrantTransport for Transport {
    async fn send(&self, method: &'static str, path: &str, body: &Value) -> Result<(u16, Vec<u8>), String> {
        let exchange = async {
            let response = self.0.0.request(method, path, body).await?;
            let status = response.status();
            Ok::<_, ProviderCallError>((status, response.body().await?))
        };
        match tokio::time::timeout(TIMEOUT, exchange).await {
            Ok(answer) => answer.map_err(|error| error.to_string()),
            Err(_) => Err(format!("it did not answer within {} s", TIMEOUT.as_secs())),
        }
    }
}

/// Keeps the copy up to date until the service stops. What is interrupted is done again.
pub(crate) async fn run(database: Arc<AgentDatabase>, mut stopping: Shutdown) {
    let work = async {
        let mut is_compared = false;
        let mut is_in_trouble = false;
        loop {
            match step(&database, &mut is_compared).await {
                Ok(is_more) => {
                    if std::mem::take(&mut is_in_trouble) {
                        tracing::info!("Qdrant is kept up to date again");
                    }
                    if !is_more {
                        tokio::time::sleep(POLL).await;
                    }
                }
                Err(error) => {
                    if !std::mem::replace(&mut is_in_trouble, true) {
                        tracing::warn!(%error, "Qdrant is behind; the database searches vectors meanwhile");
                    }
                    // It may come back without its data.
                    is_compared = false;
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    };
    tokio::select! {
        () = work => {}
        () = stopping.requested() => {}
    }
}

/// Copies what is noted, and compares once everything is. Returns whether there is more to do.
async fn step(database: &AgentDatabase, is_compared: &mut bool) -> Result<bool, grov_agent::AgentStoreError> {
    if database.copy_points().await? {
        return Ok(true);
    }
    if *is_compared {
        return Ok(false);
    }
    let filled = database.reconcile_points().await?;
    *is_compared = true;
    Ok(filled > 0)
}
