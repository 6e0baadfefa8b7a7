//! Embeddings from hashes of words: for tests, which need no model to see that near texts are found.

use crate::quote;
use async_trait::async_trait;
use grov_domain::{EmbedError, Embedder, Embedding, MAX_TEXT_BYTES, MAX_TEXTS, Redacted};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Dimensions that a word changes.
const DIMENSIONS_OF_A_WORD: u64 = 8;

/// Version of the computation, part of the model's id.
const VERSION: u32 = 1;

/// Computes embeddings from the hashes of a text's words. Texts that share words are near each other; it knows no meaning.
#[derive(Clone, Debug)]
pub struct HashEmbedder {
    id: String,
    dimension: usize,
}

impl HashEmbedder {
    /// An embedder of this dimension, at least one.
    pub fn new(dimension: usize) -> Self {
        let dimension = dimension.max(1);
        Self {
            id: format!("mock/{VERSION}/{dimension}"),
            dimension,
        }
    }

    /// The vector of a text. A text without words has the same as any other such text.
    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0_f32; self.dimension];
        let lower = text.to_lowercase();
        let words = lower
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty());
        for word in words {
            self.add(word, &mut vector);
        }
        // Words may cancel each other out.
        if vector.iter().all(|value| *value == 0.0) {
            vector[0] = 1.0;
        }
        vector
    }

    fn add(&self, word: &str, vector: &mut [f32]) {
        for seed in 0..DIMENSIONS_OF_A_WORD {
            let hash = xxh3_64_with_seed(word.as_bytes(), seed);
            let sign = if hash & 1 == 0 { 1.0 } else { -1.0 };
            // The remainder is below a length in memory.
            let place = ((hash >> 1) % self.dimension as u64) as usize;
            if let Some(value) = vector.get_mut(place) {
                *value += sign;
            }
        }
    }
}

#[async_trait]
impl Embedder for HashEmbedder {
    fn model(&self) -> &str {
        &self.id
    }

    async fn embed(&self, texts: &[Redacted]) -> Result<Vec<Embedding>, EmbedError> {
        if texts.len() > MAX_TEXTS {
            let refusal = format!("{} are more than {MAX_TEXTS}", texts.len());
            return Err(EmbedError::Refused(refusal));
        }
        let embed = |text: &Redacted| {
            let vector = self.vector(&quote::line(text, MAX_TEXT_BYTES));
            Embedding::of(&vector).ok_or_else(|| EmbedError::Refused("it has no direction".to_owned()))
        };
        texts.iter().map(embed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn of(texts: &[&str]) -> Vec<Embedding> {
        let texts: Vec<Redacted> = texts
            .iter()
            .map(|text| Redacted::of(&(*text).to_owned()))
            .collect();
        HashEmbedder::new(384).embed(&texts).await.unwrap()
    }

    #[tokio::test]
    async fn texts_that_share_words_are_near() {
        let found = of(&[
            "Deploy on Tuesdays only",
            "we deploy ON tuesdays",
            "The cat sleeps",
            "",
            "?",
        ])
        .await;
        assert!(found.iter().all(|embedding| embedding.dimension() == 384));
        let near = found[0].similarity(&found[1]);
        let far = found[0].similarity(&found[2]);
        assert!(near > 0.5 && far < 0.2, "{near} {far}");
        assert_eq!(found[3], found[4]);
        assert_eq!(
            found,
            of(&[
                "deploy on tuesdays only",
                "We deploy on Tuesdays!",
                "the cat sleeps",
                "",
                "-"
            ])
            .await
        );
    }
}
