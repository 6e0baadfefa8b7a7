//! Documents and their chunks.

use super::Store;
use super::sample::{self, NOW, direction, document, page, scope};
use grov_agent::{
    AgentStoreError, Category, Chunk, ChunkId, DocumentId, Embeddable, KeyId, NewDocument, Page, ProjectId,
    SearchBy, SearchFilter, StoredDocument,
};
use std::collections::BTreeSet;
use time::Duration;

const GUIDE: [(&[&str], &str); 3] = [
    (&["Guide"], "Read this first."),
    (&["Guide", "Opening hours"], "The shop opens at nine."),
    (&["Guide", "Returns"], "Goods can be returned for a month."),
];

async fn chunks(store: &Store, project: ProjectId, id: DocumentId) -> Vec<Chunk> {
    store.chunks(project, id, &page(100)).await.unwrap().items
}

fn ids(chunks: &[Chunk]) -> Vec<ChunkId> {
    chunks.iter().map(|chunk| chunk.id).collect()
}

/// See the name.
pub async fn a_document_and_its_chunks_are_stored(store: Store) {
    let project = sample::project(&*store).await;
    let new = document(project, "guide.md", Category::Facts, &GUIDE);
    let stored = store.store_document(&new).await.unwrap();
    assert!(!stored.unchanged);
    assert_eq!(stored.kept, 0);
    let id = stored.document.id;
    assert_eq!(stored.document.version, 1);
    assert_eq!(stored.document.chunks, 3);
    assert_eq!(
        store.document(project, id).await.unwrap(),
        Some(stored.document.clone())
    );
    assert_eq!(
        store.documents(project, &page(10)).await.unwrap().items,
        [stored.document]
    );
    let chunks = chunks(&store, project, id).await;
    for ((ordinal, chunk), new) in (0..).zip(&chunks).zip(&new.chunks) {
        assert_eq!((chunk.ordinal, chunk.document_id), (ordinal, id));
        assert_eq!(chunk.text, *new.text);
        assert_eq!(chunk.range, new.range);
        assert!(
            chunk
                .heading_path
                .iter()
                .eq(new.heading_path.iter().map(|heading| &**heading))
        );
    }
    assert!(store.is_content_used(&new.sha256).await.unwrap());
    assert!(!store.is_content_used("other").await.unwrap());
}

/// See the name.
pub async fn a_new_version_keeps_unchanged_chunks_and_their_embeddings(store: Store) {
    let project = sample::project(&*store).await;
    let first = document(project, "guide.md", Category::Facts, &GUIDE);
    let before = store.store_document(&first).await.unwrap().document;
    let old = chunks(&store, project, before.id).await;
    store.use_model("m", 4).await.unwrap();
    let embeddings: Vec<_> = (0_u8..)
        .zip(&old)
        .map(|(number, chunk)| {
            (
                Embeddable::Chunk(chunk.id),
                Some(direction(f32::from(number) * 30.0, 4)),
            )
        })
        .collect();
    store.store_embeddings("m", &embeddings).await.unwrap();

    let mut second = document(
        project,
        "guide.md",
        Category::Facts,
        &[
            (&["Guide", "Returns"], "Goods can be returned for a month."),
            (&["Guide"], "Read this first."),
            (&["Guide", "Opening hours"], "The shop opens at ten."),
        ],
    );
    second.now = NOW + Duration::hours(1);
    let stored = store.store_document(&second).await.unwrap();
    assert_eq!((stored.kept, stored.unchanged), (2, false));
    assert_eq!(stored.document.id, before.id);
    assert_eq!(stored.document.version, 2);
    assert_eq!(stored.document.created_at, before.created_at);
    assert_eq!(stored.document.updated_at, second.now);
    let new = chunks(&store, project, before.id).await;
    assert_eq!(new.len(), 3);
    assert_eq!((new[0].id, new[1].id), (old[2].id, old[0].id));
    assert_ne!(new[2].id, old[1].id);
    assert_eq!(new[0].range.start, 0, "places are those of the new version");
    let missing = store.unembedded("m", 10).await.unwrap();
    assert_eq!(missing.len(), 1);
    assert_eq!(missing[0].0, Embeddable::Chunk(new[2].id));
    assert!(!store.is_content_used(&first.sha256).await.unwrap());

    let filter = SearchFilter::default();
    let words = ["nine".to_owned()];
    let found = store
        .find_chunks(&SearchBy::Words(&words), &scope(project, &filter))
        .await
        .unwrap();
    assert_eq!(found, [], "words of the old version are not found");
}

