//! Qdrant's REST API, as far as it is used (<https://api.qdrant.tech>).

use async_trait::async_trait;
use grov_agent::{AgentStoreError, ProjectId};
use grov_domain::Embedding;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::sync::Arc;

use crate::index_words::EntryKind;

/// Sends JSON to a Qdrant server. The program provides it, so that this crate makes no connections but to databases.
#[async_trait]
pub trait QdrantTransport: Debug + Send + Sync {
    /// Sends a request and returns the status and the body. The path begins with `/`.
    ///
    /// # Errors
    ///
    /// Why there is no answer, without the server's address.
    async fn send(&self, method: &'static str, path: &str, body: &Value) -> Result<(u16, Vec<u8>), String>;
}

/// A Qdrant server that keeps a copy of the embeddings.
#[derive(Clone, Debug)]
pub struct QdrantServer {
    /// Tells one server from another: the copy is made again when it changes. It is stored, so it must hold no key.
    pub address: String,
    /// How to reach it.
    pub transport: Arc<dyn QdrantTransport>,
}

/// An embedding as Qdrant keeps it. Its id is the number of its entry.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) entry: i64,
    pub(crate) embedding: Embedding,
    /// The model, the label, and the id of the chunk or item, for those who read the collection.
    pub(crate) payload: Value,
}

/// The collection of a project's chunks or items.
pub(crate) fn collection(project: ProjectId, kind: EntryKind) -> String {
    match kind {
        EntryKind::Chunk => format!("kb_{project}"),
        EntryKind::Item => format!("mem_{project}"),
    }
}

impl QdrantServer {
    /// Whether the server answers.
    pub(crate) async fn is_ok(&self) -> bool {
        let answer = self.transport.send("GET", "/", &Value::Null).await;
        matches!(answer, Ok((200, _)))
    }

    /// Creates a collection unless it is there with this dimension. Returns whether it is new, and therefore empty.
    pub(crate) async fn ensure(&self, name: &str, dimension: usize) -> Result<bool, AgentStoreError> {
        let path = format!("/collections/{name}");
        if let Some(found) = self.optional("GET", &path, &Value::Null).await? {
            if found["config"]["params"]["vectors"]["size"] == dimension {
                return Ok(false);
            }
            self.drop_collection(name).await?;
        }
        let new = json!({"vectors": {"size": dimension, "distance": "Cosine"}});
        self.required("PUT", &path, &new).await?;
        // Searches filter by these.
        for field in ["model", "label"] {
            let index = json!({"field_name": field, "field_schema": "keyword"});
            self.required("PUT", &format!("{path}/index?wait=true"), &index)
                .await?;
        }
        Ok(true)
    }

    /// Deletes a collection, if it is there.
    pub(crate) async fn drop_collection(&self, name: &str) -> Result<(), AgentStoreError> {
        let path = format!("/collections/{name}");
        self.optional("DELETE", &path, &Value::Null).await.map(drop)
    }

    /// Writes points; those with the same ids are replaced.
    pub(crate) async fn upsert(&self, name: &str, points: &[Point]) -> Result<(), AgentStoreError> {
        let points: Vec<Value> = points
            .iter()
            .map(|point| {
                json!({"id": point.entry, "vector": values(&point.embedding), "payload": point.payload})
            })
            .collect();
        let path = format!("/collections/{name}/points?wait=true");
        self.required("PUT", &path, &json!({ "points": points }))
            .await
            .map(drop)
    }

    /// Deletes points. A collection that is missing has none.
    pub(crate) async fn delete(&self, name: &str, entries: &[i64]) -> Result<(), AgentStoreError> {
        let path = format!("/collections/{name}/points/delete?wait=true");
        let points = json!({ "points": entries });
        self.optional("POST", &path, &points).await.map(drop)
    }

