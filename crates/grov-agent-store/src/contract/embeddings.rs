//! Embeddings and search by them.

use super::Store;
use super::sample::{self, NOW, direction, document, item, page, scope, stored_item};
use grov_agent::{
    AgentStoreError, Category, ChunkId, DocumentStatus, Embeddable, EmbeddedShare, MemoryChange,
    MemoryItemId, MemoryStatus, MemoryType, ProjectId, SearchBy, SearchFilter, SearchScope,
};
use grov_domain::Embedding;
use grov_redact::Redacted;
use std::collections::HashMap;

const TEXTS: [&str; 4] = ["East.", "Nearly east.", "North.", "West."];
const DEGREES: [f32; 4] = [0.0, 20.0, 90.0, 180.0];

/// Stores a document whose chunks point in four directions. Returns the ids of its chunks.
async fn compass(store: &Store, project: ProjectId, model: &str, dimension: usize) -> Vec<ChunkId> {
    let parts: Vec<(&[&str], &str)> = TEXTS.iter().map(|text| (&[] as &[&str], *text)).collect();
    let new = document(project, "compass", Category::Facts, &parts);
    let id = store.store_document(&new).await.unwrap().document.id;
    let chunks = store.chunks(project, id, &page(10)).await.unwrap().items;
    store.use_model(model, dimension).await.unwrap();
    let embeddings: Vec<_> = chunks
        .iter()
        .zip(DEGREES)
        .map(|(chunk, degrees)| (Embeddable::Chunk(chunk.id), Some(direction(degrees, dimension))))
        .collect();
    store.store_embeddings(model, &embeddings).await.unwrap();
    chunks.into_iter().map(|chunk| chunk.id).collect()
}

async fn nearest(
    store: &Store,
    project: ProjectId,
    model: &str,
    embedding: &Embedding,
    limit: u32,
) -> Vec<(String, f64)> {
    let filter = SearchFilter::default();
    let scope = SearchScope {
        limit,
        ..scope(project, &filter)
    };
    let found = store
        .find_chunks(&SearchBy::Vector { model, embedding }, &scope)
        .await
        .unwrap();
    found.into_iter().map(|found| (found.text, found.score)).collect()
}

/// See the name.
pub async fn the_nearest_vectors_are_found(store: Store) {
    let project = sample::project(&*store).await;
    compass(&store, project, "m", 8).await;
    let elsewhere = sample::project(&*store).await;
    compass(&store, elsewhere, "m", 8).await;
    let question = direction(5.0, 8);
    let found = nearest(&store, project, "m", &question, 3).await;
    let texts: Vec<&str> = found.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts, ["East.", "Nearly east.", "North."]);
    for ((_, score), degrees) in found.iter().zip(DEGREES) {
        let exact = question.similarity(&direction(degrees, 8));
        assert!((score - exact).abs() < 0.005, "{score} {exact}");
    }
    let accepted = item(project, MemoryType::Fact, MemoryStatus::Accepted, "East.");
    let proposed = item(project, MemoryType::Fact, MemoryStatus::Proposed, "East.");
    for item in [&accepted, &proposed] {
        stored_item(&*store, item).await;
        let embedding = [(Embeddable::Item(item.id), Some(direction(0.0, 8)))];
        store.store_embeddings("m", &embedding).await.unwrap();
    }
    let filter = SearchFilter::default();
    let by = SearchBy::Vector {
        model: "m",
        embedding: &question,
    };
    let items = store.find_items(&by, &scope(project, &filter)).await.unwrap();
    assert_eq!(items.len(), 1);
    assert_eq!(items[0].item.id, accepted.id);
    assert_eq!(nearest(&store, project, "other", &question, 3).await, []);
    assert_eq!(nearest(&store, project, "m", &direction(5.0, 16), 3).await, []);
}