/// See the name.
pub async fn equal_chunks_are_kept_one_by_one(store: Store) {
    let project = sample::project(&*store).await;
    let twice: [(&[&str], &str); 3] = [(&[], "Same."), (&[], "Same."), (&[], "Other.")];
    let first = document(project, "a", Category::Facts, &twice);
    let id = store.store_document(&first).await.unwrap().document.id;
    let old = ids(&chunks(&store, project, id).await);
    assert_eq!(old.iter().collect::<BTreeSet<_>>().len(), 3);
    let second = document(project, "a", Category::Facts, &[(&[], "Same."), (&[], "Same.")]);
    assert_eq!(store.store_document(&second).await.unwrap().kept, 2);
    assert_eq!(ids(&chunks(&store, project, id).await), old[..2]);
}

/// See the name.
pub async fn the_same_content_is_not_written_again(store: Store) {
    let project = sample::project(&*store).await;
    let mut new = document(project, "guide.md", Category::Facts, &GUIDE);
    let first = store.store_document(&new).await.unwrap().document;
    new.now += Duration::hours(1);
    let again = store.store_document(&new).await.unwrap();
    assert!(again.unchanged);
    assert_eq!(again.kept, 3);
    assert_eq!(again.document, first);
}

/// See the name.
pub async fn another_category_is_a_new_version(store: Store) {
    let project = sample::project(&*store).await;
    let mut new = document(project, "guide.md", Category::Facts, &GUIDE);
    let first = store.store_document(&new).await.unwrap().document;
    store.use_model("m", 4).await.unwrap();
    let chunk = chunks(&store, project, first.id).await[1].id;
    let embedding = direction(10.0, 4);
    store
        .store_embeddings("m", &[(Embeddable::Chunk(chunk), Some(embedding.clone()))])
        .await
        .unwrap();
    new.category = Category::Rules;
    let stored = store.store_document(&new).await.unwrap();
    assert_eq!((stored.kept, stored.document.version), (3, 2));
    assert_eq!(stored.document.category, Category::Rules);
    let words = ["nine".to_owned()];
    for (category, expected) in [(Category::Rules, 1), (Category::Facts, 0)] {
        let filter = SearchFilter {
            categories: vec![category],
            ..SearchFilter::default()
        };
        let by_vector = SearchBy::Vector {
            model: "m",
            embedding: &embedding,
        };
        for by in [SearchBy::Words(&words), by_vector] {
            let found = store.find_chunks(&by, &scope(project, &filter)).await.unwrap();
            assert_eq!(found.len(), expected, "{category} {by:?}");
            assert!(found.iter().all(|found| found.category == category));
        }
    }
}

/// See the name.
pub async fn concurrent_uploads_of_a_title_are_consecutive_versions(store: Store) {
    let project = sample::project(&*store).await;
    let versions: Vec<NewDocument> = (0..6)
        .map(|number| {
            let text = format!("Version {number}.");
            document(project, "a", Category::State, &[(&[], "Stays."), (&[], &text)])
        })
        .collect();
    let uploads: Vec<_> = versions.iter().map(|new| store.store_document(new)).collect();
    let mut stored: Vec<u32> = futures_util::future::join_all(uploads)
        .await
        .into_iter()
        .map(|stored| stored.unwrap().document.version)
        .collect();
    stored.sort_unstable();
    assert_eq!(stored, [1, 2, 3, 4, 5, 6]);
    let documents = store.documents(project, &page(10)).await.unwrap().items;
    assert_eq!(documents.len(), 1);
    assert_eq!(chunks(&store, project, documents[0].id).await.len(), 2);
}

/// See the name.
pub async fn documents_of_another_project_are_not_found(store: Store) {
    let (mine, other) = (sample::project(&*store).await, sample::project(&*store).await);
    let new = document(mine, "guide.md", Category::Facts, &GUIDE);
    let id = store.store_document(&new).await.unwrap().document.id;
    assert_eq!(store.document(other, id).await.unwrap(), None);
    assert_eq!(chunks(&store, other, id).await, []);
    assert!(!store.delete_document(other, id).await.unwrap());
    assert_eq!(store.documents(other, &page(5)).await.unwrap().items, []);
    assert!(store.document(mine, id).await.unwrap().is_some());
}

