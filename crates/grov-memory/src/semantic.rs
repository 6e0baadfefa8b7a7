//! Ranking by embedding similarity.
//!
//! Only candidates found by words, files or time are compared. Searching all embeddings measured no better
//! (`docs/performance.md`) and would read every one of them.

use crate::candidates::{Candidates, Found};
use crate::search::candidates;
use crate::{Query, Ranking, Signal, search};
use grov_domain::{EmbedError, Embedder, Embedding, EmbeddingStore, MemorySearch, StoreError};
use grov_redact::Redactor;

/// The results of [`semantic_search`].
#[derive(Clone, Debug, PartialEq)]
pub struct SemanticSearch {
    /// The results, best first.
    pub found: Vec<Found>,
    /// The embedder's error, if it failed.
    pub error: Option<EmbedError>,
}

/// Like [`search`], ranked also by embedding similarity. Calls the embedder, which may use the network: not for the path of a
/// request. If the embedder fails, the results are those of [`search`].
///
/// # Errors
/// Those of the store.
pub async fn semantic_search<S: MemorySearch + EmbeddingStore + ?Sized>(
    store: &S,
    embedder: &dyn Embedder,
    query: &Query,
    ranking: &Ranking,
) -> Result<SemanticSearch, StoreError> {
    let without = async |error| {
        let found = search(store, query, ranking).await?;
        Ok(SemanticSearch { found, error })
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
    candidates.add_similarity(&question, &embeddings, ranking);
    Ok(SemanticSearch {
        found: candidates.into_found(ranking, query.limit),
        error: None,
    })
}

impl Candidates {
    /// Adds score for similarity to the query's embedding. `embeddings` are those of memories, by document number; one of
    /// another model has no similarity.
    pub fn add_similarity(
        &mut self,
        question: &Embedding,
        embeddings: &[(i64, Embedding)],
        ranking: &Ranking,
    ) {
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
