//! Request and response bodies of embedding servers. A response must have one embedding per text, all of the same dimension.

use super::EmbedderProvider;
use crate::model::{ModelError, Reply};
use grov_domain::{Embedding, TokenUsage};
use serde::Deserialize;
use serde_json::{Value, json};

/// A parsed response.
#[derive(Debug)]
pub(super) struct Answer {
    /// One for each text, in order.
    pub(super) embeddings: Vec<Embedding>,
    /// Tokens used, if the server reports them.
    pub(super) usage: Option<TokenUsage>,
}

/// The request body.
pub(super) fn body(
    provider: EmbedderProvider,
    model: &str,
    dimensions: Option<usize>,
    texts: &[String],
) -> Value {
    let mut body = match provider {
        EmbedderProvider::OpenAi => json!({"model": model, "input": texts, "encoding_format": "float"}),
        EmbedderProvider::Ollama => json!({"model": model, "input": texts, "truncate": true}),
    };
    if let Some(dimensions) = dimensions {
        body["dimensions"] = json!(dimensions);
    }
    body
}

#[derive(Deserialize)]
struct OpenAiAnswer {
    data: Vec<Item>,
    usage: Option<OpenAiUsage>,
}

#[derive(Deserialize)]
struct Item {
    /// The index of its text. Servers that omit it keep the order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct OpenAiUsage {
    prompt_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct OllamaAnswer {
    embeddings: Vec<Vec<f32>>,
    prompt_eval_count: Option<u64>,
}

/// Parses the response to a request with `texts` texts.
pub(super) fn read(provider: EmbedderProvider, reply: &Reply, texts: usize) -> Result<Answer, ModelError> {
    let (vectors, tokens) = match provider {
        EmbedderProvider::OpenAi => {
            let answer: OpenAiAnswer = reply.read()?;
            let tokens = answer.usage.and_then(|usage| usage.prompt_tokens);
            (in_order(answer.data, texts)?, tokens)
        }
        EmbedderProvider::Ollama => {
            let answer: OllamaAnswer = reply.read()?;
            (answer.embeddings, answer.prompt_eval_count)
        }
    };
    let usage = tokens.map(|input| TokenUsage {
        input,
        ..TokenUsage::default()
    });
    Ok(Answer {
        embeddings: checked(&vectors, texts)?,
        usage,
    })
}

/// The vectors in the order of the texts.
fn in_order(items: Vec<Item>, texts: usize) -> Result<Vec<Vec<f32>>, ModelError> {
    let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); texts];
    if items.len() != texts {
        return Err(ModelError::Broken(format!(
            "{texts} texts have {} embeddings",
            items.len()
        )));
    }
    for (place, item) in items.into_iter().enumerate() {
        let index = item.index.unwrap_or(place);
        match vectors.get_mut(index) {
            Some(vector) if vector.is_empty() => *vector = item.embedding,
            Some(_) => return Err(ModelError::Broken(format!("text {index} has two embeddings"))),
            None => {
                return Err(ModelError::Broken(format!(
                    "there is an embedding of text {index}, of {texts}"
                )));
            }
        }
    }
    Ok(vectors)
}

fn checked(vectors: &[Vec<f32>], texts: usize) -> Result<Vec<Embedding>, ModelError> {
    if vectors.len() != texts {
        return Err(ModelError::Broken(format!(
            "{texts} texts have {} embeddings",
            vectors.len()
        )));
    }
    let dimension = vectors.first().map_or(0, Vec::len);
    let check = |(index, vector): (usize, &Vec<f32>)| {
        if vector.len() != dimension {
            let found = vector.len();
            return Err(ModelError::Broken(format!(
                "text 0 has {dimension} dimensions and text {index} has {found}"
            )));
        }
        Embedding::of(vector).ok_or_else(|| {
            ModelError::Broken(format!(
                "the embedding of text {index} has no direction: it is empty, zero or not finite"
            ))
        })
    };
    vectors.iter().enumerate().map(check).collect()
}
