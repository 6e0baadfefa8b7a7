//! The models of the embeddings that are being replaced.

use grov_domain::Embedder;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Embedders of models whose embeddings are searched until another model has embedded everything. Clones share the list.
#[derive(Clone, Default)]
pub struct OlderEmbedders(Arc<RwLock<Vec<Arc<dyn Embedder>>>>);

impl OlderEmbedders {
    /// Replaces the list.
    pub fn set(&self, embedders: Vec<Arc<dyn Embedder>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = embedders;
    }

    /// Returns the list.
    pub fn all(&self) -> Vec<Arc<dyn Embedder>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for OlderEmbedders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let embedders = self.all();
        f.debug_list()
            .entries(embedders.iter().map(|embedder| embedder.model()))
            .finish()
    }
}
