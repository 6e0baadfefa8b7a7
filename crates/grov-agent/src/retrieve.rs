//! Retrieval: words and vectors fused, filtered, without near-duplicates, within a budget.
//!
//! While the texts are embedded again by another model, the vectors of both are searched if both models can embed a question
//! ([`OlderEmbedders`]), and the words of all texts in any case: nothing is out of reach.

mod budget;
mod candidates;
mod older;
mod similar;
mod words;

pub(crate) use words::folded;

use crate::{
    AgentStore, AgentStoreError, Category, DocumentId, FoundChunk, FoundItem, MemoryType, ProjectId,
    SearchBy, SearchFilter, SearchScope, Situation, SourceKind,
};
pub use older::OlderEmbedders;

use candidates::{Candidate, Candidates};
use futures_util::future::{self, Either};
use grov_domain::{Clock, Embedder, Embedding};
use grov_redact::Redacted;
use serde::Serialize;
use similar::{Sameness, Seen};
use std::sync::Arc;
use std::time::Duration;
use words::Word;

/// How long a search waits for the embedding of a question.
const EMBEDDING_WAIT: Duration = Duration::from_secs(2);
/// The most passages of a chat.
const MAX_PASSAGES: u32 = 24;
/// Results that a search requests of the store for each that it returns: near-duplicates are dropped, and lists are fused.
const REQUESTED_PER_RESULT: u32 = 4;
/// The least and the most results that a search requests of the store.
const REQUESTED: std::ops::RangeInclusive<u32> = 40..=200;
/// The similarity (cosine) from which a passage fits a question with which it shares no word of value.
const SIMILAR_ENOUGH: f64 = 0.4;
/// The share of the question's words from which a passage fits if it shares common words only.
const COVERED_ENOUGH: f64 = 0.5;

/// A passage of a document or an item of memory that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// What it is.
    pub kind: SourceKind,
    /// The id of the chunk or item.
    pub id: String,
    /// The fused score, larger is better.
    pub score: f64,
    /// The text.
    pub text: String,
    /// Where a chunk comes from.
    pub document: Option<PassageDocument>,
    /// What an item is.
    pub item_type: Option<MemoryType>,
    /// Why it was found.
    pub why: Why,
}

/// The document of a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassageDocument {
    /// The document.
    pub id: DocumentId,
    /// Its title.
    pub title: String,
    /// Its category.
    pub category: Category,
    /// Titles of the headings above the chunk, outermost first.
    pub heading_path: Vec<String>,
}

/// Why a passage was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Why {
    /// Its rank by words, from 1.
    pub words_rank: Option<u32>,
    /// Its rank by vectors, from 1.
    pub vector_rank: Option<u32>,
    /// The words of the question that it contains.
    pub matched_words: Vec<String>,
    /// The factor for its age or category.
    pub recency: Option<f64>,
}

/// What a chat receives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retrieved {
    /// Passages, best first.
    pub passages: Vec<Passage>,
    /// What holds whatever is asked.
    pub situation: Situation,
}

/// Searches documents and memory.
#[derive(Clone)]
pub struct Retriever {
    store: Arc<dyn AgentStore>,
    embedder: Option<Arc<dyn Embedder>>,
    older: OlderEmbedders,
    clock: Arc<dyn Clock>,
}

