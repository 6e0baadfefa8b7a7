//! Meaning: how near a memory is to the question in the space of a model.
//!
//! Only memories that words, files or time have found are compared: what a model alone would add measured as nothing
//! (`docs/performance.md`), and to look for it would mean to read every embedding there is.

use crate::candidates::{Candidates, Found};
use crate::search::candidates;
use crate::{Query, Ranking, Signal, search};
use grov_domain::{EmbedError, Embedder, Embedding, EmbeddingStore, MemorySearch, StoreError};
use grov_redact::Redactor;

/// What was found with a model's help, or without it.
#[derive(Clone, Debug, PartialEq)]
pub struct ByMeaning {
    /// The memories that fit, best first.
    pub found: Vec<Found>,
    /// Why the model did not help, if it should have.
    pub trouble: Option<EmbedError>,
}

/// The memories that fit a question, best first, with the help of a model: what [`search`] finds, nearer in meaning
/// higher up. Asks the embedder, which is likely to mean the network: not for the path of a request. An embedder that
/// fails costs its help and no more.
///
/// # Errors
/// Those of the store.
pub async fn search_by_meaning<S: MemorySearch + EmbeddingStore + ?Sized>(
    store: &S,
    embedder: &dyn Embedder,
    query: &Query,
    ranking: &Ranking,
) -> Result<ByMeaning, StoreError> {
    let without = async |trouble| {
        let found = search(store, query, ranking).await?;
        Ok(ByMeaning { found, trouble })
    };
    let model = embedder.model();
    if query.text.trim().is_empty() || store.embedding_progress(model).await?.done == 0 {
        return without(None).await;
    }
    let text = Redactor::shared().text(&query.text);
    let question = match embedder.embed(&[text]).await {
        Ok(mut embeddings) => embeddings.pop(),
        Err(error) => return without(Some(error)).await,
    };
    let Some(question) = question else {
        return without(None).await;
    };
    let mut candidates = candidates(store, query, ranking).await?;
    let embeddings = store.embeddings(model, &candidates.numbers()).await?;
    candidates.add_meaning(&question, &embeddings, ranking);
    Ok(ByMeaning {
        found: candidates.into_found(ranking, query.limit),
        trouble: None,
    })
}

impl Candidates {
    /// Adds what it is worth to mean something near to the question. `embeddings` holds those of memories, by the store's
    /// numbers; those of another space are as far away as can be.
    pub fn add_meaning(&mut self, question: &Embedding, embeddings: &[(i64, Embedding)], ranking: &Ranking) {
        for (document, embedding) in embeddings {
            if let Some(candidate) = self.get_mut(*document) {
                let near = question.similarity(embedding) - ranking.dense_floor;
                candidate.add(
                    Signal::Dense,
                    ranking.dense_weight * near / (1.0 - ranking.dense_floor),
                );
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