/// See the name.
pub async fn chunks_are_listed_in_order(store: Store) {
    let project = sample::project(&*store).await;
    let texts: Vec<String> = (0..700).map(|number| format!("Chunk {number}.")).collect();
    let parts: Vec<(&[&str], &str)> = texts.iter().map(|text| (&[] as &[&str], text.as_str())).collect();
    let new = document(project, "long", Category::Facts, &parts);
    let id = store.store_document(&new).await.unwrap().document.id;
    let mut seen = Vec::new();
    let mut page = page(199);
    loop {
        let listed = store.chunks(project, id, &page).await.unwrap();
        seen.extend(listed.items.into_iter().map(|chunk| chunk.text));
        match listed.next {
            Some(next) => page.after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, texts);
    let wrong = Page {
        limit: 1,
        after: Some("x".to_owned()),
    };
    assert!(store.chunks(project, id, &wrong).await.is_err());
}

/// See the name.
pub async fn a_deleted_document_is_not_found_by_anything(store: Store) {
    let project = sample::project(&*store).await;
    let new = document(project, "guide.md", Category::Facts, &GUIDE);
    let id = store.store_document(&new).await.unwrap().document.id;
    store.use_model("m", 4).await.unwrap();
    let embedding = direction(0.0, 4);
    for chunk in chunks(&store, project, id).await {
        let embedded = [(Embeddable::Chunk(chunk.id), Some(embedding.clone()))];
        store.store_embeddings("m", &embedded).await.unwrap();
    }
    assert!(store.delete_document(project, id).await.unwrap());
    assert_eq!(store.document(project, id).await.unwrap(), None);
    assert_eq!(chunks(&store, project, id).await, []);
    let filter = SearchFilter::default();
    let words = ["shop".to_owned(), "guide".to_owned()];
    let by_vector = SearchBy::Vector {
        model: "m",
        embedding: &embedding,
    };
    for by in [SearchBy::Words(&words), by_vector] {
        let found = store.find_chunks(&by, &scope(project, &filter)).await.unwrap();
        assert_eq!(found, []);
    }
    let share = store.embedded_share("m").await.unwrap();
    assert_eq!((share.total, share.done), (0, 0));
    assert!(!store.is_content_used(&new.sha256).await.unwrap());
}

/// See the name.
pub async fn a_document_of_a_missing_project_is_refused(store: Store) {
    let new = document(ProjectId::fresh(), "guide.md", Category::Facts, &GUIDE);
    let stored = store.store_document(&new).await;
    assert!(matches!(stored, Err(AgentStoreError::NotFound(_))), "{stored:?}");
}

/// See the name. No index has to take it.
pub async fn a_long_title_is_refused(store: Store) {
    let project = sample::project(&*store).await;
    let new = document(project, &"title ".repeat(1_000), Category::Facts, &GUIDE);
    let stored = store.store_document(&new).await;
    assert!(matches!(stored, Err(AgentStoreError::Conflict(_))), "{stored:?}");
}

/// See the name.
pub async fn an_upload_keeps_its_answer_in_its_own_transaction(store: Store) {
    let project = sample::project(&*store).await;
    let owner = KeyId::fresh();
    let answer = sample::replay(owner, "upload");
    let replay = |_: &StoredDocument| Some(answer.clone());
    let first = document(project, "plan.md", Category::Facts, &[(&[][..], "One.")]);
    store.store_document_once(&first, &replay).await.unwrap();
    let kept = store.replay(owner, &answer.key, NOW).await.unwrap();
    assert_eq!(kept.unwrap().body, answer.body);
    // The key was used: the second upload is not stored.
    let second = document(project, "plan.md", Category::Facts, &[(&[][..], "Two.")]);
    let stored = store.store_document_once(&second, &replay).await;
    assert!(matches!(stored, Err(AgentStoreError::Conflict(_))), "{stored:?}");
    let listed = store.documents(project, &page(10)).await.unwrap();
    assert_eq!((listed.items.len(), listed.items[0].version), (1, 1));
}
