//! Delivers events to the webhook: at least once, in any order, again and again for a day.

use anyhow::bail;
use grov_agent::{AgentStoreError, OutboxStore, PendingEvent};
use grov_agent_http::{SIGNATURE_HEADER, sign};
use grov_domain::Clock;
use grov_llm::{ProviderCallError, ProviderClient, own_listener};
use grov_redact::Secret;
use grov_runtime::Shutdown;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// How long a receiver may be silent.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Events that are sent at the same time.
const AT_ONCE: u32 = 4;
/// How long no other process sends an event that was taken: longer than a call takes.
const LEASE: Duration = Duration::from_secs(90);
/// How often the outbox is looked at, for events whose pause is over.
const POLL: Duration = Duration::from_secs(5);
/// The pause after the first failure; doubled after each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(30 * 60);
/// How long after it was written an event is given up.
const GIVE_UP_AFTER: time::Duration = time::Duration::hours(24);

/// What the worker needs.
pub(crate) struct Webhook {
    pub(crate) store: Arc<dyn OutboxStore>,
    pub(crate) clock: Arc<dyn Clock>,
    /// A valid `http` or `https` address, which may contain a token.
    pub(crate) url: Secret,
    pub(crate) secret: Option<Secret>,
    /// The address under which the receiver reaches this service, without a slash at its end.
    pub(crate) public_url: String,
    /// Our own listeners, which must not be the receiver.
    pub(crate) own_listeners: Vec<SocketAddr>,
    /// Notified when events were stored.
    pub(crate) wake: Arc<Notify>,
}

/// Delivers events until the service stops. A delivery that is interrupted is made again.
pub(crate) async fn run(webhook: Webhook, mut stopping: Shutdown) {
    let work = async {
        let sender = loop {
            match Sender::new(&webhook).await {
                Ok(sender) => break Arc::new(sender),
                Err(error) => {
                    tracing::error!(%error, "events cannot be sent to the webhook; trying again in a minute");
                    tokio::time::sleep(Duration::from_secs(60)).await;
                }
            }
        };
        loop {
            match deliver_due(&webhook, &sender).await {
                // There may be more.
                Ok(taken) if taken >= AT_ONCE as usize => continue,
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "the outbox of the webhook cannot be used"),
            }
            // Also looks without being woken: for pauses that end, and for events of other processes.
            let _ = tokio::time::timeout(POLL, webhook.wake.notified()).await;
        }
    };
    tokio::select! {
        () = work => {}
        () = stopping.requested() => {}
    }
}

/// Tries the events that are due, some at a time. Returns how many there were.
async fn deliver_due(webhook: &Webhook, sender: &Arc<Sender>) -> Result<usize, AgentStoreError> {
    let now = webhook.clock.now();
    let events = webhook.store.take_events(AT_ONCE, LEASE, now).await?;
    let taken = events.len();
    let mut sending = JoinSet::new();
    for event in events {
        let (sender, clock) = (Arc::clone(sender), Arc::clone(&webhook.clock));
        sending.spawn(async move {
            let sent = sender.send(&event, clock.now()).await;
            (event, sent)
        });
    }
    while let Some(joined) = sending.join_next().await {
        let Ok((event, sent)) = joined else { continue };
        match sent {
            Ok(()) => webhook.store.delivered(event.id).await?,
            Err(error) => {
                let until = next_attempt(&event, webhook.clock.now());
                match until {
                    Some(_) => {
                        tracing::warn!(event = %event.id, attempt = event.attempts + 1, %error, "an event was not delivered");
                    }
                    None => tracing::error!(event = %event.id, %error, "an event is given up after a day"),
                }
                webhook.store.postpone(event.id, until).await?;
            }
        }
    }
    Ok(taken)
}

/// When an event that failed is tried again; `None` if it is given up.
fn next_attempt(event: &PendingEvent, now: OffsetDateTime) -> Option<OffsetDateTime> {
    let end = event.created_at + GIVE_UP_AFTER;
    if now >= end {
        return None;
    }
    let pause = FIRST_PAUSE
        .saturating_mul(2_u32.saturating_pow(event.attempts))
        .min(LONGEST_PAUSE);
    // The last attempt is at the end of the day.
    Some((now + pause).min(end))
}

/// Posts events to the receiver.
struct Sender {
    client: ProviderClient,
    url: Secret,
    /// Path and query of the address.
    path: Secret,
    secret: Option<Secret>,
    public_url: String,
    own_listeners: Vec<SocketAddr>,
}

impl Sender {
    async fn new(webhook: &Webhook) -> Result<Self, ProviderCallError> {
        let (base, path) = split(webhook.url.expose());
        Ok(Self {
            client: ProviderClient::new(base, &[], TIMEOUT).await?,
            url: webhook.url.clone(),
            path: path.into(),
            secret: webhook.secret.clone(),
            public_url: webhook.public_url.clone(),
            own_listeners: webhook.own_listeners.clone(),
        })
    }

    /// Sends an event. Errors contain neither the address nor what the receiver said.
    async fn send(&self, event: &PendingEvent, now: OffsetDateTime) -> anyhow::Result<()> {
        if let Some(listener) = own_listener(self.url.expose(), &self.own_listeners).await {
            bail!("TOOL_WEBHOOK_URL is this service itself ({listener}); set the address of the receiver");
        }
        let id = event.id.to_string();
        let body = self.body(event);
        let signature = self.secret.as_ref().map(|secret| sign(secret, &body, now));
        let mut headers = vec![("idempotency-key", id.as_str())];
        headers.extend(
            signature
                .as_deref()
                .map(|signature| (SIGNATURE_HEADER, signature)),
        );
        let call = self.client.post_with(self.path.expose(), &headers, body);
        let response = match tokio::time::timeout(TIMEOUT, call).await {
            Ok(response) => response?,
            Err(_) => return Err(ProviderCallError::TimedOut(TIMEOUT).into()),
        };
        match response.status() {
            200..=299 => Ok(()),
            status @ 300..=399 => bail!(
                "the receiver answered with a redirect (status {status}), which is not followed; set the address that it leads to"
            ),
            status => bail!("the receiver answered with status {status}"),
        }
    }

    /// The stored event with the absolute address for results.
    fn body(&self, event: &PendingEvent) -> Vec<u8> {
        let Ok(mut body) = serde_json::from_str::<Value>(&event.body) else {
            return event.body.clone().into_bytes();
        };
        if let Some(fields) = body.as_object_mut() {
            let callback = format!("{}{}", self.public_url, grov_agent::CALLBACK_PATH);
            fields.insert("callback_url".to_owned(), json!(callback));
        }
        body.to_string().into_bytes()
    }
}

/// An address as scheme and server, and the rest.
fn split(url: &str) -> (&str, &str) {
    let server = url.find("://").map_or(0, |at| at + 3);
    let end = url[server..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| server + at);
    url.split_at(end)
}

#[cfg(test)]
mod tests;
