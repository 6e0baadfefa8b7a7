//! Embeds memories in the background, a batch at a time: new ones, edited ones, and all of them after a change of the model.

use grov_domain::{
    EmbedError, Embedder, Embedding, EmbeddingProgress, EmbeddingStore, MAX_TEXT_BYTES, StoreError, Task,
    Unembedded,
};
use grov_redact::{Redacted, Redactor};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Maximum number of files of a memory in its embedded text.
const MAX_FILES: usize = 16;
/// Memories per call: as many as a slow local model embeds within the timeout.
const BATCH_SIZE: u32 = 16;
/// Size of a text in bytes for the second attempt, after the model refused the whole text.
const RETRY_BYTES: usize = 400;
/// Maximum number of batches before the worker starts again with the newest memories.
const MAX_BATCHES_PER_ROUND: u32 = 50;
/// Pause between batches, to leave a local machine time for other work.
const BATCH_PAUSE: Duration = Duration::from_millis(200);
/// Pause when everything is embedded, and after a failure.
const IDLE_PAUSE: Duration = Duration::from_secs(60);

/// Why a batch failed.
#[derive(Debug, thiserror::Error)]
enum BatchError {
    #[error(transparent)]
    Embedder(#[from] EmbedError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The progress of embedding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingStatus {
    /// The model.
    pub model: String,
    /// Memories in total, and those the model has processed.
    pub progress: EmbeddingProgress,
    /// The current error, if any.
    pub error: Option<String>,
}

/// A shared handle that reads the progress.
#[derive(Clone, Debug)]
pub struct EmbeddingState(Arc<Mutex<EmbeddingStatus>>);

impl EmbeddingState {
    /// The current progress.
    pub fn read(&self) -> EmbeddingStatus {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, change: impl FnOnce(&mut EmbeddingStatus)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Embeds memories, one [`step`](Self::step) at a time, for as long as the process runs.
pub struct EmbeddingWorker {
    store: Arc<dyn EmbeddingStore>,
    embedder: Arc<dyn Embedder>,
    state: EmbeddingState,
    /// Document numbers from here on were processed in this round.
    below: Option<i64>,
    in_a_row: u32,
}

impl EmbeddingWorker {
    /// A worker, and a handle to its progress.
    pub fn new(store: Arc<dyn EmbeddingStore>, embedder: Arc<dyn Embedder>) -> (Self, EmbeddingState) {
        let status = EmbeddingStatus {
            model: embedder.model().to_owned(),
            ..EmbeddingStatus::default()
        };
        let state = EmbeddingState(Arc::new(Mutex::new(status)));
        let work = Self {
            store,
            embedder,
            state: state.clone(),
            below: None,
            in_a_row: 0,
        };
        (work, state)
    }

    /// Processes at most one batch and returns the pause before the next step. Cancel-safe: an unfinished batch is redone.
    pub async fn step(&mut self) -> Duration {
        let (wait, error) = match self.batch().await {
            Ok(true) => (BATCH_PAUSE, None),
            Ok(false) => (IDLE_PAUSE, None),
            Err(error) => (IDLE_PAUSE, Some(error.to_string())),
        };
        let known = self.state.read().error;
        if let Some(error) = error.as_ref().filter(|error| known.as_ref() != Some(error)) {
            tracing::warn!(%error, "memories are not embedded; searches go on with words");
        }
        if known.is_some() && error.is_none() {
            tracing::info!("memories are embedded again");
        }
        self.state.change(|status| status.error = error);
        wait
    }

    /// Processes one batch. Returns whether there was any work.
    async fn batch(&mut self) -> Result<bool, BatchError> {
        let embedder = Arc::clone(&self.embedder);
        let model = embedder.model();
        let progress = self.store.embedding_progress(model).await?;
        self.state.change(|status| status.progress = progress);
        if progress.done >= progress.memories {
            self.start_over();
            return Ok(false);
        }
        let found = self.store.unembedded(model, self.below, BATCH_SIZE).await?;
        if found.is_empty() {
            // The remaining ones were saved after this round began.
            let was_a_round = self.below.is_some();
            self.start_over();
            return Ok(was_a_round);
        }
        let (embedded, last) = self.embed(found).await?;
        self.store.keep_embeddings(model, &embedded).await?;
        self.below = last;
        self.in_a_row += 1;
        if self.in_a_row >= MAX_BATCHES_PER_ROUND {
            self.start_over();
        }
        let progress = self.store.embedding_progress(model).await?;
        self.state.change(|status| status.progress = progress);
        Ok(true)
    }

    /// Continues with the newest memories.
    fn start_over(&mut self) {
        self.below = None;
        self.in_a_row = 0;
    }

    /// Embeds the memories. Returns them with the number of the last one.
    async fn embed(
        &self,
        found: Vec<Unembedded>,
    ) -> Result<(Vec<(Task, Option<Embedding>)>, Option<i64>), BatchError> {
        let texts = found.iter().map(|memory| text_of(&memory.task));
        let texts: Vec<Redacted> = texts.map(|text| Redactor::shared().text(&text)).collect();
        let embeddings = match self.embedder.embed(&texts).await {
            Ok(embeddings) => embeddings.into_iter().map(Some).collect(),
            // Some servers report a failure for a text that is too long.
            Err(EmbedError::Refused(_) | EmbedError::Failed(_)) => self.embed_one_by_one(&texts).await?,
            Err(error) => return Err(error.into()),
        };
        let last = found
            .get(embeddings.len().saturating_sub(1))
            .map(|memory| memory.document);
        let tasks = found.into_iter().map(|memory| memory.task);
        Ok((tasks.zip(embeddings).collect(), last))
    }

    /// Embeds texts one by one, to find those the model refuses. Returns early with those done if the provider fails.
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
        for text in [text.clone(), text.beginning_to(RETRY_BYTES)] {
            match self.embedder.embed(&[text]).await {
                Ok(mut found) => return Ok(found.pop()),
                Err(EmbedError::Refused(_) | EmbedError::Failed(_)) => {}
                Err(error) => return Err(error),
            }
        }
        self.probe().await.map(|()| None)
    }

    /// Embeds a short probe. An error means that the model, the address or the provider is at fault, not the text.
    async fn probe(&self) -> Result<(), EmbedError> {
        self.embedder
            .embed(&[Redactor::shared().text("memory")])
            .await
            .map(drop)
    }
}

/// The text to embed for a memory: prompt, goal, decisions, constraints, tags, files, and then the trace, up to the limit.
fn text_of(task: &Task) -> String {
    let goal = task.goal.iter().filter(|goal| **goal != task.original_query);
    let mut text = String::new();
    let mut add = |words: &str| {
        if text.len() < MAX_TEXT_BYTES && !words.trim().is_empty() {
            text.push_str(words);
            text.push('\n');
        }
    };
    std::iter::once(&task.original_query)
        .chain(goal)
        .for_each(|words| add(words));
    for decision in &task.decisions {
        add(&decision.choice);
        add(&decision.reason);
    }
    let files = task.files_touched.iter().take(MAX_FILES);
    let rest = task.constraints.iter().chain(&task.tags).chain(files);
    rest.chain(&task.reasoning_trace).for_each(|words| add(words));
    text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