/// See the name.
pub async fn both_models_are_searched_until_the_old_one_is_dropped(store: Store) {
    let project = sample::project(&*store).await;
    let chunks = compass(&store, project, "old", 8).await;
    store.use_model("new", 16).await.unwrap();
    let first = [(Embeddable::Chunk(chunks[2]), Some(direction(90.0, 16)))];
    store.store_embeddings("new", &first).await.unwrap();
    let models = store.models().await.unwrap();
    assert_eq!(models, [("old".to_owned(), 8), ("new".to_owned(), 16)]);
    assert_eq!(
        nearest(&store, project, "old", &direction(0.0, 8), 9).await.len(),
        4
    );
    let found = nearest(&store, project, "new", &direction(0.0, 16), 9).await;
    assert_eq!(found.len(), 1);
    let share = store.embedded_share("new").await.unwrap();
    assert_eq!(share, EmbeddedShare { total: 4, done: 1 });
    store.drop_other_models("new").await.unwrap();
    assert_eq!(store.models().await.unwrap(), [("new".to_owned(), 16)]);
    assert_eq!(nearest(&store, project, "old", &direction(0.0, 8), 9).await, []);
    assert_eq!(
        nearest(&store, project, "new", &direction(0.0, 16), 9)
            .await
            .len(),
        1
    );
}

/// See the name.
pub async fn unembedded_texts_are_listed_until_they_are_embedded(store: Store) {
    let project = sample::project(&*store).await;
    let parts: [(&[&str], &str); 2] = [(&["guide.md", "Hours"], "Nine."), (&["guide.md"], "Ten.")];
    store
        .store_document(&document(project, "guide.md", Category::Facts, &parts))
        .await
        .unwrap();
    stored_item(
        &*store,
        &item(project, MemoryType::Fact, MemoryStatus::Accepted, "A fact."),
    )
    .await;
    assert_eq!(
        store.unembedded("m", 10).await.unwrap(),
        [],
        "the model is not in use"
    );
    store.use_model("m", 4).await.unwrap();
    let mut seen: HashMap<Embeddable, String> = HashMap::new();
    loop {
        let some = store.unembedded("m", 2).await.unwrap();
        assert!(some.len() <= 2);
        if some.is_empty() {
            break;
        }
        assert_eq!(
            store.unembedded("m", 2).await.unwrap(),
            some,
            "until they are stored"
        );
        // Every second one cannot be embedded.
        let mut embeddings = Vec::new();
        for (what, text) in some {
            let embedding = seen.len().is_multiple_of(2).then(|| direction(0.0, 4));
            seen.insert(what, text.into_inner());
            embeddings.push((what, embedding));
        }
        store.store_embeddings("m", &embeddings).await.unwrap();
        assert!(seen.len() < 10, "the list ends");
    }
    let mut texts: Vec<&str> = seen.values().map(String::as_str).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["A fact.", "guide.md\nTen.", "guide.md › Hours\nNine."]);
    let share = store.embedded_share("m").await.unwrap();
    assert_eq!(share, EmbeddedShare { total: 3, done: 3 });
    // What comes later is found again.
    stored_item(
        &*store,
        &item(project, MemoryType::Fact, MemoryStatus::Accepted, "Later."),
    )
    .await;
    assert_eq!(store.unembedded("m", 2).await.unwrap().len(), 1);
}

/// See the name.
pub async fn an_embedding_of_another_dimension_is_refused(store: Store) {
    let project = sample::project(&*store).await;
    let chunks = compass(&store, project, "m", 8).await;
    let wrong = [
        (Embeddable::Chunk(chunks[0]), Some(direction(180.0, 8))),
        (Embeddable::Chunk(chunks[1]), Some(direction(0.0, 16))),
    ];
    let refused = store.store_embeddings("m", &wrong).await;
    assert!(
        matches!(refused, Err(AgentStoreError::Conflict(_))),
        "{refused:?}"
    );
    let found = nearest(&store, project, "m", &direction(0.0, 8), 1).await;
    assert_eq!(found[0].0, "East.", "nothing of the call was stored");
    let unknown = store.store_embeddings("x", &wrong).await;
    assert!(
        matches!(unknown, Err(AgentStoreError::NotFound(_))),
        "{unknown:?}"
    );
}

/// See the name.
pub async fn an_embedding_of_something_deleted_is_skipped(store: Store) {
    let project = sample::project(&*store).await;
    let chunks = compass(&store, project, "m", 8).await;
    let embeddings = [
        (Embeddable::Chunk(ChunkId::fresh()), Some(direction(0.0, 8))),
        (Embeddable::Item(MemoryItemId::fresh()), Some(direction(0.0, 8))),
        (Embeddable::Chunk(chunks[3]), Some(direction(1.0, 8))),
    ];
    store.store_embeddings("m", &embeddings).await.unwrap();
    let share = store.embedded_share("m").await.unwrap();
    assert_eq!(share, EmbeddedShare { total: 4, done: 4 });
}

