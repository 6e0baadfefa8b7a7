//! Watches the context windows of sessions: measures them, prepares summaries, and gives back what a compaction by the
//! client lost.
//!
//! [`ContextMonitor`] observes exchanges and answers from memory. Its [`ContextWorker`] reads and writes the store and asks
//! the judge, in the background. [`RestorationSource`] is the [`ContextSource`](crate::ContextSource) that gives lost points
//! back with the next request.

mod content;
mod restoration_source;
mod worker;

#[cfg(test)]
mod tests;

pub use restoration_source::RestorationSource;
pub use worker::ContextWorker;

use crate::identity::Identity;
use crate::session_cache::SessionCache;
use async_trait::async_trait;
use content::content_of;
use grov_context::{ContextMeter, ContextSummary, Level, Thresholds, Window, context_tokens};
use grov_domain::{
    ClientSessionId, Clock, Compaction, ContextReading, ContextStore, ExchangeKind, GoalContract, Judge,
    Redacted, SessionId, SideRequest, Statement, StoreError, SummaryQuestion, TokenUsage,
};
use grov_proxy_core::{ObservedExchange, Outcome, TurnObserver};
use http::HeaderName;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use time::{Duration, OffsetDateTime};
use tokio::sync::mpsc;

/// The request header that may ask for a larger window.
pub(crate) const BETA_HEADER: HeaderName = HeaderName::from_static("anthropic-beta");

/// Sessions in memory. An evicted session is measured again with its next response.
const MAX_SESSIONS: usize = 512;
/// Closing texts kept per session, the newest.
const MAX_CLOSINGS: usize = 24;
/// Jobs that may wait. Further ones are dropped; the next response of the session makes new ones.
const MAX_JOBS: usize = 1024;
/// What fills a window is added up again after this time, or at the end of a turn.
const CONTENT_INTERVAL: Duration = Duration::seconds(10);
/// A summary is made again after this many responses: one prompt may have a long tool loop.
const STALE_AFTER_RESPONSES: u64 = 30;

/// What a session is about, for its summary.
#[derive(Clone, Debug, Default)]
pub struct SessionMaterial {
    /// The active task.
    pub task: Option<SessionId>,
    /// Its goal contract.
    pub contract: GoalContract,
    /// The question how far the work has come.
    pub question: SummaryQuestion,
    /// The number of prompts of the session.
    pub prompts: u64,
}

/// Reads what a session is about from the records.
#[async_trait]
pub trait MaterialReader: Send + Sync + 'static {
    /// Returns the material of a session; `None` if it is not recorded. `closings` are the last texts of
    /// its turns, oldest first.
    async fn material(
        &self,
        session: &ClientSessionId,
        closings: Vec<Statement>,
    ) -> Result<Option<SessionMaterial>, StoreError>;
}

/// How windows are measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContextPolicy {
    /// Absolute thresholds.
    pub thresholds: Thresholds,
    /// The size of the window, if the user set it.
    pub window: Option<u64>,
}

/// What is known of a session.
#[derive(Default)]
struct SessionContext {
    meter: Option<ContextMeter>,
    /// The last texts of its turns, redacted, oldest first.
    closings: VecDeque<String>,
    /// When its content was last added up.
    content_at: Option<OffsetDateTime>,
    /// What fills the window, as JSON.
    content: Option<String>,
    /// Responses of the main conversation.
    responses: u64,
    summary: Option<Arc<ContextSummary>>,
    /// Responses when the summary was made or last asked for.
    summary_at: Option<u64>,
    restoration: Restoration,
    /// What the newest compaction lost, so that the next request need not wait for the store.
    lost: Option<Redacted<Compaction>>,
}

impl SessionContext {
    /// Keeps a summary that covers the first `responses`, unless a newer one was asked for meanwhile: what a clear leaves out must
    /// be in the summary that takes its place.
    fn keep_summary(&mut self, summary: &ContextSummary, responses: u64) {
        if self.summary_at == Some(responses) {
            self.summary = Some(Arc::new(summary.clone()));
        }
    }
}

