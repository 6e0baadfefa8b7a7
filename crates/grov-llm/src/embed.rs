//! Text embeddings: from a server, within the budget, or from a static model in this process.

mod hashed;
mod settings;
mod static_model;
mod wire;

pub use hashed::HashEmbedder;
pub use settings::{EmbedderProvider, EmbedderSettings};
pub use static_model::{StaticEmbedder, StaticModelError};

use crate::SetupError;
use crate::breaker::{Breaker, Health, OpenReason};
use crate::endpoint::{self, Endpoint};
use crate::model::{ModelError, OpenAi, Reply, Transport};
use crate::spending::{Ledger, Price, Spent, max_tokens_of};
use crate::{quote, retry};
use async_trait::async_trait;
use grov_domain::{
    Clock, EmbedError, Embedder, Embedding, MAX_TEXT_BYTES, MAX_TEXTS, Purpose, Redacted, SpendingStore,
    TokenUsage,
};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::Instant;
use wire::Answer;

/// The longest response, in bytes: 4096 dimensions per text, with long numbers.
const MAX_RESPONSE_BYTES: usize = MAX_TEXTS * 4096 * 24;

/// The deadline of one request, retries included.
const OVERALL: Duration = Duration::from_secs(90);

/// The path of servers that have no `/v1`.
const UNVERSIONED_PATH: &str = "embeddings";

/// Gets embeddings from a server, within the budget of all own calls if there is a ledger. Sends redacted text only.
pub struct HttpEmbedder {
    provider: EmbedderProvider,
    /// The model, as the server knows it.
    name: String,
    /// Provider and model, and the dimension if one is asked for.
    id: String,
    dimensions: Option<usize>,
    /// Whether the server takes the wish for a dimension.
    takes_dimensions: AtomicBool,
    /// Whether the path is not below `/v1`.
    is_unversioned: AtomicBool,
    transport: Transport,
    ledger: Option<Ledger>,
    breaker: Breaker,
    timeout: Duration,
}

impl HttpEmbedder {
    /// An embedder with these settings. Makes no connection; the first call must be within a tokio runtime.
    ///
    /// # Errors
    /// When the settings cannot be used: see [`SetupError`].
    pub fn new(
        settings: EmbedderSettings,
        ledger: Arc<dyn SpendingStore>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SetupError> {
        let (provider, budget) = (settings.provider, settings.daily_budget);
        let embedder = Self::unmetered(settings)?;
        let price = Price::of_embedding(&embedder.name, embedder.transport.endpoint().is_loopback());
        let name = embedder.name.clone();
        let ledger = Ledger::new(ledger, clock, budget, provider.as_str(), name, price);
        Ok(Self {
            ledger: Some(ledger),
            ..embedder
        })
    }

    /// An embedder without ledger and budget, for a service whose operator wants everything embedded.
    ///
    /// # Errors
    /// When the settings cannot be used: see [`SetupError`].
    pub fn unmetered(settings: EmbedderSettings) -> Result<Self, SetupError> {
        let provider = settings.provider;
        let key = settings
            .api_key
            .as_ref()
            .filter(|key| !key.expose().trim().is_empty());
        let endpoint = Endpoint::parse(settings.base_url.as_deref().unwrap_or(provider.base_url()))?;
        let proxy = settings.proxy.as_deref().map(endpoint::proxy).transpose()?;
        let headers = OpenAi::headers(key)?;
        let transport = Transport::new(endpoint, proxy, settings.own_listeners, headers)?
            .with_max_response_bytes(MAX_RESPONSE_BYTES);
        let name = settings.model.trim().to_owned();
        if name.is_empty() {
            return Err(SetupError::NoModel);
        }
        let mut id = format!("{}/{name}", provider.as_str());
        if let Some(dimensions) = settings.dimensions {
            id.push_str(&format!("/{dimensions}"));
        }
        Ok(Self {
            provider,
            id,
            name,
            dimensions: settings.dimensions,
            takes_dimensions: AtomicBool::new(true),
            is_unversioned: AtomicBool::new(false),
            transport,
            ledger: None,
            breaker: Breaker::new("the embedding provider", "nothing is embedded"),
            timeout: settings.timeout,
        })
    }

    /// One call, permitted by the breaker, reserved and settled in the ledger.
    async fn call(&self, texts: &[String], deadline: Instant) -> Result<Answer, CallError> {
        let pass = self
            .breaker
            .try_acquire()
            .ok_or_else(|| CallError::Paused(self.why_blocked().to_owned()))?;
        let max = TokenUsage {
            input: texts.iter().map(|text| max_tokens_of(text.len())).sum(),
            ..TokenUsage::default()
        };
        let reserved = match &self.ledger {
            Some(ledger) => {
                let reserved = ledger.reserve(None, Purpose::Embedding, max).await;
                Some((
                    ledger,
                    reserved.map_err(|error| CallError::Paused(error.to_string()))?,
                ))
            }
            None => None,
        };
        let begun = Instant::now();
        let limit = self.timeout.min(deadline.saturating_duration_since(begun));
        let asked = tokio::time::timeout(limit, self.ask(texts)).await;
        let reply = asked.unwrap_or(Err(ModelError::TimedOut(limit)));
        let result = reply
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|reply| match reply.status {
                200 => wire::read(self.provider, reply, texts.len()),
                _ => Err(ModelError::of_status(reply)),
            });
        pass.report(health(&result));
        let used = match (&result, &reply) {
            // An unusable answer was paid for as well.
            (Err(_), Ok(reply)) if reply.status == 200 => Ok(Spent::default()),
            (result, _) => result.as_ref().map(|answer| Spent {
                usage: answer.usage,
                cost: None,
            }),
        };
        if let Some((ledger, reserved)) = reserved {
            ledger
                .settle(reserved, used, result.is_ok(), begun.elapsed())
                .await;
        }
        if let Err(error) = &result {
            tracing::debug!(%error, "a call for embeddings failed");
        }
        result.map_err(CallError::Failed)
    }

