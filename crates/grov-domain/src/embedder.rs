//! Meaning as numbers: the port to a model that embeds texts, and the port that keeps what it answered.
//!
//! Embeddings are an extra. Everything works without them, and nothing on the path of a request asks for one.

use crate::{StoreError, Task};
use async_trait::async_trait;
use grov_redact::Redacted;
use std::fmt;

/// The most texts that one call to an [`Embedder`] may hold.
pub const MAX_TEXTS: usize = 64;

/// Bytes of a text that a model is shown; of a longer one its beginning and its end. Small models take 512 tokens, and
/// servers refuse what is longer.
pub const MAX_TEXT_BYTES: usize = 1_500;

/// Where a text stands in a model's space: a direction, with one byte for each dimension.
///
/// Whole numbers from -127 to 127 are kept, the largest of them at the end of that range. The angle between two texts is
/// as good as with floating-point numbers, at a quarter of the size.
#[derive(Clone, PartialEq, Eq)]
pub struct Embedding(Vec<i8>);

impl Embedding {
    /// The direction of `values`; `None` where they have none: no values, none but zeros, one that is not finite.
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

    /// What [`Embedding::to_bytes`] gave; `None` where it has no direction.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes
            .iter()
            .any(|byte| *byte != 0)
            .then(|| Self(bytes.iter().map(|byte| byte.cast_signed()).collect()))
    }

    /// One byte for each dimension.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().map(|value| value.cast_unsigned()).collect()
    }

    /// How many dimensions the model's space has.
    pub fn dimension(&self) -> usize {
        self.0.len()
    }

    /// The cosine of the angle between two texts: 1 for the same direction. 0 for directions of different spaces, which
    /// have no angle.
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
        // Neither is zero: both have a direction.
        dot as f64 / ((own as f64).sqrt() * (its as f64).sqrt())
    }
}

impl fmt::Debug for Embedding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Embedding({} dimensions)", self.dimension())
    }
}

/// Why there are no embeddings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// Nobody is asked at present: no budget, no ledger, a provider that failed too often. The same call may succeed
    /// later.
    #[error("no embedding model is asked at present: {0}")]
    Paused(String),
    /// The provider was asked and did not answer. The same call may succeed later.
    #[error("no embeddings: {0}")]
    Failed(String),
    /// The provider refused these texts, and would again.
    #[error("no embeddings of these texts: {0}")]
    Refused(String),
}

/// A model that embeds texts. What is not redacted cannot be handed to it:
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
    /// The model's name, with all that its answers depend on. Embeddings of different names are not compared.
    fn model(&self) -> &str;
    /// One embedding for each text, in the same order and of the same dimension. At most [`MAX_TEXTS`] texts, of each
    /// of which [`MAX_TEXT_BYTES`] bytes are looked at.
    async fn embed(&self, texts: &[Redacted]) -> Result<Vec<Embedding>, EmbedError>;
    /// Waits a while until nothing is left to settle, before the process ends. Most have nothing to settle.
    async fn close(&self) {}
}

/// A memory that has no embedding of the model in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unembedded {
    /// The store's number of the memory.
    pub document: i64,
    /// The memory as it was read.
    pub task: Task,
}

/// How many memories have an embedding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingProgress {
    /// Memories.
    pub memories: u64,
    /// Of them looked at by the model: embedded, or found to be beyond it.
    pub done: u64,
}

/// Keeps the embeddings of memories: at most one for each, which goes when the memory's words change and with the memory.
#[async_trait]
pub trait EmbeddingStore: Send + Sync {
    /// Memories without an embedding of `model`, newest first; those that were indexed before `below` (the store's number
    /// of the last one seen).
    async fn unembedded(
        &self,
        model: &str,
        below: Option<i64>,
        limit: u32,
    ) -> Result<Vec<Unembedded>, StoreError>;
    /// Keeps what `model` made of memories, each in place of what another model did. `None`: the model cannot embed it,
    /// which is not tried again. Memories whose words are not those any more that were embedded are passed over.
    async fn keep_embeddings(
        &self,
        model: &str,
        embedded: &[(Task, Option<Embedding>)],
    ) -> Result<(), StoreError>;
    /// The embeddings that `model` made of these memories, by the store's numbers; in any order.
    async fn embeddings(&self, model: &str, documents: &[i64]) -> Result<Vec<(i64, Embedding)>, StoreError>;
    /// How far `model` is.
    async fn embedding_progress(&self, model: &str) -> Result<EmbeddingProgress, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedding(values: &[f32]) -> Embedding {
        Embedding::of(values).unwrap()
    }

    #[test]
    fn what_has_no_direction_is_no_embedding() {
        for values in [&[][..], &[0.0, -0.0], &[1.0, f32::NAN], &[f32::INFINITY, 0.0]] {
            assert_eq!(Embedding::of(values), None, "{values:?}");
        }
        assert_eq!(Embedding::from_bytes(&[]), None);
        assert_eq!(Embedding::from_bytes(&[0, 0]), None);
    }

    #[test]
    fn bytes_lead_back() {
        let one = embedding(&[0.25, -1.0, 0.0, 3e-9]);
        assert_eq!(one.to_bytes(), [32, 129, 0, 0]);
        assert_eq!(Embedding::from_bytes(&one.to_bytes()), Some(one));
    }

    #[test]
    fn length_does_not_count_and_direction_does() {
        let one = embedding(&[1.0, 2.0, 3.0]);
        assert!((one.similarity(&embedding(&[1e30, 2e30, 3e30])) - 1.0).abs() < 1e-9);
        assert!((one.similarity(&embedding(&[-1e-30, -2e-30, -3e-30])) + 1.0).abs() < 1e-9);
        assert!(embedding(&[1.0, 0.0]).similarity(&embedding(&[0.0, 1.0])).abs() < 1e-9);
        assert!(one.similarity(&embedding(&[1.0, 2.0])).abs() < f64::EPSILON);
    }

    #[test]
    fn rounding_keeps_the_angle() {
        // Two directions in a space of a usual size, without a random number.
        let wave = |step: f32| -> Vec<f32> { (0_u8..=255).map(|n| (f32::from(n) * step).sin()).collect() };
        let (one, other) = (wave(0.37), wave(0.372));
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
        let exact = dot(&one, &other) / (dot(&one, &one) * dot(&other, &other)).sqrt();
        let kept = embedding(&one).similarity(&embedding(&other));
        assert!((kept - exact).abs() < 0.005, "{kept} for {exact}");
    }
}
