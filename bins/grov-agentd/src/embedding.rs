//! Embeds chunks and memory in the background: new ones soon after they are stored, and all of them after a change of the model.
//!
//! Several instances may work on one database: the same embedding is then computed twice at worst. Instances with different
//! models do not undo each other's work: the one that was started last wins, and the others stop embedding.

use anyhow::bail;
use grov_agent::{AgentStoreError, Embeddable, EmbeddedShare, OlderEmbedders, SearchStore};
use grov_domain::{EmbedError, Embedder, Embedding};
use grov_redact::{Redacted, Redactor};
use grov_runtime::Shutdown;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Texts of one call: as many as a slow local model embeds within the timeout.
const BATCH: u32 = 32;
/// Size of a text in bytes for the second attempt, after the model refused the whole text.
const SECOND_ATTEMPT_BYTES: usize = 400;
/// How often the database is looked at without being woken, for texts of other instances.
const POLL: Duration = Duration::from_secs(10);
/// The pause after the first failure; doubled after each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Makes the embedder of a model by its name and dimension, if it can be had with the present settings.
pub(crate) type Rebuild = Box<dyn Fn(&str, usize) -> Option<Arc<dyn Embedder>> + Send + Sync>;

/// The background work.
pub(crate) struct EmbeddingWork {
    store: Arc<dyn SearchStore>,
    embedder: Arc<dyn Embedder>,
    status: EmbeddingStatus,
    wake: Arc<Notify>,
    /// The models whose embeddings are searched until this one is complete.
    searched: OlderEmbedders,
    rebuild: Rebuild,
    /// Whether the model is registered.
    is_registered: bool,
    /// Models that had embeddings when this one was registered. They are deleted when this one is complete.
    older: BTreeSet<String>,
}

/// The progress of the worker, shared.
#[derive(Clone, Debug, Default)]
pub(crate) struct EmbeddingStatus(Arc<Mutex<Progress>>);

/// The progress of the worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The model's dimension, once it is known.
    pub(crate) dimension: Option<usize>,
    /// How much is embedded.
    pub(crate) share: EmbeddedShare,
    /// Why nothing is embedded at present.
    pub(crate) trouble: Option<String>,
}

impl EmbeddingStatus {
    /// The progress now.
    pub(crate) fn read(&self) -> Progress {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, change: impl FnOnce(&mut Progress)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Embeds until the service stops. A step that is interrupted is made again.
pub(crate) async fn run(mut work: EmbeddingWork, mut stopping: Shutdown) {
    let embedder = Arc::clone(&work.embedder);
    let endless = async {
        let mut failures = 0_u32;
        loop {
            match work.step().await {
                Ok(is_more) => {
                    failures = 0;
                    work.clear_trouble();
                    if !is_more {
                        let _ = tokio::time::timeout(POLL, work.wake.notified()).await;
                    }
                }
                Err(error) => {
                    work.note_trouble(&error);
                    let pause = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(failures));
                    failures = failures.saturating_add(1);
                    tokio::time::sleep(pause.min(LONGEST_PAUSE)).await;
                }
            }
        }
    };
    tokio::select! {
        () = endless => {}
        () = stopping.requested() => {}
    }
    embedder.close().await;
}

impl EmbeddingWork {
    /// Work that reports to `status` and is woken by `wake` when texts were stored.
    pub(crate) fn new(
        store: Arc<dyn SearchStore>,
        embedder: Arc<dyn Embedder>,
        status: EmbeddingStatus,
        wake: Arc<Notify>,
    ) -> Self {
        Self {
            store,
            embedder,
            status,
            wake,
            searched: OlderEmbedders::default(),
            rebuild: Box::new(|_, _| None),
            is_registered: false,
            older: BTreeSet::new(),
        }
    }

    /// Lets older models that `rebuild` makes be searched until this one is complete.
    pub(crate) fn searching(self, searched: OlderEmbedders, rebuild: Rebuild) -> Self {
        Self {
            searched,
            rebuild,
            ..self
        }
    }

