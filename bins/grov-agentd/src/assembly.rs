//! Connects the parts of the service.

use crate::admin_key;
use crate::clock::MicrosecondClock;
use crate::open_files;
use crate::pdf;
use crate::providers::Providers;
use crate::setup::Setup;
use crate::stop::Stop;
use anyhow::Context;
use grov_agent::{AgentStore, ChatService, ChatSettings, Ingestor, OlderEmbedders, Retriever};
use grov_agent_http::{Admission, Limits, Service, ServiceParts, Uploads};
use grov_agent_store::AgentDatabase;
use grov_domain::Clock;
use std::sync::Arc;
use tokio::sync::Notify;

/// The version on the health page.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the service and the background work share: it is woken as soon as there is something to do.
#[derive(Clone, Default)]
pub(crate) struct Wakers {
    /// Texts were stored.
    pub(crate) texts: Arc<Notify>,
    /// Events for the webhook were stored.
    pub(crate) events: Arc<Notify>,
    /// The models whose embeddings are being replaced.
    pub(crate) older: OlderEmbedders,
}

/// Builds the service.
pub(crate) fn service(
    setup: &Setup,
    database: &Arc<AgentDatabase>,
    providers: &Providers,
    wakers: &Wakers,
) -> Result<Service, Stop> {
    let agent = &setup.agent;
    let store = Arc::clone(database) as Arc<dyn AgentStore>;
    let clock: Arc<dyn Clock> = Arc::new(MicrosecondClock);
    let retriever = Retriever::new(Arc::clone(&store), providers.embedder.clone(), Arc::clone(&clock))
        .with_older(wakers.older.clone());
    let has_webhook = agent.webhook_url.is_some();
    let chat = ChatService::new(
        Arc::clone(&store),
        retriever.clone(),
        providers.chat.clone(),
        Arc::clone(&clock),
        ChatSettings {
            context_tokens: agent.limits.context_tokens,
            history_tokens: agent.limits.history_tokens,
            max_output_tokens: agent.limits.max_output_tokens,
            has_webhook,
        },
    );
    let admin_key = admin_key::find_or_make(&setup.home, agent.api_key.as_ref())
        .with_context(|| {
            format!(
                "the admin key cannot be kept in {}",
                admin_key::path(&setup.home).display()
            )
        })
        .map_err(|error| Stop::fault(error).with_hint("set AGENT_API_KEY, or make the home writable"))?;
    let is_loopback = agent.host.to_canonical().is_loopback();
    let providers = providers.clone();
    let (texts, events) = (Arc::clone(&wakers.texts), Arc::clone(&wakers.events));
    Ok(Service::new(ServiceParts {
        ingestor: Ingestor::new(Arc::clone(&store), Arc::clone(&clock)),
        store,
        chat,
        retriever,
        clock,
        uploads: Uploads::new(&agent.upload_dir),
        admin_key,
        admission: Admission::new(agent.allowed_hosts.iter().cloned(), !is_loopback),
        limits: Limits {
            max_body_bytes: usize::try_from(agent.limits.max_body_bytes).unwrap_or(usize::MAX),
            chats_per_minute: agent.limits.chats_per_minute,
            chats_at_once: agent.limits.chats_at_once,
            connections: open_files::connections(),
            client_timeout: agent.limits.client_timeout,
        },
        webhook_secret: agent.webhook_secret.clone(),
        has_webhook,
        version: VERSION,
        read_pdf: Box::new(pdf::read),
        providers: Box::new(move || providers.health()),
        on_texts: Box::new(move || texts.notify_one()),
        on_events: Box::new(move || events.notify_one()),
    }))
}