impl Retriever {
    /// Creates a retriever. Without an embedder it searches by words.
    pub fn new(
        store: Arc<dyn AgentStore>,
        embedder: Option<Arc<dyn Embedder>>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            store,
            embedder,
            older: OlderEmbedders::default(),
            clock,
        }
    }

    /// Also searches the vectors of these models, for texts that the model in use has not embedded yet.
    #[must_use]
    pub fn with_older(self, older: OlderEmbedders) -> Self {
        Self { older, ..self }
    }

    /// Returns the best `k` passages.
    ///
    /// # Errors
    ///
    /// Returns the error of the store. If the embedder fails, words alone are searched.
    pub async fn search(
        &self,
        project: ProjectId,
        question: &Redacted,
        filter: &SearchFilter,
        k: u32,
    ) -> Result<Vec<Passage>, AgentStoreError> {
        let words = words::words_of(question);
        let candidates = self.candidates(project, question, &words, filter, k).await?;
        Ok(distinct(candidates, k, |_| true))
    }

    /// Returns what a chat about `question` needs, within `budget` tokens: the situation, then passages that fit.
    ///
    /// A passage fits if it shares a word with the question that does not occur in texts about anything, or half of the words of
    /// a question that has only such words, or is similar by its embedding.
    ///
    /// # Errors
    ///
    /// Returns the error of the store.
    pub async fn retrieve(
        &self,
        project: ProjectId,
        question: &Redacted,
        budget: u32,
    ) -> Result<Retrieved, AgentStoreError> {
        let words = words::words_of(question);
        let filter = SearchFilter::default();
        let (situation, candidates) = future::try_join(
            self.store.situation(project, self.clock.now()),
            self.candidates(project, question, &words, &filter, MAX_PASSAGES),
        )
        .await?;
        let (situation, mut left) = budget::bounded(situation, budget);
        let known: Vec<String> = budget::ids(&situation);
        let has_rare_word = words.iter().any(|word| !word.is_common);
        let passages = distinct(candidates, MAX_PASSAGES, |candidate| {
            let fits = fits(candidate, has_rare_word)
                && candidate.tokens <= left
                && !known.contains(&candidate.passage.id);
            if fits {
                left -= candidate.tokens;
            }
            fits
        });
        Ok(Retrieved { passages, situation })
    }

    /// Searches by words and by vectors at the same time, and fuses what is found.
    async fn candidates(
        &self,
        project: ProjectId,
        question: &Redacted,
        words: &[Word],
        filter: &SearchFilter,
        k: u32,
    ) -> Result<Vec<Candidate>, AgentStoreError> {
        let now = self.clock.now();
        let scope = SearchScope {
            project,
            filter,
            limit: k
                .saturating_mul(REQUESTED_PER_RESULT)
                .clamp(*REQUESTED.start(), *REQUESTED.end()),
            now,
        };
        let texts: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        let by_words = async {
            if texts.is_empty() {
                return Ok((Vec::new(), Vec::new()));
            }
            self.find(&SearchBy::Words(&texts), &scope).await
        };
        let by_vector = async {
            let (mut chunks, mut items) = (Vec::new(), Vec::new());
            let models = self.embedder.iter().cloned().chain(self.older.all());
            for embedder in models {
                let Some(embedding) = embedded(&*embedder, question).await else {
                    continue;
                };
                let by = SearchBy::Vector {
                    model: embedder.model(),
                    embedding: &embedding,
                };
                let (more_chunks, more_items) = self.find(&by, &scope).await?;
                // What both models embedded is judged by the model in use.
                add_new(&mut chunks, more_chunks, |chunk: &FoundChunk| chunk.id);
                add_new(&mut items, more_items, |found: &FoundItem| found.item.id);
            }
            Ok((chunks, items))
        };
        let (by_words, by_vector) = future::try_join(by_words, by_vector).await?;
        let mut candidates = Candidates::new(words, now);
        candidates.add_by_words(by_words.0, by_words.1);
        candidates.add_by_vector(by_vector.0, by_vector.1);
        Ok(candidates.ranked())
    }

    /// Finds chunks and items. A filter of categories alone means chunks, one of types alone items.
    async fn find(
        &self,
        by: &SearchBy<'_>,
        scope: &SearchScope<'_>,
    ) -> Result<(Vec<FoundChunk>, Vec<FoundItem>), AgentStoreError> {
        let (categories, types) = (&scope.filter.categories, &scope.filter.types);
        let chunks = async {
            if categories.is_empty() && !types.is_empty() {
                return Ok(Vec::new());
            }
            self.store.find_chunks(by, scope).await
        };
        let items = async {
            if types.is_empty() && !categories.is_empty() {
                return Ok(Vec::new());
            }
            self.store.find_items(by, scope).await
        };
        future::try_join(chunks, items).await
    }
}

/// Whether a passage says something about the question.
fn fits(candidate: &Candidate, question_has_rare_word: bool) -> bool {
    let by_words = if question_has_rare_word {
        candidate.shares_rare_word
    } else {
        candidate.coverage >= COVERED_ENOUGH
    };
    by_words
        || candidate
            .similarity
            .is_some_and(|similarity| similarity >= SIMILAR_ENOUGH)
}

/// Returns the first `k` passages that `accept` takes, without near-duplicates. Where a document and memory say the same, the
/// document stays, at the better of both places.
fn distinct(candidates: Vec<Candidate>, k: u32, mut accept: impl FnMut(&Candidate) -> bool) -> Vec<Passage> {
    let most = usize::try_from(k).unwrap_or(usize::MAX);
    let mut kept: Vec<Passage> = Vec::new();
    let mut seen = Seen::default();
    // The place of each seen text among those that are kept.
    let mut places: Vec<usize> = Vec::new();
    for candidate in candidates {
        if kept.len() >= most {
            break;
        }
        let is_chunk = candidate.passage.kind == SourceKind::Chunk;
        let same = seen
            .like(&candidate.shingles)
            .into_iter()
            .find_map(|(number, how)| {
                let place = places[number];
                let other_is_chunk = kept[place].kind == SourceKind::Chunk;
                let is_same = match how {
                    Sameness::Same => true,
                    Sameness::NewInKnown => !is_chunk && other_is_chunk,
                    Sameness::KnownInNew => is_chunk && !other_is_chunk,
                };
                is_same.then_some(place)
            });
        let replaces = same.is_some_and(|place| is_chunk && kept[place].kind == SourceKind::Memory);
        if (same.is_some() && !replaces) || !accept(&candidate) {
            continue;
        }
        seen.add(&candidate.shingles);
        match same {
            Some(place) => {
                let score = kept[place].score;
                kept[place] = Passage {
                    score,
                    ..candidate.passage
                };
                places.push(place);
            }
            None => {
                places.push(kept.len());
                kept.push(candidate.passage);
            }
        }
    }
    kept
}

/// Embeds a question; `None` if the model fails or takes longer than [`EMBEDDING_WAIT`].
async fn embedded(embedder: &dyn Embedder, question: &Redacted) -> Option<Embedding> {
    let texts = [question.clone()];
    let timer = futures_timer::Delay::new(EMBEDDING_WAIT);
    match future::select(embedder.embed(&texts), timer).await {
        Either::Left((Ok(embeddings), _)) => embeddings.into_iter().next(),
        Either::Left((Err(error), _)) => {
            tracing::warn!(%error, "the question was not embedded; words alone are searched");
            None
        }
        Either::Right(_) => {
            tracing::warn!("the embedding model took longer than 2 s; words alone are searched");
            None
        }
    }
}

/// Adds those of `more` whose keys are not there yet.
fn add_new<T, K: PartialEq>(found: &mut Vec<T>, more: Vec<T>, key: impl Fn(&T) -> K) {
    let known: Vec<K> = found.iter().map(&key).collect();
    found.extend(more.into_iter().filter(|one| !known.contains(&key(one))));
}

#[cfg(test)]
mod tests;