/// Whether a compaction's losses are still to be given back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Restoration {
    /// Not known since the daemon started.
    #[default]
    Unknown,
    /// The store has to be asked.
    Pending,
    /// Given with a request after this number of responses.
    Delivered(u64),
    /// Nothing to do until the next compaction.
    Done,
}

/// Work for the background.
enum Job {
    Reading(ContextReading),
    Prepare(ClientSessionId),
    Compacted(CompactionSummary),
    Restored(ClientSessionId, RestoredBy),
    Withdrawn(ClientSessionId),
}

/// How lost points reached the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RestoredBy {
    /// With a request.
    Request,
    /// By a hook, whose text is in the history.
    Hook,
}

/// The client's summary of a session.
struct CompactionSummary {
    session: ClientSessionId,
    id: String,
    text: String,
    tokens_before: Option<u64>,
    at: OffsetDateTime,
}

/// Measures the context windows of sessions.
pub struct ContextMonitor {
    policy: ContextPolicy,
    sessions: SessionCache<ClientSessionId, Mutex<SessionContext>>,
    jobs: mpsc::Sender<Job>,
}

impl ContextMonitor {
    /// Creates a monitor and its background work.
    pub fn new(
        policy: ContextPolicy,
        store: Arc<dyn ContextStore>,
        material: Arc<dyn MaterialReader>,
        judge: Arc<dyn Judge>,
        clock: Arc<dyn Clock>,
    ) -> (Arc<Self>, ContextWorker) {
        let (sender, jobs) = mpsc::channel(MAX_JOBS);
        let monitor = Arc::new(Self {
            policy,
            sessions: SessionCache::new(MAX_SESSIONS),
            jobs: sender,
        });
        let worker = ContextWorker {
            monitor: Arc::clone(&monitor),
            jobs,
            store,
            material,
            judge,
            clock,
        };
        (monitor, worker)
    }

    /// Returns how full the window of a session's main conversation is, after its newest response.
    pub fn meter(&self, session: &ClientSessionId) -> Option<ContextMeter> {
        let context = self.sessions.get(session)?;
        lock(&context).meter
    }

    /// Returns the prepared summary of a session, if there is one that is not out of date. Prepared from 85 % on.
    pub fn summary(&self, session: &ClientSessionId) -> Option<Arc<ContextSummary>> {
        let context = self.sessions.get(session)?;
        let context = lock(&context);
        let age = context.responses.saturating_sub(context.summary_at?);
        context.summary.clone().filter(|_| age <= STALE_AFTER_RESPONSES)
    }

    /// Returns the prepared summary of a session like [`ContextMonitor::summary`], and the number of responses of the main
    /// conversation since it was asked for.
    pub fn summary_and_age(&self, session: &ClientSessionId) -> Option<(Arc<ContextSummary>, u64)> {
        let summary = self.summary(session)?;
        let context = self.sessions.get(session)?;
        let context = lock(&context);
        Some((summary, context.responses.saturating_sub(context.summary_at?)))
    }

    /// Prepares the summary of a session again in the background. Until then there is none.
    pub fn refresh(&self, session: &ClientSessionId) {
        lock(&self.context(session)).summary_at = None;
        self.submit(Job::Prepare(session.clone()));
    }

    fn context(&self, session: &ClientSessionId) -> Arc<Mutex<SessionContext>> {
        self.sessions.get_or_create(session, Mutex::default, |_| true)
    }

    fn submit(&self, job: Job) {
        if self.jobs.try_send(job).is_err() {
            tracing::debug!("too much work waits for context windows; some was dropped");
        }
    }