    /// Asks the server. A form of the request that it does not know is left out, once and for all.
    async fn ask(&self, texts: &[String]) -> Result<Reply, ModelError> {
        loop {
            let wish = self
                .dimensions
                .filter(|_| self.takes_dimensions.load(Ordering::Relaxed));
            let is_unversioned = self.is_unversioned.load(Ordering::Relaxed);
            let path = if is_unversioned {
                UNVERSIONED_PATH
            } else {
                self.provider.path()
            };
            let body = wire::body(self.provider, &self.name, wish, texts);
            let reply = self.transport.post(path, &body, None).await?;
            // With a ledger each call is one request.
            let may_be_elsewhere = self.ledger.is_none()
                && self.provider == EmbedderProvider::OpenAi
                && !self.transport.endpoint().ends_in_v1();
            match reply.status {
                400 | 422 if wish.is_some() && reply.mentions("dimension") => {
                    self.takes_dimensions.store(false, Ordering::Relaxed);
                }
                // If there is nothing either, the first path is the next again.
                404 | 405 if may_be_elsewhere => {
                    self.is_unversioned.store(!is_unversioned, Ordering::Relaxed);
                    if is_unversioned {
                        return Ok(reply);
                    }
                }
                _ => return Ok(reply),
            }
        }
    }

    fn why_blocked(&self) -> &'static str {
        match self.breaker.blocked() {
            Some(OpenReason::KeyRefused) => "the provider refused the API key; calls are paused",
            _ => "the provider failed several times in a row; calls are paused",
        }
    }
}

#[async_trait]
impl Embedder for HttpEmbedder {
    fn model(&self) -> &str {
        &self.id
    }

    async fn embed(&self, texts: &[Redacted]) -> Result<Vec<Embedding>, EmbedError> {
        if texts.len() > MAX_TEXTS {
            let refusal = format!("{} are more than {MAX_TEXTS}", texts.len());
            return Err(EmbedError::Refused(refusal));
        }
        // Servers refuse an empty text.
        let shown = |text: &Redacted| match quote::line(text, MAX_TEXT_BYTES) {
            line if line.is_empty() => "-".to_owned(),
            line => line,
        };
        let shown: Vec<String> = texts.iter().map(shown).collect();
        if shown.is_empty() {
            return Ok(Vec::new());
        }
        let deadline = Instant::now() + OVERALL;
        let mut failures = 0;
        loop {
            let error = match self.call(&shown, deadline).await {
                Ok(answer) => return Ok(answer.embeddings),
                Err(CallError::Paused(reason)) => return Err(EmbedError::Paused(reason)),
                Err(CallError::Failed(error)) => error,
            };
            failures += 1;
            let remaining = deadline.saturating_duration_since(Instant::now());
            let Some(pause) = retry::pause(&error, failures, remaining) else {
                return Err(match error {
                    error if is_about_the_texts(&error) => EmbedError::Refused(error.to_string()),
                    error => EmbedError::Failed(error.to_string()),
                });
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Waits until late reservations are released, with a timeout.
    async fn close(&self) {
        if let Some(ledger) = &self.ledger {
            ledger.close().await;
        }
    }
}

impl fmt::Debug for HttpEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEmbedder")
            .field("model", &self.id)
            .finish_non_exhaustive()
    }
}

/// Why a call failed.
enum CallError {
    /// It was not permitted.
    Paused(String),
    /// The provider failed.
    Failed(ModelError),
}

/// The provider's health by this result.
fn health(result: &Result<Answer, ModelError>) -> Health {
    match result {
        Ok(_) => Health::Success,
        Err(ModelError::KeyRefused(_)) => Health::KeyRefused,
        Err(error) if is_about_the_texts(error) => Health::Success,
        Err(_) => Health::Failure,
    }
}

/// Whether a healthy provider rejected these texts, for instance as too long.
fn is_about_the_texts(error: &ModelError) -> bool {
    matches!(
        error,
        ModelError::Rejected {
            status: 400 | 413 | 422,
            ..
        }
    )
}
