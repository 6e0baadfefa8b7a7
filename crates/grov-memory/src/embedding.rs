//! Memories get their embeddings in the background, a few at a time: new ones, those whose words changed, and all of them
//! when the model is another one.

use grov_domain::{
    EmbedError, Embedder, Embedding, EmbeddingProgress, EmbeddingStore, MAX_TEXT_BYTES, StoreError, Task,
    Unembedded,
};
use grov_redact::{Redacted, Redactor};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Files of a memory that are embedded with it.
const FILES: usize = 16;
/// Memories embedded with one call: a slow model on this machine manages so many before the call's time is up.
const BATCH: u32 = 16;
/// Bytes of a text that was too much for a model, when it is tried once more.
const SHORT: usize = 400;
/// After so many batches newer memories get their turn before the older ones go on.
const BATCHES_IN_A_ROW: u32 = 50;
/// Rest between two batches: a model on this machine is not its only work.
const BETWEEN_BATCHES: Duration = Duration::from_millis(200);
/// How long new memories wait at most where there is nothing else to do, and a provider that failed is left alone.
const OTHERWISE: Duration = Duration::from_secs(60);

/// Why nothing is embedded.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Embedder(#[from] EmbedError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How far the embedding of memories is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingStatus {
    /// The model.
    pub model: String,
    /// Memories in all, and those that the model has looked at.
    pub progress: EmbeddingProgress,
    /// Why it does not go on at present.
    pub trouble: Option<String>,
}

/// Reads how far the embedding of memories is, from anywhere.
#[derive(Clone, Debug)]
pub struct EmbeddingState(Arc<Mutex<EmbeddingStatus>>);

impl EmbeddingState {
    /// How far it is.
    pub fn read(&self) -> EmbeddingStatus {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, change: impl FnOnce(&mut EmbeddingStatus)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// The work of embedding memories, to be done step by step for as long as a process runs.
pub struct EmbeddingWork {
    store: Arc<dyn EmbeddingStore>,
    embedder: Arc<dyn Embedder>,
    state: EmbeddingState,
    /// Memories from this number on had their turn.
    below: Option<i64>,
    in_a_row: u32,
}

impl EmbeddingWork {
    /// The work, and how it stands.
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

    /// Does at most one batch, and says how long to wait before the next step. Dropped half-way, the batch is done again.
    pub async fn step(&mut self) -> Duration {
        let (wait, trouble) = match self.batch().await {
            Ok(true) => (BETWEEN_BATCHES, None),
            Ok(false) => (OTHERWISE, None),
            Err(trouble) => (OTHERWISE, Some(trouble.to_string())),
        };
        let known = self.state.read().trouble;
        if let Some(trouble) = trouble.as_ref().filter(|trouble| known.as_ref() != Some(trouble)) {
            tracing::warn!(%trouble, "memories are not embedded; searches go on with words");
        }
        if known.is_some() && trouble.is_none() {
            tracing::info!("memories are embedded again");
        }
        self.state.change(|status| status.trouble = trouble);
        wait
    }

    /// Whether there was something to do.
    async fn batch(&mut self) -> Result<bool, Trouble> {
        let embedder = Arc::clone(&self.embedder);
        let model = embedder.model();
        let progress = self.store.embedding_progress(model).await?;
        self.state.change(|status| status.progress = progress);
        if progress.done >= progress.memories {
            self.start_over();
            return Ok(false);
        }
        let found = self.store.unembedded(model, self.below, BATCH).await?;
        if found.is_empty() {
            // What is left came after this round began.
            let was_a_round = self.below.is_some();
            self.start_over();
            return Ok(was_a_round);
        }
        let (embedded, last) = self.embed(found).await?;
        self.store.keep_embeddings(model, &embedded).await?;
        self.below = last;
        self.in_a_row += 1;
        if self.in_a_row >= BATCHES_IN_A_ROW {
            self.start_over();
        }
        let progress = self.store.embedding_progress(model).await?;
        self.state.change(|status| status.progress = progress);
        Ok(true)
    }

    /// The newest memories are next.
    fn start_over(&mut self) {
        self.below = None;
        self.in_a_row = 0;
    }

    /// What the model makes of memories, and the number of the last one.
    async fn embed(
        &self,
        found: Vec<Unembedded>,
    ) -> Result<(Vec<(Task, Option<Embedding>)>, Option<i64>), Trouble> {
        let texts = found.iter().map(|memory| text_of(&memory.task));
        let texts: Vec<Redacted> = texts.map(|text| Redactor::shared().text(&text)).collect();
        let embeddings = match self.embedder.embed(&texts).await {
            Ok(embeddings) => embeddings.into_iter().map(Some).collect(),
            // Some servers say of a text that is too long for them that they failed.
            Err(EmbedError::Refused(_) | EmbedError::Failed(_)) => self.embed_one_by_one(&texts).await?,
            Err(error) => return Err(error.into()),
        };
        let last = found
            .get(embeddings.len().saturating_sub(1))
            .map(|memory| memory.document);
        let tasks = found.into_iter().map(|memory| memory.task);
        Ok((tasks.zip(embeddings).collect(), last))
    }

    /// Finds out which of the texts are beyond the model. Ends early, with what there is, when the provider fails.
    async fn embed_one_by_one(&self, texts: &[Redacted]) -> Result<Vec<Option<Embedding>>, EmbedError> {
        self.try_out().await?;
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

    /// The embedding of a text or of its beginning; `None` if both are beyond a model that works otherwise.
    async fn embed_one(&self, text: &Redacted) -> Result<Option<Embedding>, EmbedError> {
        for text in [text.clone(), text.beginning_to(SHORT)] {
            match self.embedder.embed(&[text]).await {
                Ok(mut found) => return Ok(found.pop()),
                Err(EmbedError::Refused(_) | EmbedError::Failed(_)) => {}
                Err(error) => return Err(error),
            }
        }
        self.try_out().await.map(|()| None)
    }

    /// Fails if the provider does not take even this: then it is not about a text, but about the model, the address or
    /// the provider.
    async fn try_out(&self) -> Result<(), EmbedError> {
        self.embedder
            .embed(&[Redactor::shared().text("memory")])
            .await
            .map(drop)
    }
}

/// What of a memory is embedded: what was asked and decided, in which files, and then what was done, as far as there is
/// room.
fn text_of(task: &Task) -> String {
    let goal = task.goal.iter().filter(|goal| **goal != task.original_query);
    let mut text = String::new();
    let mut add = |words: &str| {
        // The rest of a text that is longer than what is looked at would only be carried around.
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
    let files = task.files_touched.iter().take(FILES);
    let rest = task.constraints.iter().chain(&task.tags).chain(files);
    rest.chain(&task.reasoning_trace).for_each(|words| add(words));
    text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