/// See the name. The embedding is that of the old words.
pub async fn an_embedding_of_an_edited_item_is_skipped(store: Store) {
    let project = sample::project(&*store).await;
    let fact = item(project, MemoryType::Fact, MemoryStatus::Accepted, "Old words.");
    stored_item(&*store, &fact).await;
    store.use_model("m", 4).await.unwrap();
    let (what, _) = store.unembedded("m", 5).await.unwrap().remove(0);
    let edit = MemoryChange::Edit {
        content: Some("New words.".to_owned()),
        expires_at: None,
    };
    store
        .change_item(project, fact.id, &Redacted::of(&edit), &sample::text("anna"), NOW)
        .await
        .unwrap();
    let embedding = Some(direction(0.0, 4));
    store
        .store_embeddings("m", &[(what, embedding.clone())])
        .await
        .unwrap();
    let again = store.unembedded("m", 5).await.unwrap();
    assert_eq!(again.len(), 1);
    assert_eq!((again[0].0, again[0].1.as_str()), (what, "New words."));
    store.store_embeddings("m", &[(what, embedding)]).await.unwrap();
    assert_eq!(store.unembedded("m", 5).await.unwrap(), []);
}

/// See the name.
pub async fn a_document_is_ready_when_it_is_embedded(store: Store) {
    let project = sample::project(&*store).await;
    let new = document(project, "a", Category::Facts, &[(&[], "One."), (&[], "Two.")]);
    let stored = store.store_document(&new).await.unwrap().document;
    assert_eq!(stored.status, DocumentStatus::Ready, "no model is in use");
    store.use_model("m", 4).await.unwrap();
    for expected in [DocumentStatus::Embedding, DocumentStatus::Embedding] {
        let now = store.document(project, stored.id).await.unwrap().unwrap();
        assert_eq!(now.status, expected);
        let (what, _) = store.unembedded("m", 1).await.unwrap().remove(0);
        store.store_embeddings("m", &[(what, None)]).await.unwrap();
    }
    let now = store.documents(project, &page(5)).await.unwrap().items.remove(0);
    assert_eq!(now.status, DocumentStatus::Ready);
    store.use_model("n", 4).await.unwrap();
    let now = store.document(project, stored.id).await.unwrap().unwrap();
    assert_eq!(now.status, DocumentStatus::Embedding);
}

/// See the name.
pub async fn a_model_with_another_dimension_starts_again(store: Store) {
    let project = sample::project(&*store).await;
    compass(&store, project, "m", 8).await;
    let (first, second) = tokio::join!(store.use_model("m", 16), store.use_model("m", 16));
    first.unwrap();
    second.unwrap();
    assert_eq!(store.models().await.unwrap(), []);
    assert_eq!(store.unembedded("m", 10).await.unwrap().len(), 4);
    assert_eq!(nearest(&store, project, "m", &direction(0.0, 8), 1).await, []);
}

/// See the name.
pub async fn deleting_a_project_deletes_everything(store: Store) {
    let (project, other) = (sample::project(&*store).await, sample::project(&*store).await);
    compass(&store, project, "m", 8).await;
    compass(&store, other, "m", 8).await;
    let (fact, call) = sample::stored_proposal(&*store, project, "The compass points north.").await;
    let mut turn = sample::turn(project);
    turn.events.push(sample::event(project, "{}"));
    store.store_turn(&turn).await.unwrap();
    assert!(store.delete_project(project).await.unwrap());
    assert_eq!(store.thread(turn.thread).await.unwrap(), None);
    assert_eq!(store.item(project, fact.id).await.unwrap(), None);
    assert_eq!(store.tool_call(call.id, NOW).await.unwrap(), None);
    assert_eq!(store.documents(project, &page(5)).await.unwrap().items, []);
    assert_eq!(nearest(&store, project, "m", &direction(0.0, 8), 5).await, []);
    assert_eq!(nearest(&store, other, "m", &direction(0.0, 8), 5).await.len(), 4);
    let share = store.embedded_share("m").await.unwrap();
    assert_eq!(share, EmbeddedShare { total: 4, done: 4 });
    let lease = std::time::Duration::from_secs(1);
    assert_eq!(store.take_events(5, lease, NOW).await.unwrap(), []);
}