    /// Returns the number of points; 0 for a collection that is missing.
    pub(crate) async fn count(&self, name: &str) -> Result<u64, AgentStoreError> {
        let path = format!("/collections/{name}/points/count");
        let found = self.optional("POST", &path, &json!({"exact": true})).await?;
        Ok(found.map_or(0, |found| found["count"].as_u64().unwrap_or_default()))
    }

    /// Returns the entries nearest to an embedding with their similarities, nearest first. `labels` limits them if given.
    pub(crate) async fn nearest(
        &self,
        name: &str,
        embedding: &Embedding,
        model: &str,
        labels: Option<&Value>,
        limit: u32,
    ) -> Result<Vec<(i64, f64)>, AgentStoreError> {
        let mut must = vec![json!({"key": "model", "match": {"value": model}})];
        must.extend(labels.map(|labels| json!({"key": "label", "match": {"any": labels}})));
        let query = json!({"query": values(embedding), "limit": limit, "filter": {"must": must}});
        let path = format!("/collections/{name}/points/query");
        let Some(found) = self.optional("POST", &path, &query).await? else {
            return Ok(Vec::new());
        };
        let points = found["points"].as_array().map(Vec::as_slice).unwrap_or_default();
        let read = |point: &Value| Some((point["id"].as_i64()?, point["score"].as_f64()?));
        Ok(points.iter().filter_map(read).collect())
    }

    /// Sends a request whose object has to exist, and returns `result`.
    async fn required(
        &self,
        method: &'static str,
        path: &str,
        body: &Value,
    ) -> Result<Value, AgentStoreError> {
        let found = self.optional(method, path, body).await?;
        found.ok_or_else(|| {
            AgentStoreError::Unavailable("Qdrant: the collection was deleted meanwhile".to_owned())
        })
    }

    /// As [`QdrantServer::required`]; `None` if the object does not exist.
    async fn optional(
        &self,
        method: &'static str,
        path: &str,
        body: &Value,
    ) -> Result<Option<Value>, AgentStoreError> {
        let failed = |why: String| AgentStoreError::Unavailable(format!("Qdrant: {why}"));
        let (status, answer) = self.transport.send(method, path, body).await.map_err(failed)?;
        if status == 404 {
            return Ok(None);
        }
        let mut answer: Value = serde_json::from_slice(&answer).map_err(|_| {
            failed(format!(
                "the answer with status {status} is not JSON; check QDRANT_URL"
            ))
        })?;
        if !(200..300).contains(&status) {
            let why = answer["status"]["error"].as_str().unwrap_or_default();
            let why = grov_redact::beginning_of(why, 300);
            return Err(failed(match status {
                401 | 403 => format!("it refuses the key (status {status}); check QDRANT_API_KEY"),
                _ => format!("{method} was answered with status {status}: {why}"),
            }));
        }
        Ok(Some(answer["result"].take()))
    }
}

fn values(embedding: &Embedding) -> Vec<i8> {
    let bytes = embedding.to_bytes();
    bytes.into_iter().map(u8::cast_signed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Answers(u16, &'static str);

    #[async_trait]
    impl QdrantTransport for Answers {
        async fn send(&self, _: &'static str, _: &str, _: &Value) -> Result<(u16, Vec<u8>), String> {
            Ok((self.0, self.1.as_bytes().to_vec()))
        }
    }

    async fn counted(status: u16, body: &'static str) -> Result<u64, String> {
        let server = QdrantServer {
            address: "q".to_owned(),
            transport: Arc::new(Answers(status, body)),
        };
        server.count("kb_x").await.map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn answers_that_are_not_qdrants_are_clear_errors() {
        assert_eq!(counted(200, r#"{"result": {"count": 3}}"#).await, Ok(3));
        assert_eq!(counted(404, "{}").await, Ok(0));
        for (status, body, words) in [
            (200, "<html>", "check QDRANT_URL"),
            (401, "{}", "check QDRANT_API_KEY"),
            (500, r#"{"status": {"error": "out of disk"}}"#, "out of disk"),
        ] {
            let error = counted(status, body).await.unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
