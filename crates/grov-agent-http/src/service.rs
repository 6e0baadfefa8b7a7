//! What the routes work with.

use crate::admission::Admission;
use crate::caller::Caller;
use crate::keys::KeyRing;
use crate::limits::{ChatLimits, Limits};
use crate::metrics::Metrics;
use crate::once::Running;
use crate::problem::Problem;
use crate::uploads::Uploads;
use grov_agent::{AgentStore, ChatService, Ingestor, Project, ProjectId, ReadPdf, Retriever};
use grov_domain::Clock;
use grov_redact::Secret;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::{Semaphore, watch};

/// The state of the providers, for the health page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderHealth {
    /// The chat provider.
    pub chat: String,
    /// Whether it could be reached last time.
    pub is_chat_ok: bool,
    /// The embedding provider.
    pub embedding: String,
    /// The dimension of its embeddings, once it is known.
    pub dimension: Option<usize>,
    /// Whether it could be used last time.
    pub is_embedding_ok: bool,
    /// What is wrong with the embedding, or how far it is.
    pub embedding_detail: Option<String>,
}

/// The parts of a service.
pub struct ServiceParts {
    /// The database.
    pub store: Arc<dyn AgentStore>,
    /// Runs chats.
    pub chat: ChatService,
    /// Stores documents.
    pub ingestor: Ingestor,
    /// Searches.
    pub retriever: Retriever,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Uploaded files.
    pub uploads: Uploads,
    /// The admin key.
    pub admin_key: Secret,
    /// The hosts under which the service is reached.
    pub admission: Admission,
    /// Limits.
    pub limits: Limits,
    /// The secret with which callbacks may be signed.
    pub webhook_secret: Option<Secret>,
    /// Whether events are written for a webhook.
    pub has_webhook: bool,
    /// The version on the health page.
    pub version: &'static str,
    /// Reads PDFs. May block.
    pub read_pdf: Box<ReadPdf>,
    /// The state of the providers. Must not block.
    pub providers: Box<dyn Fn() -> ProviderHealth + Send + Sync>,
    /// Called after texts were stored that are to be embedded. Must not block.
    pub on_texts: Box<dyn Fn() + Send + Sync>,
    /// Called after an event for the webhook was stored. Must not block.
    pub on_events: Box<dyn Fn() + Send + Sync>,
}

/// The service. Clones share everything.
#[derive(Clone)]
pub struct Service(Arc<ServiceState>);

/// The parts of a [`Service`], and what changes while it runs.
pub struct ServiceState {
    pub(crate) parts: ServiceParts,
    pub(crate) keys: KeyRing,
    pub(crate) chat_limits: ChatLimits,
    pub(crate) running: Running,
    pub(crate) metrics: Metrics,
    /// Bounds the memory of large bodies.
    pub(crate) large_bodies: Arc<Semaphore>,
    stop_chats: watch::Sender<bool>,
    stop_waiting: watch::Sender<bool>,
}

/// How many large bodies are held in memory at once.
const LARGE_BODIES: usize = 8;

impl Deref for Service {
    type Target = ServiceState;

    fn deref(&self) -> &ServiceState {
        &self.0
    }
}

impl Service {
    /// Creates a service.
    pub fn new(parts: ServiceParts) -> Self {
        Self(Arc::new(ServiceState {
            keys: KeyRing::new(Arc::clone(&parts.store), &parts.admin_key),
            chat_limits: ChatLimits::new(&parts.limits),
            running: Running::default(),
            metrics: Metrics::new(),
            large_bodies: Arc::new(Semaphore::new(LARGE_BODIES)),
            stop_chats: watch::Sender::new(false),
            stop_waiting: watch::Sender::new(false),
            parts,
        }))
    }

    /// Number of chats that are running.
    pub fn running_chats(&self) -> i64 {
        self.metrics.chats.get()
    }

    /// Ends requests that wait for a change: the service stops.
    pub(crate) fn stop_waiting(&self) {
        self.stop_waiting.send_replace(true);
    }

    /// Ends running chats, which store nothing and are answered with `unavailable`.
    pub fn stop_chats(&self) {
        self.stop_chats.send_replace(true);
    }
}

impl ServiceState {
    pub(crate) fn store(&self) -> &dyn AgentStore {
        &*self.parts.store
    }

    pub(crate) fn now(&self) -> OffsetDateTime {
        self.parts.clock.now()
    }

    /// Returns a project that the caller may see.
    pub(crate) async fn project(&self, caller: &Caller, id: ProjectId) -> Result<Project, Problem> {
        caller.sees(id, "project")?;
        let project = self.store().project(id).await?;
        project.ok_or_else(|| Problem::not_found("project"))
    }

    /// Resolves when requests that wait for a change have to end.
    pub(crate) async fn must_stop_waiting(&self) {
        let mut stop = self.stop_waiting.subscribe();
        // An error means that the service is gone.
        let _ = stop.wait_for(|stop| *stop).await;
    }

    /// Resolves when running chats have to end.
    pub(crate) async fn chats_must_stop(&self) {
        let mut stop = self.stop_chats.subscribe();
        // An error means that the service is gone, and with it the chats.
        let _ = stop.wait_for(|stop| *stop).await;
    }
}

/// The time within which the health page answers.
pub(crate) const HEALTH_TIMEOUT: Duration = Duration::from_millis(900);
