//! Text embeddings: the port to a model that creates them, and the port that stores them.
//!
//! Embeddings are optional. No request waits for one.

use crate::{StoreError, Task};
use async_trait::async_trait;
use grov_redact::Redacted;
use std::fmt;

/// Maximum number of texts in one call to an [`Embedder`].
pub const MAX_TEXTS: usize = 64;

/// Maximum bytes of a text that a model receives. A longer text is shortened to its beginning and end, because small
/// models take 512 tokens and servers refuse longer inputs.
pub const MAX_TEXT_BYTES: usize = 1_500;

/// An embedding vector, quantized to one byte per dimension.
///
/// The values are scaled so that the largest magnitude is 127. Angles between vectors are about as exact as with
/// floating-point numbers, at a quarter of the size.
#[derive(Clone, PartialEq, Eq)]
pub struct Embedding(Vec<i8>);

impl Embedding {
    /// Quantizes a vector. Returns `None` if it is empty, all zeros, or has a value that is not finite.
    pub fn of(values: &[f32]) -> Option<Self> {
        let largest = values
            .iter()
            .fold(0.0_f32, |largest, value| largest.max(value.abs()));
        if largest <= 0.0 || !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        // Rounded and within the range of the type.
        let small = |value: &f32| (value / largest * 127.0).round() as i8;
        Some(Self(values.iter().map(small).collect()))
    }

    /// Restores an embedding from the bytes of [`Embedding::to_bytes`]. Returns `None` if it is empty or all zeros.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes
            .iter()
            .any(|byte| *byte != 0)
            .then(|| Self(bytes.iter().map(|byte| byte.cast_signed()).collect()))
    }

    /// Returns one byte per dimension.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().map(|value| value.cast_unsigned()).collect()
    }

    /// Returns the number of dimensions.
    pub fn dimension(&self) -> usize {
        self.0.len()
    }

    /// Returns the cosine of the angle between two embeddings, -1 to 1; 0 if their dimensions differ.
    pub fn similarity(&self, other: &Self) -> f64 {
        if self.dimension() != other.dimension() {
            return 0.0;
        }
        let (mut dot, mut own, mut its) = (0_i64, 0_i64, 0_i64);
        for (one, other) in self.0.iter().zip(&other.0) {
            let (one, other) = (i32::from(*one), i32::from(*other));
            dot += i64::from(one * other);
            own += i64::from(one * one);
            its += i64::from(other * other);
        }
        // No embedding is all zeros.
        dot as f64 / ((own as f64).sqrt() * (its as f64).sqrt())
    }
}

impl fmt::Debug for Embedding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Embedding({} dimensions)", self.dimension())
    }
}

/// An error of an [`Embedder`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The model is not called at present: the budget is spent, the ledger is unavailable, or the provider failed too
    /// often. The same call may succeed later.
    #[error("calls to the embedding model are paused: {0}")]
    Paused(String),
    /// The call failed. It may succeed later.
    #[error("no embeddings: {0}")]
    Failed(String),
    /// The provider refused these texts. The same call would fail again.
    #[error("no embeddings of these texts: {0}")]
    Refused(String),
}

/// A model that embeds texts. It takes redacted texts only:
///
/// ```compile_fail,E0308
/// # use grov_domain::{EmbedError, Embedder, Embedding};
/// async fn embed(embedder: &dyn Embedder, text: String) -> Result<Vec<Embedding>, EmbedError> {
///     embedder.embed(&[text]).await
/// }
/// ```
///
/// ```
/// # use grov_domain::{EmbedError, Embedder, Embedding, Redacted};
/// async fn embed(embedder: &dyn Embedder, text: String) -> Result<Vec<Embedding>, EmbedError> {
///     embedder.embed(&[Redacted::of(&text)]).await
/// }
/// ```
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Returns the name of the model, including everything that its results depend on. Embeddings of models with different
    /// names cannot be compared.
    fn model(&self) -> &str;
    /// Returns one embedding per text, in the same order and of the same dimension. Takes at most [`MAX_TEXTS`] texts and
    /// uses at most [`MAX_TEXT_BYTES`] bytes of each.
    ///
    /// # Errors
    ///
    /// Returns an [`EmbedError`] if the model was not called, failed, or refused the texts.
    async fn embed(&self, texts: &[Redacted]) -> Result<Vec<Embedding>, EmbedError>;
    /// Waits until running calls are recorded in the spending ledger. Call it before the process ends.
    async fn close(&self) {}
}

