//! Static embeddings without a server: a table with one row per token; the embedding of a text is the sum of its rows.
//!
//! Such models are distilled from larger ones, by model2vec or sentence-transformers. An [`Embedding`] is a direction, so it
//! makes no difference whether a model is normalised.

mod pretokenizer;
mod table;
mod tensors;
mod tokenizer;

use crate::quote;
use async_trait::async_trait;
use grov_domain::{EmbedError, Embedder, Embedding, MAX_TEXT_BYTES, Redacted};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use table::Table;
use tokenizer::Tokenizer;
use xxhash_rust::xxh3::Xxh3;

const TOKENIZER: &str = "tokenizer.json";
const TABLE: &str = "model.safetensors";
/// Where sentence-transformers puts both.
const NESTED: &str = "0_StaticEmbedding";
/// The maximum size of a file, in bytes; tables have 8 to 500 million.
const MAX_FILE: u64 = 1 << 30;
/// Version of the computation, part of the model's id. Must be increased when the same files result in other
/// embeddings.
const READING: &[u8] = b"1";

/// Why a model could not be loaded.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StaticModelError {
    /// A file of the model is missing or cannot be read.
    #[error(
        "{} cannot be read: {reason}; name a folder with the {TOKENIZER} and the {TABLE} of a static embedding model",
        file.display()
    )]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        reason: String,
    },
    /// A file of the model is invalid or not supported.
    #[error(
        "{} cannot be used: {reason}; take a static embedding model with a WordPiece tokenizer, and copy its files completely",
        file.display()
    )]
    Unusable {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// Why the content of a file cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
struct UnusableFile(String);

impl From<String> for UnusableFile {
    fn from(reason: String) -> Self {
        Self(reason)
    }
}

/// Computes embeddings with a static model, whose table it keeps in memory.
pub struct StaticEmbedder {
    id: String,
    tokenizer: Tokenizer,
    table: Table,
}

impl StaticEmbedder {
    /// Reads `tokenizer.json` and `model.safetensors` in this folder: a few milliseconds for each 10 MB.
    ///
    /// # Errors
    /// When one is missing or cannot be used: see [`StaticModelError`].
    pub fn load(folder: &Path) -> Result<Self, StaticModelError> {
        let nested = folder.join(NESTED);
        let folder = if nested.is_dir() {
            nested
        } else {
            folder.to_owned()
        };
        let (tokenizer_file, table_file) = (folder.join(TOKENIZER), folder.join(TABLE));
        let unusable = |file: &Path, UnusableFile(reason)| StaticModelError::Unusable {
            file: file.to_owned(),
            reason,
        };
        let json = read(&tokenizer_file)?;
        let numbers = read(&table_file)?;
        let mut hash = Xxh3::new();
        for part in [READING, &json, &numbers] {
            hash.update(part);
        }
        let tokenizer = Tokenizer::read(&json).map_err(|error| unusable(&tokenizer_file, error))?;
        let table = Table::read(numbers).map_err(|error| unusable(&table_file, error))?;
        let last = tokenizer.last().and_then(|token| usize::try_from(token).ok());
        if tokenizer.size() != table.tokens() || last.is_none_or(|last| last >= table.tokens()) {
            let reason = format!(
                "it has embeddings for {} tokens, and {TOKENIZER} has {}",
                table.tokens(),
                tokenizer.size()
            );
            return Err(unusable(&table_file, UnusableFile(reason)));
        }
        Ok(Self {
            id: format!("static/{:032x}", hash.digest128()),
            tokenizer,
            table,
        })
    }

    /// The embedding of a text; `None` if it has no word that the model knows.
    fn embedding(&self, text: &str) -> Option<Embedding> {
        let skipped = self.tokenizer.unknown().filter(|_| !self.table.unknown_counts());
        let mut sum = vec![0.0; self.table.dimension()];
        // Truncated and cleaned as for a server.
        for token in self.tokenizer.tokens(&quote::line(text, MAX_TEXT_BYTES)) {
            if Some(token) != skipped {
                self.table.add(token, &mut sum);
            }
        }
        Embedding::of(&sum)
    }
}

/// The model id is a hash of the files: other weights cause memories to be embedded again, another folder does not.
#[async_trait]
impl Embedder for StaticEmbedder {
    fn model(&self) -> &str {
        &self.id
    }

    async fn embed(&self, texts: &[Redacted]) -> Result<Vec<Embedding>, EmbedError> {
        let mut embeddings = Vec::with_capacity(texts.len());
        for (at, text) in texts.iter().enumerate() {
            let embedding = self.embedding(text).ok_or_else(|| {
                EmbedError::Refused(format!("text {at} has no word that the static model knows"))
            })?;
            embeddings.push(embedding);
            // Lets other tasks of this thread run.
            tokio::task::yield_now().await;
        }
        Ok(embeddings)
    }
}

impl fmt::Debug for StaticEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticEmbedder")
            .field("model", &self.id)
            .field("tokens", &self.table.tokens())
            .field("dimension", &self.table.dimension())
            .finish_non_exhaustive()
    }
}

/// Reads a file into memory.
fn read(path: &Path) -> Result<Vec<u8>, StaticModelError> {
    let read = || {
        // Opening a named pipe would block until a writer opens it.
        let kind = path.metadata()?;
        if !kind.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        if kind.len() > MAX_FILE {
            return Err(io::Error::other(format!(
                "it has {} bytes, more than {MAX_FILE}",
                kind.len()
            )));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(kind.len()).unwrap_or_default());
        File::open(path)?.take(MAX_FILE).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error: io::Error| StaticModelError::Unreadable {
        file: path.to_owned(),
        reason: error.to_string(),
    })
}

#[cfg(test)]
mod tests;
