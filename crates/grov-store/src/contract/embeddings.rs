//! Embeddings of memories.

use super::sample::{PROJECT, task};
use grov_domain::{
    Embedding, EmbeddingProgress, MemoryScope, MemoryStore, Redacted, Store, Task, TaskId, TaskStatus,
    Unembedded,
};
use std::sync::Arc;

const MODEL: &str = "ollama/all-minilm";

fn embedding(values: &[f32]) -> Embedding {
    Embedding::of(values).unwrap()
}

async fn todo(store: &dyn Store, model: &str) -> Vec<Unembedded> {
    store.unembedded(model, None, 100).await.unwrap()
}

fn ids(unembedded: &[Unembedded]) -> Vec<&str> {
    unembedded.iter().map(|memory| memory.task.id.as_str()).collect()
}

async fn progress(store: &dyn Store, model: &str) -> (u64, u64) {
    let EmbeddingProgress { memories, done } = store.embedding_progress(model).await.unwrap();
    (memories, done)
}

/// Embeds all remaining memories with the same embedding.
async fn embed_all(store: &dyn Store, model: &str, values: &[f32]) {
    let of = |memory: Unembedded| (memory.task, Some(embedding(values)));
    let embedded: Vec<(Task, Option<Embedding>)> = todo(store, model).await.into_iter().map(of).collect();
    store.keep_embeddings(model, &embedded).await.unwrap();
}

/// All embeddings of a model, sorted by the number of the memory.
async fn kept(store: &dyn Store, model: &str) -> Vec<(i64, Embedding)> {
    let scope = MemoryScope {
        project_path: PROJECT.to_owned(),
        project_remote: None,
    };
    let documents = store.newest(&scope, None, 100).await.unwrap();
    let mut found = store.embeddings(model, &documents).await.unwrap();
    found.sort_by_key(|(document, _)| *document);
    found
}

/// Memories without an embedding are returned newest first in portions. Embeddings are loaded as saved.
pub async fn embeddings_are_loaded_as_saved(store: Arc<dyn Store>) {
    let store = store.as_ref();
    assert_eq!(progress(store, MODEL).await, (0, 0));
    for (number, id) in (1..).zip(["a", "b", "c"]) {
        store.save_task(&Redacted::of(&task(id, number))).await.unwrap();
    }
    let all = todo(store, MODEL).await;
    assert_eq!(ids(&all), ["c", "b", "a"]);
    assert_eq!(all[2].task, store.task(&TaskId::new("a")).await.unwrap().unwrap());
    let first = store.unembedded(MODEL, None, 2).await.unwrap();
    assert_eq!(first, all[..2]);
    let rest = store.unembedded(MODEL, Some(first[1].document), 2).await.unwrap();
    assert_eq!(rest, all[2..]);

    let embedded = [
        (all[0].task.clone(), Some(embedding(&[1.0, -0.5]))),
        (all[1].task.clone(), None),
    ];
    store.keep_embeddings(MODEL, &embedded).await.unwrap();
    store.keep_embeddings(MODEL, &embedded).await.unwrap();
    assert_eq!(
        ids(&todo(store, MODEL).await),
        ["a"],
        "what is beyond the model is not tried again"
    );
    assert_eq!(progress(store, MODEL).await, (3, 2));
    assert_eq!(
        kept(store, MODEL).await,
        [(all[0].document, embedding(&[1.0, -0.5]))]
    );
    assert_eq!(store.embeddings(MODEL, &[]).await.unwrap(), []);
    store.keep_embeddings(MODEL, &[]).await.unwrap();
}

/// Embeddings of another model, or with another dimension under the same name, replace the previous ones.
pub async fn another_model_embeds_all_memories(store: Arc<dyn Store>) {
    let store = store.as_ref();
    store
        .import(&Redacted::each(&[task("a", 1), task("b", 2)]))
        .await
        .unwrap();
    embed_all(store, MODEL, &[1.0, 2.0]).await;
    assert_eq!(progress(store, "other").await, (2, 0));
    assert_eq!(kept(store, "other").await, []);
    let half: Vec<(Task, Option<Embedding>)> = todo(store, "other")
        .await
        .into_iter()
        .take(1)
        .map(|memory| (memory.task, Some(embedding(&[3.0]))))
        .collect();
    store.keep_embeddings("other", &half).await.unwrap();
    assert_eq!(
        (progress(store, MODEL).await, progress(store, "other").await),
        ((2, 1), (2, 1))
    );
    assert_eq!(kept(store, MODEL).await.len(), 1, "the rest is of use until then");
    embed_all(store, "other", &[3.0]).await;
    assert_eq!(kept(store, MODEL).await, []);
    assert_eq!(progress(store, "other").await, (2, 2));

    let one = store.task(&TaskId::new("a")).await.unwrap().unwrap();
    store
        .keep_embeddings("other", &[(one, Some(embedding(&[1.0, 1.0, 1.0])))])
        .await
        .unwrap();
    assert_eq!(progress(store, "other").await, (2, 1));
    assert_eq!(ids(&todo(store, "other").await), ["b"]);
}

/// An embedding is deleted when the text of its memory changes, and kept when other fields change.
pub async fn embedding_is_deleted_when_the_text_changes(store: Arc<dyn Store>) {
    let store = store.as_ref();
    let before = task("a", 1);
    store
        .import(&Redacted::each(&[before.clone(), task("b", 2)]))
        .await
        .unwrap();
    embed_all(store, MODEL, &[1.0]).await;
    let saved_again = Task {
        status: TaskStatus::Abandoned,
        linked_commit: Some("0123abc".to_owned()),
        ..before.clone()
    };
    store
        .import(&Redacted::each(&[before.clone(), saved_again.clone()]))
        .await
        .unwrap();
    assert!(
        store
            .supersede(&TaskId::new("a"), Some(&TaskId::new("b")))
            .await
            .unwrap()
    );
    assert_eq!(todo(store, MODEL).await, []);
    let read_before = store.task(&TaskId::new("a")).await.unwrap().unwrap();

    let reworded = Task {
        goal: None,
        ..saved_again
    };
    store.save_task(&Redacted::of(&reworded)).await.unwrap();
    assert_eq!(ids(&todo(store, MODEL).await), ["a"]);
    assert_eq!(progress(store, MODEL).await, (2, 1));
    // An embedding of the old text that arrives late is ignored.
    store
        .keep_embeddings(MODEL, &[(read_before, Some(embedding(&[1.0])))])
        .await
        .unwrap();
    assert_eq!(ids(&todo(store, MODEL).await), ["a"]);
    embed_all(store, MODEL, &[1.0]).await;
    assert_eq!(progress(store, MODEL).await, (2, 2));
}

/// An embedding is deleted with its memory, and none is saved for a deleted memory.
pub async fn embedding_is_forgotten_with_its_memory(store: Arc<dyn Store>) {
    let store = store.as_ref();
    store
        .import(&Redacted::each(&[task("gone", 1), task("kept", 2)]))
        .await
        .unwrap();
    embed_all(store, MODEL, &[1.0]).await;
    let gone = store.task(&TaskId::new("gone")).await.unwrap().unwrap();
    MemoryStore::forget(store, &[TaskId::new("gone")]).await.unwrap();
    assert_eq!(progress(store, MODEL).await, (1, 1));
    assert_eq!(kept(store, MODEL).await.len(), 1);
    store
        .keep_embeddings(MODEL, &[(gone, Some(embedding(&[1.0])))])
        .await
        .unwrap();
    assert_eq!(progress(store, MODEL).await, (1, 1));
}