/// A memory without an embedding of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unembedded {
    /// The number of the memory in the store.
    pub document: i64,
    /// The memory.
    pub task: Task,
}

/// The number of memories with an embedding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingProgress {
    /// Number of memories.
    pub memories: u64,
    /// Number of memories that were embedded or that the model cannot embed.
    pub done: u64,
}

/// Stores at most one embedding per memory. It is deleted when the memory is deleted or its text changes.
#[async_trait]
pub trait EmbeddingStore: Send + Sync {
    /// Returns at most `limit` memories without an embedding of `model`, newest first. With `below`, only those with a
    /// lower number: pass the last number seen to continue.
    async fn unembedded(
        &self,
        model: &str,
        below: Option<i64>,
        limit: u32,
    ) -> Result<Vec<Unembedded>, StoreError>;
    /// Stores embeddings of `model`, replacing those of other models. `None` records that the model cannot embed the
    /// memory. Memories whose text changed in the meantime are skipped.
    async fn keep_embeddings(
        &self,
        model: &str,
        embedded: &[(Task, Option<Embedding>)],
    ) -> Result<(), StoreError>;
    /// Returns the embeddings of these memories by `model`, with their numbers, in any order.
    async fn embeddings(&self, model: &str, documents: &[i64]) -> Result<Vec<(i64, Embedding)>, StoreError>;
    /// Returns the progress of `model`.
    async fn embedding_progress(&self, model: &str) -> Result<EmbeddingProgress, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedding(values: &[f32]) -> Embedding {
        Embedding::of(values).unwrap()
    }

    #[test]
    fn vectors_without_a_direction_are_rejected() {
        for values in [&[][..], &[0.0, -0.0], &[1.0, f32::NAN], &[f32::INFINITY, 0.0]] {
            assert_eq!(Embedding::of(values), None, "{values:?}");
        }
        assert_eq!(Embedding::from_bytes(&[]), None);
        assert_eq!(Embedding::from_bytes(&[0, 0]), None);
    }

    #[test]
    fn bytes_round_trip() {
        let one = embedding(&[0.25, -1.0, 0.0, 3e-9]);
        assert_eq!(one.to_bytes(), [32, 129, 0, 0]);
        assert_eq!(Embedding::from_bytes(&one.to_bytes()), Some(one));
    }

    #[test]
    fn similarity_depends_on_the_direction_alone() {
        let one = embedding(&[1.0, 2.0, 3.0]);
        assert!((one.similarity(&embedding(&[1e30, 2e30, 3e30])) - 1.0).abs() < 1e-9);
        assert!((one.similarity(&embedding(&[-1e-30, -2e-30, -3e-30])) + 1.0).abs() < 1e-9);
        assert!(embedding(&[1.0, 0.0]).similarity(&embedding(&[0.0, 1.0])).abs() < 1e-9);
        assert!(one.similarity(&embedding(&[1.0, 2.0])).abs() < f64::EPSILON);
    }

    #[test]
    fn quantizing_preserves_the_angle() {
        // Two vectors of a usual dimension, without random numbers.
        let wave = |step: f32| -> Vec<f32> { (0_u8..=255).map(|n| (f32::from(n) * step).sin()).collect() };
        let (one, other) = (wave(0.37), wave(0.372));
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
        let exact = dot(&one, &other) / (dot(&one, &one) * dot(&other, &other)).sqrt();
        let kept = embedding(&one).similarity(&embedding(&other));
        assert!((kept - exact).abs() < 0.005, "{kept} for {exact}");
    }
}
