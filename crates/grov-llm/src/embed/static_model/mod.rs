//! What texts mean, as numbers, without a server: a table with a row for each token, whose rows are added up.
//!
//! Such models are distilled from larger ones; model2vec and sentence-transformers write them. The length of a vector says
//! nothing here (an [`Embedding`] is a direction), so whether a model is normalised makes no difference.

mod table;
mod tensors;
mod tokenizer;
mod words;

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
/// Bytes of a file that is read into memory; tables have 8 to 500 million.
const LARGEST: u64 = 1 << 30;
/// Changes when the same files come to mean other numbers.
const READING: &[u8] = b"1";

/// Why a folder holds no model that can be used.
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
        /// What the system said.
        reason: String,
    },
    /// A file of the model does not hold what it should.
    #[error(
        "{} cannot be used: {reason}; take a static embedding model with a WordPiece tokenizer, and copy its files whole",
        file.display()
    )]
    Unusable {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// Embeds texts in this process, with the files of a static model. The table is in memory as long as this is.
pub struct StaticEmbedder {
    id: String,
    tokenizer: Tokenizer,
    table: Table,
}

impl StaticEmbedder {
    /// Reads `tokenizer.json` and `model.safetensors` in this folder, whole: a few milliseconds for each 10 MB.
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
        let unusable = |file: &Path, reason| StaticModelError::Unusable {
            file: file.to_owned(),
            reason,
        };
        let json = read(&tokenizer_file)?;
        let numbers = read(&table_file)?;
        let mut hash = Xxh3::new();
        for part in [READING, &json, &numbers] {
            hash.update(part);
        }
        let tokenizer = Tokenizer::read(&json).map_err(|reason| unusable(&tokenizer_file, reason))?;
        let table = Table::read(numbers).map_err(|reason| unusable(&table_file, reason))?;
        let last = tokenizer.last().and_then(|token| usize::try_from(token).ok());
        if tokenizer.size() != table.tokens() || last.is_none_or(|last| last >= table.tokens()) {
            let reason = format!(
                "it has embeddings for {} tokens, and {TOKENIZER} has {}",
                table.tokens(),
                tokenizer.size()
            );
            return Err(unusable(&table_file, reason));
        }
        Ok(Self {
            id: format!("static/{:032x}", hash.digest128()),
            tokenizer,
            table,
        })
    }

    /// What a text means; `None` where it has no word that the model knows.
    fn embedding(&self, text: &str) -> Option<Embedding> {
        let passed_over = self.tokenizer.unknown().filter(|_| !self.table.unknown_counts());
        let mut sum = vec![0.0; self.table.dimension()];
        // Cut and cleaned as for a server, so that models are shown the same.
        for token in self.tokenizer.tokens(&quote::line(text, MAX_TEXT_BYTES)) {
            if Some(token) != passed_over {
                self.table.add(token, &mut sum);
            }
        }
        Embedding::of(&sum)
    }
}

/// The name is a hash of the files: with other weights memories are embedded anew, with the same ones in another folder
/// they are not.
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
            // Others on this thread need not wait for all of them.
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

/// A file as it is.
fn read(path: &Path) -> Result<Vec<u8>, StaticModelError> {
    let read = || {
        // Opening a pipe would wait for somebody to write into it.
        let kind = path.metadata()?;
        if !kind.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        if kind.len() > LARGEST {
            return Err(io::Error::other(format!(
                "it has {} bytes, more than {LARGEST}",
                kind.len()
            )));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(kind.len()).unwrap_or_default());
        File::open(path)?.take(LARGEST).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error: io::Error| StaticModelError::Unreadable {
        file: path.to_owned(),
        reason: error.to_string(),
    })
}

#[cfg(test)]
mod tests;