    /// Measures a response of the main conversation.
    fn measure(&self, session: &ClientSessionId, exchange: &ObservedExchange) {
        let tokens = tokens(exchange);
        if tokens == 0 {
            return;
        }
        let model = model(exchange);
        let window = self.window(model.as_deref().unwrap_or_default(), exchange);
        let meter = ContextMeter::new(tokens, window, self.policy.thresholds);
        let ends_turn = exchange.turn.stop_reason.as_deref() == Some("end_turn");
        let context = self.context(session);
        let mut context = lock(&context);
        context.meter = Some(meter);
        context.responses += 1;
        if ends_turn && let Some(text) = crate::recorder::last_text(exchange) {
            if context.closings.len() >= MAX_CLOSINGS {
                context.closings.pop_front();
            }
            context.closings.push_back(text);
        }
        let is_due = context
            .content_at
            .is_none_or(|at| exchange.ended_at - at >= CONTENT_INTERVAL);
        if (ends_turn || is_due)
            && let Some(index) = exchange.request.index()
        {
            context.content = serde_json::to_string(&content_of(index, tokens)).ok();
            context.content_at = Some(exchange.ended_at);
        }
        let reading = ContextReading {
            client_session_id: session.clone(),
            model,
            tokens,
            window_tokens: meter.window.tokens,
            window_source: meter.window.source.as_str().to_owned(),
            content: context.content.clone(),
            measured_at: exchange.ended_at,
        };
        self.submit(Job::Reading(reading));
        let is_stale = context
            .summary_at
            .is_none_or(|at| context.responses - at >= STALE_AFTER_RESPONSES);
        if meter.level() >= Level::Prepare && (is_stale || ends_turn) {
            self.submit(Job::Prepare(session.clone()));
        }
    }

    fn window(&self, model: &str, exchange: &ObservedExchange) -> Window {
        if let Some(tokens) = self.policy.window {
            return Window::set_to(tokens);
        }
        let betas = exchange.request.headers().get_all(BETA_HEADER);
        // The client's name of the model may have a suffix that the response's does not have.
        let asked = exchange.request.index().and_then(|index| index.model());
        let asked = asked.as_deref().unwrap_or(model);
        Window::of_request(asked, betas.iter().filter_map(|value| value.to_str().ok()))
    }

    fn compacted(&self, session: &ClientSessionId, exchange: &ObservedExchange) {
        let Some(text) = crate::recorder::last_text(exchange) else {
            return;
        };
        let context = self.context(session);
        let mut context = lock(&context);
        context.restoration = Restoration::Pending;
        context.lost = None;
        // The conversation that it summarised is gone.
        context.summary_at = None;
        let before = context.meter.map(|meter| meter.tokens);
        self.submit(Job::Compacted(CompactionSummary {
            session: session.clone(),
            id: grov_domain::ExchangeId::fresh().to_string(),
            text,
            tokens_before: before.or(Some(tokens(exchange))),
            at: exchange.ended_at,
        }));
    }
}

/// Shows exchanges to a [`ContextMonitor`].
pub struct ContextObserver(pub Arc<ContextMonitor>);

impl TurnObserver for ContextObserver {
    fn name(&self) -> &'static str {
        "context"
    }

    fn observe(&self, exchange: &ObservedExchange) {
        self.0.observe(exchange);
    }
}

impl ContextMonitor {
    fn observe(&self, exchange: &ObservedExchange) {
        let identity = Identity::of(&exchange.request);
        if !identity.session_is_named || exchange.outcome != Outcome::Complete {
            return;
        }
        match identity.kind {
            ExchangeKind::Main => self.measure(&identity.session, exchange),
            ExchangeKind::Side(SideRequest::Compaction) if identity.agent.is_none() => {
                self.compacted(&identity.session, exchange);
            }
            _ => {}
        }
    }
}

fn tokens(exchange: &ObservedExchange) -> u64 {
    let usage = &exchange.turn.usage;
    context_tokens(&TokenUsage {
        input: usage.input,
        cache_read: usage.cache_read,
        cache_creation: usage.cache_creation,
        output: usage.output,
        ..TokenUsage::default()
    })
}

fn model(exchange: &ObservedExchange) -> Option<String> {
    let asked = || Some(exchange.request.index()?.model()?.into_owned());
    exchange.turn.model.clone().or_else(asked)
}

fn lock(context: &Mutex<SessionContext>) -> MutexGuard<'_, SessionContext> {
    context.lock().unwrap_or_else(PoisonError::into_inner)
}
