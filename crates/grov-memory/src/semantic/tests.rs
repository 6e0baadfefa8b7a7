use super::*;
use crate::tests::{Shelf, memory, query};
use async_trait::async_trait;
use grov_domain::{EmbeddingProgress, Redacted, Task, Unembedded};
use std::sync::Mutex;

const MODEL: &str = "toy";

/// A model in which some words have the same meaning.
fn meaning(text: &str) -> Embedding {
    const WORDS: [&[&str]; 3] = [
        &["car", "automobile", "vehicle"],
        &["paint", "colour"],
        &["repair", "fix"],
    ];
    let count = |same: &&[&str]| text.split(' ').filter(|word| same.contains(word)).count();
    let mut values: Vec<f32> = WORDS.iter().map(|same| count(same) as f32).collect();
    // A text without known words has a zero embedding.
    values.push(0.1);
    Embedding::of(&values).unwrap()
}

#[async_trait]
impl EmbeddingStore for Shelf {
    async fn unembedded(&self, _: &str, _: Option<i64>, _: u32) -> Result<Vec<Unembedded>, StoreError> {
        Ok(Vec::new())
    }

    async fn keep_embeddings(&self, _: &str, _: &[(Task, Option<Embedding>)]) -> Result<(), StoreError> {
        Ok(())
    }

    async fn embeddings(&self, model: &str, documents: &[i64]) -> Result<Vec<(i64, Embedding)>, StoreError> {
        let of = |document: &i64| {
            let memory = &self.0[usize::try_from(*document).unwrap()];
            (*document, meaning(&memory.text))
        };
        Ok(documents.iter().filter(|_| model == MODEL).map(of).collect())
    }

    async fn embedding_progress(&self, model: &str) -> Result<EmbeddingProgress, StoreError> {
        let memories = self.0.len() as u64;
        let done = if model == MODEL { memories } else { 0 };
        Ok(EmbeddingProgress { memories, done })
    }
}

struct Toy {
    model: &'static str,
    error: Option<EmbedError>,
    asked: Mutex<Vec<String>>,
}

impl Toy {
    fn new(model: &'static str, error: Option<EmbedError>) -> Self {
        Self {
            model,
            error,
            asked: Mutex::default(),
        }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Embedder for Toy {
    fn model(&self) -> &str {
        self.model
    }

    async fn embed(&self, texts: &[Redacted]) -> Result<Vec<Embedding>, EmbedError> {
        self.asked
            .lock()
            .unwrap()
            .extend(texts.iter().map(ToString::to_string));
        match &self.error {
            Some(error) => Err(error.clone()),
            None => Ok(texts.iter().map(|text| meaning(text)).collect()),
        }
    }
}

/// The first two are equal by words but not by meaning. The third has the same meaning but no common word.
fn shelf() -> Shelf {
    Shelf(vec![
        memory("near", 100_000, "old automobile repair", &[]),
        memory("far", 200_000, "old bread repair", &[]),
        memory("wordless", 300_000, "vehicle fix", &[]),
    ])
}

fn asked(shelf: &Shelf, toy: &Toy, text: &str) -> SemanticSearch {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(semantic_search(shelf, toy, &query(text), &Ranking::default()))
        .unwrap()
}

fn ids(found: &[Found]) -> Vec<&str> {
    found.iter().map(|found| found.task_id.as_str()).collect()
}

#[test]
fn memories_with_the_same_meaning_come_first() {
    let toy = Toy::new(MODEL, None);
    let answer = asked(&shelf(), &toy, "car repair");
    assert_eq!(ids(&answer.found), ["near", "far"]);
    assert_eq!(answer.error, None);
    let dense = |found: &Found| {
        found
            .shares
            .iter()
            .find(|share| share.signal == Signal::Dense)
            .map(|share| share.value)
    };
    let (near, far) = (dense(&answer.found[0]).unwrap(), dense(&answer.found[1]).unwrap());
    assert!(near > 0.9 && far < near, "{near} and {far}");
    for found in &answer.found {
        let sum: f64 = found.shares.iter().map(|share| share.value).sum();
        assert!((sum - found.score).abs() < 1e-9);
    }
    assert_eq!(toy.asked(), ["car repair"], "the question alone, once");
}

#[test]
fn low_similarity_adds_no_score() {
    let answer = asked(&shelf(), &Toy::new(MODEL, None), "old colour");
    let shares = answer.found.iter().flat_map(|found| &found.shares);
    assert_eq!(shares.filter(|share| share.signal == Signal::Dense).count(), 0);
    assert_eq!(answer.found.len(), 2);
}

#[test]
fn without_the_model_words_decide() {
    let shelf = shelf();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let words = runtime
        .block_on(search(&shelf, &query("car repair"), &Ranking::default()))
        .unwrap();
    let error = EmbedError::Paused("no budget".to_owned());
    let failing = Toy::new(MODEL, Some(error.clone()));
    let answer = asked(&shelf, &failing, "car repair");
    assert_eq!((answer.found, answer.error), (words.clone(), Some(error)));

    // Without embeddings to compare with, the model is not called.
    let new = Toy::new("new", None);
    assert_eq!(asked(&shelf, &new, "car repair").found, words);
    assert_eq!(asked(&shelf, &Toy::new(MODEL, None), " ").found, []);
    assert!(new.asked().is_empty());
}