    /// Embeds at most one batch. Returns whether there may be more.
    async fn step(&mut self) -> anyhow::Result<bool> {
        if !self.is_registered {
            self.register().await?;
        }
        let newer = self
            .others()
            .await?
            .into_iter()
            .find(|name| !self.older.contains(name));
        if let Some(newer) = newer {
            bail!(
                "another grov-agentd on this database embeds with {newer}, so this one embeds nothing with {}; \
                 give both the same EMBEDDING settings and start them again",
                self.embedder.model()
            );
        }
        let found = self.store.unembedded(self.embedder.model(), BATCH).await?;
        let is_more = !found.is_empty();
        if is_more {
            let embedded = self.embed(found).await?;
            self.store
                .store_embeddings(self.embedder.model(), &embedded)
                .await?;
        }
        let share = self.store.embedded_share(self.embedder.model()).await?;
        self.status.change(|progress| progress.share = share);
        if !is_more && share.done >= share.total && !self.older.is_empty() {
            self.store.drop_other_models(self.embedder.model()).await?;
            tracing::info!(
                model = self.embedder.model(),
                "everything is embedded by this model; older embeddings are deleted"
            );
            self.older.clear();
            self.searched.set(Vec::new());
        }
        Ok(is_more)
    }

    /// Finds out the model's dimension and registers it.
    async fn register(&mut self) -> anyhow::Result<()> {
        let dimension = self.probe().await?;
        self.older = self.others().await?;
        self.store.use_model(self.embedder.model(), dimension).await?;
        self.status
            .change(|progress| progress.dimension = Some(dimension));
        let models = self.store.models().await?.into_iter();
        let older = models.filter(|(name, _)| self.older.contains(name));
        self.searched.set(
            older
                .filter_map(|(name, dimension)| (self.rebuild)(&name, dimension))
                .collect(),
        );
        self.is_registered = true;
        tracing::info!(
            model = self.embedder.model(),
            dimension,
            older = self.older.len(),
            "texts are embedded"
        );
        Ok(())
    }

    /// The other models that have embeddings.
    async fn others(&self) -> Result<BTreeSet<String>, AgentStoreError> {
        let models = self.store.models().await?.into_iter();
        Ok(models
            .map(|(name, _)| name)
            .filter(|name| name != self.embedder.model())
            .collect())
    }

    /// The embeddings of texts; `None` for one that a working model refuses.
    async fn embed(
        &self,
        found: Vec<(Embeddable, Redacted)>,
    ) -> Result<Vec<(Embeddable, Option<Embedding>)>, EmbedError> {
        let (keys, texts): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let embeddings = match self.embedder.embed(&texts).await {
            Ok(embeddings) => embeddings.into_iter().map(Some).collect(),
            // Some servers report a failure for a text that is too long.
            Err(EmbedError::Refused(_) | EmbedError::Failed(_)) => self.embed_one_by_one(&texts).await?,
            Err(error) => return Err(error),
        };
        Ok(keys.into_iter().zip(embeddings).collect())
    }

    /// Embeds texts one by one, to find those that the model refuses. Returns those done if the provider fails later.
    async fn embed_one_by_one(&self, texts: &[Redacted]) -> Result<Vec<Option<Embedding>>, EmbedError> {
        self.probe().await?;
        let mut embeddings = Vec::with_capacity(texts.len());
        for text in texts {
            match self.embed_one(text).await {
                Ok(embedding) => embeddings.push(embedding),
                Err(error) if embeddings.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(embeddings)
    }

    /// The embedding of a text or of its beginning; `None` if a working model refuses both.
    async fn embed_one(&self, text: &Redacted) -> Result<Option<Embedding>, EmbedError> {
        for text in [text.clone(), text.beginning_to(SECOND_ATTEMPT_BYTES)] {
            match self.embedder.embed(&[text]).await {
                Ok(mut found) => return Ok(found.pop()),
                Err(EmbedError::Refused(_) | EmbedError::Failed(_)) => {}
                Err(error) => return Err(error),
            }
        }
        self.probe().await.map(|_| None)
    }

    /// Embeds a short text and returns the dimension. An error means that model, address or provider are at fault, not a text.
    async fn probe(&self) -> Result<usize, EmbedError> {
        let text = Redactor::shared().text("memory");
        let found = self.embedder.embed(&[text]).await?;
        Ok(found.first().map_or(0, Embedding::dimension))
    }

    fn note_trouble(&self, error: &anyhow::Error) {
        let trouble = error.to_string();
        if self.status.read().trouble.as_ref() != Some(&trouble) {
            tracing::warn!(error = %trouble, "texts are not embedded; searches go on with words");
        }
        self.status.change(|progress| progress.trouble = Some(trouble));
    }

    fn clear_trouble(&self) {
        if self.status.read().trouble.is_some() {
            tracing::info!("texts are embedded again");
        }
        self.status.change(|progress| progress.trouble = None);
    }
}

#[cfg(test)]
mod tests;
